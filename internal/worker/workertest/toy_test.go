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

// The toy cloud is a stable: machines are horses, and those of one pool may share a paddock.

type paddock struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Owner string `json:"owner"`
}

type stable struct {
	server *httptest.Server

	mutex    sync.Mutex
	serial   int
	paddocks map[string]paddock
}

func newStable(shoot workertest.Identity) *stable {
	s := &stable{paddocks: map[string]paddock{
		"a": {ID: "a", Name: shoot.TechnicalID + "-cart", Owner: "somebody else"},
		"b": {ID: "b", Name: shoot.TechnicalID + "-2-cart", Owner: "another shoot"},
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /paddocks", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(s.all()) })
	mux.HandleFunc("POST /paddocks", func(w http.ResponseWriter, r *http.Request) {
		var made paddock
		_ = json.NewDecoder(r.Body).Decode(&made)
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.serial++
		made.ID = strconv.Itoa(s.serial)
		s.paddocks[made.ID] = made
		_ = json.NewEncoder(w).Encode(made)
	})
	mux.HandleFunc("DELETE /paddocks/{id}", func(_ http.ResponseWriter, r *http.Request) {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		delete(s.paddocks, r.PathValue("id"))
	})
	s.server = httptest.NewServer(mux)
	return s
}

func (s *stable) all() []paddock {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := make([]paddock, 0, len(s.paddocks))
	for _, p := range s.paddocks {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b paddock) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// stableCloud is a stable for the suite.
type stableCloud struct {
	*stable
	changed func(groom) worker.Driver
	// zones are those of the second pool.
	zones []string
}

func (c stableCloud) Inputs() workertest.Inputs {
	pool := func(name string, config string, zones ...string) extensionsv1alpha1.WorkerPool {
		return extensionsv1alpha1.WorkerPool{
			Name: name, MachineType: "cob", Zones: zones,
			MachineImage:   extensionsv1alpha1.MachineImage{Name: "saddle", Version: "1.0.0"},
			ProviderConfig: &runtime.RawExtension{Raw: []byte(config)},
		}
	}
	return workertest.Inputs{
		Former: func(pool *extensionsv1alpha1.WorkerPool) {
			pool.ProviderConfig.Raw = []byte(`{"paddock":true,"bells":true}`)
		},
		Credentials: map[string][]byte{"key": []byte("under the mat")},
		Pools:       []extensionsv1alpha1.WorkerPool{pool("plough", `{"paddock":true}`, "meadow"), pool("cart", `{"paddock":true}`, c.zones...)},
	}
}

func (c stableCloud) NewDriver(transport contracttest.Transport) (worker.Driver, error) {
	g := groom{url: c.server.URL, http: &http.Client{Transport: transport(http.DefaultTransport)}}
	if c.changed != nil {
		return c.changed(g), nil
	}
	return g, nil
}

func (c stableCloud) Resources() ([]workertest.Resource, error) {
	var all []workertest.Resource
	for _, p := range c.all() {
		all = append(all, workertest.Resource{Kind: "paddock", ID: p.ID, Name: p.Name, Facts: p.Owner})
	}
	return all, nil
}

func (c stableCloud) Close() error {
	c.server.Close()
	return nil
}

func stableSubject(changed func(groom) worker.Driver, zones ...string) workertest.Subject {
	return workertest.Subject{
		Type: "stable",
		NewCloud: func(shoot workertest.Identity) (workertest.Cloud, error) {
			return stableCloud{stable: newStable(shoot), changed: changed, zones: zones}, nil
		},
		Refusals: func(contracttest.Call) []contracttest.Refusal {
			return []contracttest.Refusal{{Error: "503", Lost: true, Answer: func(r *http.Request) *http.Response {
				return contracttest.JSONResponse(r, http.StatusServiceUnavailable, 0, nil)
			}}}
		},
		Want: map[string]int{"paddock": 2},
	}
}

// groom is the driver.
type groom struct {
	url  string
	http *http.Client
}

var _ worker.Driver = groom{}

// groomStatus is what it records: the paddocks by pool.
type groomStatus struct {
	metav1.TypeMeta `json:",inline"`
	Paddocks        map[string]string `json:"paddocks,omitempty"`
}

func (s *groomStatus) DeepCopyObject() runtime.Object { copied := *s; return &copied }

func (g groom) Validate(*worker.Shoot) field.ErrorList { return nil }

func (g groom) Prepare(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
	owned, err := g.owned(ctx, shoot)
	if err != nil {
		return nil, err
	}
	status := newGroomStatus()
	for _, pool := range shoot.Worker.Spec.Pools {
		name := shoot.TechnicalID + "-" + pool.Name
		at := slices.IndexFunc(owned, func(p paddock) bool { return p.Name == name })
		if at >= 0 {
			status.Paddocks[pool.Name] = owned[at].ID
			continue
		}
		var made paddock
		if err := g.do(ctx, http.MethodPost, "/paddocks", paddock{Name: name, Owner: shoot.UID}, &made); err != nil {
			return nil, fmt.Errorf("creating paddock: %w", err)
		}
		status.Paddocks[pool.Name] = made.ID
	}
	return status, nil
}

func newGroomStatus() *groomStatus {
	return &groomStatus{
		TypeMeta: metav1.TypeMeta{APIVersion: "stable.example.org/v1", Kind: "GroomStatus"}, Paddocks: map[string]string{},
	}
}

func (g groom) Machines(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*worker.Machines, error) {
	known, _ := status.(*groomStatus)
	if known == nil {
		known = newGroomStatus()
		if recorded, ok := status.(*runtime.Unknown); ok {
			if err := json.Unmarshal(recorded.Raw, known); err != nil {
				return nil, err
			}
		}
	}
	machines := g.horses(shoot, pool, known.Paddocks[pool.Name], false)
	if strings.Contains(string(pool.ProviderConfig.Raw), "bells") {
		former := worker.Former{Machines: *machines, Remark: "the horses of pool " + pool.Name + " get bells when they are replaced"}
		machines = g.horses(shoot, pool, known.Paddocks[pool.Name], true)
		machines.Former = &former
	}
	return machines, nil
}

func (g groom) horses(shoot *worker.Shoot, pool *extensionsv1alpha1.WorkerPool, paddock string, bells bool) *worker.Machines {
	machines := &worker.Machines{HashData: []string{paddock}}
	if bells {
		machines.HashData = append(machines.HashData, "bells")
	}
	for _, zone := range pool.Zones {
		machines.Classes = append(machines.Classes, worker.Class{
			Provider: "Stable",
			ProviderSpec: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "stable.example.org/v1", "kind": "Horse", "zone": zone, "paddock": paddock, "owner": shoot.UID, "bells": bells,
			}},
		})
	}
	return machines
}

func (g groom) Tidy(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
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
		if err := g.do(ctx, http.MethodDelete, "/paddocks/"+p.ID, nil, nil); err != nil {
			return nil, fmt.Errorf("deleting paddock: %w", err)
		}
	}
	return status, nil
}

func (g groom) owned(ctx context.Context, shoot *worker.Shoot) ([]paddock, error) {
	var all []paddock
	if err := g.do(ctx, http.MethodGet, "/paddocks", nil, &all); err != nil {
		return nil, fmt.Errorf("listing paddocks: %w", err)
	}
	return slices.DeleteFunc(all, func(p paddock) bool {
		return p.Owner != shoot.UID || !strings.HasPrefix(p.Name, shoot.TechnicalID+"-")
	}), nil
}

func (g groom) do(ctx context.Context, method, path string, body, answer any) error {
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
		return cloud.Errorf(cloud.Unavailable, "%s %s answered %s", method, path, response.Status)
	}
	content, err := io.ReadAll(response.Body)
	if err != nil || answer == nil {
		return err
	}
	return json.Unmarshal(content, answer)
}
