package workertest_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/workertest"
)

// The example cloud has one resource besides machines: a group, which the machines of a pool may share.

type exampleGroup struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Owner string `json:"owner"`
}

type exampleAPI struct {
	server *httptest.Server

	mutex  sync.Mutex
	serial int
	groups map[string]exampleGroup
}

func newExampleAPI(shoot workertest.Identity) *exampleAPI {
	s := &exampleAPI{groups: map[string]exampleGroup{
		"a": {ID: "a", Name: shoot.TechnicalID + "-second", Owner: "somebody else"},
		"b": {ID: "b", Name: shoot.TechnicalID + "-2-second", Owner: "another shoot"},
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /groups", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(s.all()) })
	mux.HandleFunc("POST /groups", func(w http.ResponseWriter, r *http.Request) {
		var made exampleGroup
		_ = json.NewDecoder(r.Body).Decode(&made)
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.serial++
		made.ID = strconv.Itoa(s.serial)
		s.groups[made.ID] = made
		_ = json.NewEncoder(w).Encode(made)
	})
	mux.HandleFunc("DELETE /groups/{id}", func(_ http.ResponseWriter, r *http.Request) {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		delete(s.groups, r.PathValue("id"))
	})
	s.server = httptest.NewServer(mux)
	return s
}

func (s *exampleAPI) all() []exampleGroup {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := make([]exampleGroup, 0, len(s.groups))
	for _, p := range s.groups {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b exampleGroup) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// exampleCloud is the cloud of the suite.
type exampleCloud struct {
	*exampleAPI
	changed func(exampleDriver) worker.Driver
	// zones are those of the second pool.
	zones []string
}

func (c exampleCloud) Inputs() workertest.Inputs {
	pool := func(name string, config string, zones ...string) extensionsv1alpha1.WorkerPool {
		return extensionsv1alpha1.WorkerPool{
			Name: name, MachineType: "small", Zones: zones,
			MachineImage:   extensionsv1alpha1.MachineImage{Name: "linux", Version: "1.0.0"},
			ProviderConfig: &runtime.RawExtension{Raw: []byte(config)},
		}
	}
	return workertest.Inputs{
		IgnoredByUpstream: func(pool *extensionsv1alpha1.WorkerPool) {
			pool.ProviderConfig.Raw = []byte(`{"group":true,"ignored":true}`)
		},
		Credentials: map[string][]byte{"key": []byte("secret")},
		Pools:       []extensionsv1alpha1.WorkerPool{pool("first", `{"group":true}`, "zone-a"), pool("second", `{"group":true}`, c.zones...)},
	}
}

func (c exampleCloud) NewDriver(transport contracttest.Transport) (worker.Driver, error) {
	g := exampleDriver{url: c.server.URL, http: &http.Client{Transport: transport(http.DefaultTransport)}}
	if c.changed != nil {
		return c.changed(g), nil
	}
	return g, nil
}

func (c exampleCloud) Resources() ([]workertest.Resource, error) {
	var all []workertest.Resource
	for _, p := range c.all() {
		all = append(all, workertest.Resource{Kind: "group", ID: p.ID, Name: p.Name, Facts: p.Owner})
	}
	return all, nil
}

func (c exampleCloud) Close() error {
	c.server.Close()
	return nil
}

func exampleSubject(changed func(exampleDriver) worker.Driver, zones ...string) workertest.Subject {
	return workertest.Subject{
		Type: "example",
		NewCloud: func(shoot workertest.Identity) (workertest.Cloud, error) {
			return exampleCloud{exampleAPI: newExampleAPI(shoot), changed: changed, zones: zones}, nil
		},
		ErrorResponses: func(contracttest.Call) []contracttest.ErrorResponse {
			return []contracttest.ErrorResponse{{Error: "503", AfterEffect: true, Response: func(r *http.Request) *http.Response {
				return contracttest.JSONResponse(r, http.StatusServiceUnavailable, 0, nil)
			}}}
		},
		Want: map[string]int{"group": 2},
	}
}

// exampleDriver is the driver.
type exampleDriver struct {
	url  string
	http *http.Client
}

var _ worker.Driver = exampleDriver{}

// exampleStatus is what it records: the groups by pool.
type exampleStatus struct {
	metav1.TypeMeta `json:",inline"`
	Groups          map[string]string `json:"groups,omitempty"`
}

func (s *exampleStatus) DeepCopyObject() runtime.Object { copied := *s; return &copied }

func (g exampleDriver) Validate(*worker.Shoot) field.ErrorList { return nil }

func (g exampleDriver) Prepare(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
	owned, err := g.owned(ctx, shoot)
	if err != nil {
		return nil, err
	}
	status := newExampleStatus()
	for _, pool := range shoot.Worker.Spec.Pools {
		name := shoot.TechnicalID + "-" + pool.Name
		at := slices.IndexFunc(owned, func(p exampleGroup) bool { return p.Name == name })
		if at >= 0 {
			status.Groups[pool.Name] = owned[at].ID
			continue
		}
		var made exampleGroup
		if err := g.do(ctx, http.MethodPost, "/groups", exampleGroup{Name: name, Owner: shoot.UID}, &made); err != nil {
			return nil, fmt.Errorf("creating group: %w", err)
		}
		status.Groups[pool.Name] = made.ID
	}
	return status, nil
}

func newExampleStatus() *exampleStatus {
	return &exampleStatus{
		TypeMeta: metav1.TypeMeta{APIVersion: "example.org/v1", Kind: "ExampleStatus"}, Groups: map[string]string{},
	}
}

func (g exampleDriver) Machines(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*worker.Machines, error) {
	known, _ := status.(*exampleStatus)
	if known == nil {
		known = newExampleStatus()
		if recorded, ok := status.(*runtime.Unknown); ok {
			if err := json.Unmarshal(recorded.Raw, known); err != nil {
				return nil, err
			}
		}
	}
	machines := g.machinesFor(shoot, pool, known.Groups[pool.Name], false)
	if strings.Contains(string(pool.ProviderConfig.Raw), "ignored") {
		upstream := worker.UpstreamMachines{Machines: *machines, Message: "the machines of pool " + pool.Name + " get the feature when they are replaced"}
		machines = g.machinesFor(shoot, pool, known.Groups[pool.Name], true)
		machines.UpstreamMachines = &upstream
	}
	return machines, nil
}

func (g exampleDriver) machinesFor(shoot *worker.Shoot, pool *extensionsv1alpha1.WorkerPool, group string, feature bool) *worker.Machines {
	machines := &worker.Machines{HashData: []string{group}}
	if feature {
		machines.HashData = append(machines.HashData, "ignored")
	}
	for _, zone := range pool.Zones {
		machines.Classes = append(machines.Classes, worker.Class{
			Provider: "Example",
			ProviderSpec: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.org/v1", "kind": "ExampleMachineClass", "zone": zone, "group": group, "owner": shoot.UID, "ignored": feature,
			}},
		})
	}
	return machines
}

func (g exampleDriver) Cleanup(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
	owned, err := g.owned(ctx, shoot)
	if err != nil {
		return nil, err
	}
	for _, p := range owned {
		wanted := slices.ContainsFunc(shoot.Worker.Spec.Pools, func(pool extensionsv1alpha1.WorkerPool) bool {
			return p.Name == shoot.TechnicalID+"-"+pool.Name
		})
		if wanted && !shoot.Deleting {
			continue
		}
		if err := g.do(ctx, http.MethodDelete, "/groups/"+p.ID, nil, nil); err != nil {
			return nil, fmt.Errorf("deleting group: %w", err)
		}
	}
	return status, nil
}

func (g exampleDriver) owned(ctx context.Context, shoot *worker.Shoot) ([]exampleGroup, error) {
	var all []exampleGroup
	if err := g.do(ctx, http.MethodGet, "/groups", nil, &all); err != nil {
		return nil, fmt.Errorf("listing groups: %w", err)
	}
	return slices.DeleteFunc(all, func(p exampleGroup) bool {
		return p.Owner != shoot.UID || !strings.HasPrefix(p.Name, shoot.TechnicalID+"-")
	}), nil
}

func (g exampleDriver) do(ctx context.Context, method, path string, body, result any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, g.url+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	response, err := g.http.Do(request)
	if err != nil {
		return cloud.Errorf(cloud.Unavailable, "%w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return cloud.Errorf(cloud.Unavailable, "%s %s returned %s", method, path, response.Status)
	}
	content, err := io.ReadAll(response.Body)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(content, result)
}
