package infrastructuretest_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
)

// exampleResource is a network or a subnet of the example cloud. Both have an owner from their creation on, as with the tags of AWS.
type exampleResource struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Owner   string `json:"owner"`
	Network string `json:"network,omitempty"` // of a subnet
	CIDR    string `json:"cidr,omitempty"`    // of a subnet
}

// exampleAPI is the API of the example cloud.
type exampleAPI struct {
	server *httptest.Server

	mutex     sync.Mutex
	serial    int
	resources map[string][]exampleResource // by collection
}

// newExampleAPI returns a cloud with resources of others that look like the shoot's.
func newExampleAPI(shoot infrastructuretest.Identity) *exampleAPI {
	a := &exampleAPI{resources: map[string][]exampleResource{
		"networks": {
			{ID: "a", Name: shoot.TechnicalID, Owner: "somebody else"},
			{ID: "b", Name: shoot.TechnicalID + "-2", Owner: "another shoot"},
		},
		"subnets": {
			{ID: "c", Name: shoot.TechnicalID, Owner: "somebody else", Network: "a", CIDR: "10.250.0.0/16"},
			{ID: "d", Name: shoot.TechnicalID + "-2", Owner: "another shoot", Network: "b", CIDR: "10.250.0.0/16"},
		},
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{collection}", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(a.list(r.PathValue("collection")))
	})
	mux.HandleFunc("POST /{collection}", a.create)
	mux.HandleFunc("DELETE /{collection}/{id}", a.delete)
	a.server = httptest.NewServer(mux)
	return a
}

func (a *exampleAPI) list(collection string) []exampleResource {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return slices.Clone(a.resources[collection])
}

func (a *exampleAPI) create(w http.ResponseWriter, r *http.Request) {
	var created exampleResource
	if err := json.NewDecoder(r.Body).Decode(&created); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.serial++
	created.ID = strconv.Itoa(a.serial)
	collection := r.PathValue("collection")
	a.resources[collection] = append(a.resources[collection], created)
	w.WriteHeader(http.StatusCreated)
	if err := json.NewEncoder(w).Encode(created); err != nil {
		panic(err) // the connection is closed without a response
	}
}

// delete refuses to delete a network with a subnet.
func (a *exampleAPI) delete(w http.ResponseWriter, r *http.Request) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	collection, id := r.PathValue("collection"), r.PathValue("id")
	if collection == "networks" && slices.ContainsFunc(a.resources["subnets"], func(s exampleResource) bool { return s.Network == id }) {
		w.WriteHeader(http.StatusConflict)
		return
	}
	before := len(a.resources[collection])
	a.resources[collection] = slices.DeleteFunc(a.resources[collection], func(r exampleResource) bool { return r.ID == id })
	if len(a.resources[collection]) == before {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// exampleCloud is the cloud of the suite.
type exampleCloud struct {
	*exampleAPI
	changed func(exampleDriver) infrastructure.Driver
}

func (c exampleCloud) Inputs() infrastructuretest.Inputs {
	document := func(kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.org/v1", "kind": kind}}
	}
	return infrastructuretest.Inputs{
		InfrastructureConfig: document("InfrastructureConfig"), CloudProfileConfig: document("CloudProfileConfig"),
		Credentials: map[string][]byte{"key": []byte("secret")},
	}
}

func (c exampleCloud) NewDriver(transport contracttest.Transport) (infrastructure.Driver, error) {
	driver := newExampleDriver(c.server.URL, transport)
	if c.changed != nil {
		return c.changed(driver), nil
	}
	return driver, nil
}

func (c exampleCloud) Resources() ([]infrastructuretest.Resource, error) {
	var all []infrastructuretest.Resource
	for _, network := range c.list("networks") {
		all = append(all, infrastructuretest.Resource{Kind: "network", ID: network.ID, Name: network.Name, Facts: network.Owner})
	}
	for _, subnet := range c.list("subnets") {
		all = append(all, infrastructuretest.Resource{Kind: "subnet", ID: subnet.ID, Name: subnet.Name, Facts: subnet.Owner + " " + subnet.CIDR})
	}
	slices.SortFunc(all, func(a, b infrastructuretest.Resource) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

func (c exampleCloud) Close() error {
	c.server.Close()
	return nil
}
