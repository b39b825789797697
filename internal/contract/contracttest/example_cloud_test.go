package contracttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
)

var shared Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// thing is the only kind of resource of the example cloud.
type thing struct{ ID, Name, Mark string }

// exampleCloud is a cloud that can create, list and delete things.
type exampleCloud struct {
	server *httptest.Server

	mu     sync.Mutex
	nextID int
	things map[string]thing
}

func newExampleCloud() *exampleCloud {
	c := &exampleCloud{things: map[string]thing{"0": {ID: "0", Name: "one", Mark: "somebody else"}}, nextID: 1}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /things", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(c.list())
	})
	mux.HandleFunc("POST /things", func(w http.ResponseWriter, r *http.Request) {
		var made thing
		_ = json.NewDecoder(r.Body).Decode(&made)
		c.mu.Lock()
		defer c.mu.Unlock()
		made.ID = strconv.Itoa(c.nextID)
		c.nextID++
		c.things[made.ID] = made
		_ = json.NewEncoder(w).Encode(made)
	})
	mux.HandleFunc("DELETE /things/{id}", func(_ http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.things, r.PathValue("id"))
	})
	c.server = httptest.NewServer(mux)
	return c
}

func (c *exampleCloud) list() []thing {
	c.mu.Lock()
	defer c.mu.Unlock()
	var things []thing
	for _, t := range c.things {
		things = append(things, t)
	}
	return things
}

// exampleClient is a client of the example cloud.
type exampleClient struct {
	url  string
	http *http.Client
}

func (c exampleClient) do(ctx context.Context, method, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s answered %s", method, path, response.Status)
	}
	content, err := io.ReadAll(response.Body)
	if err != nil || len(content) == 0 {
		return err
	}
	return json.Unmarshal(content, into)
}

type (
	exampleObject         = extensionsv1alpha1.Infrastructure
	exampleReconciliation = contract.Reconciliation[*exampleObject]
)

// exampleActuator creates one thing and finds it again by the given rule.
type exampleActuator struct {
	client exampleClient
	// newThing returns the thing to create for a shoot, mine reports whether a thing is the shoot's.
	newThing func(uid string) thing
	isOwn    func(thing, *exampleReconciliation) bool
}

func (a exampleActuator) owned(ctx context.Context, rec *exampleReconciliation) ([]thing, error) {
	var all, owned []thing
	if err := a.client.do(ctx, http.MethodGet, "/things", nil, &all); err != nil {
		return nil, err
	}
	for _, t := range all {
		if a.isOwn(t, rec) {
			owned = append(owned, t)
		}
	}
	return owned, nil
}

func (a exampleActuator) Reconcile(ctx context.Context, rec *exampleReconciliation) error {
	owned, err := a.owned(ctx, rec)
	if err != nil || len(owned) > 0 {
		return err
	}
	var made thing
	if err := a.client.do(ctx, http.MethodPost, "/things", a.newThing(string(rec.Cluster.Shoot.UID)), &made); err != nil {
		return err
	}
	rec.StateRecorder.RecordState(made)
	return nil
}

func (a exampleActuator) Delete(ctx context.Context, rec *exampleReconciliation) error {
	owned, err := a.owned(ctx, rec)
	for _, t := range owned {
		if err := a.client.do(ctx, http.MethodDelete, "/things/"+t.ID, nil, nil); err != nil {
			return err
		}
	}
	return err
}

func (exampleActuator) ForceDelete(context.Context, *exampleReconciliation) error { return nil }
func (exampleActuator) Migrate(context.Context, *exampleReconciliation) error     { return nil }

// exampleEnvironment is an environment with an example actuator.
type exampleEnvironment struct {
	cloud    *exampleCloud
	actuator exampleActuator
}

func (w exampleEnvironment) Objects(namespace string) ([]client.Object, *exampleObject, error) {
	cluster, err := Fixture{ProviderType: "example", TechnicalID: namespace, UID: "uid"}.Cluster(namespace)
	object := &exampleObject{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	object.Spec.Type = "example"
	return []client.Object{cluster}, object, err
}

func (w exampleEnvironment) Program(mgr manager.Manager, cloud Transport) error {
	actuator := w.actuator
	actuator.client = exampleClient{url: w.cloud.server.URL, http: &http.Client{Transport: cloud(http.DefaultTransport)}}
	if err := extensionsv1alpha1.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	return contract.Add(mgr, contract.Contract[*exampleObject]{
		Name:      "example",
		Finalizer: "extensions.gardener.cloud/example",
		New:       func() *exampleObject { return &exampleObject{} },
		Timeout:   time.Minute,
		Actuator:  actuator,
	}, contract.Options{Types: []string{"example"}, Retry: contract.Retry{Base: 5 * time.Millisecond, Max: 50 * time.Millisecond}})
}

func (w exampleEnvironment) Inspect(ready bool) []string {
	var violations []string
	ours, others := 0, 0
	for _, t := range w.cloud.list() {
		if t.ID == "0" {
			others++
		} else {
			ours++
		}
	}
	if want := map[bool]int{true: 1, false: 0}[ready]; ours != want {
		violations = append(violations, fmt.Sprintf("there are %d things instead of %d", ours, want))
	}
	if others != 1 {
		violations = append(violations, "a foreign thing is gone")
	}
	return violations
}

func (w exampleEnvironment) Close() error {
	w.cloud.server.Close()
	return nil
}

func exampleSubject(newThing func(string) thing, isOwn func(thing, *exampleReconciliation) bool) Subject[*exampleObject] {
	return Subject[*exampleObject]{
		New: func() *exampleObject { return &exampleObject{} },
		NewEnvironment: func() (Environment[*exampleObject], error) {
			return exampleEnvironment{cloud: newExampleCloud(), actuator: exampleActuator{newThing: newThing, isOwn: isOwn}}, nil
		},
		ErrorResponses: func(Call) []ErrorResponse {
			return []ErrorResponse{{Error: "503", AfterEffect: true, Response: func(r *http.Request) *http.Response {
				return JSONResponse(r, http.StatusServiceUnavailable, 0, nil)
			}}}
		},
	}
}

func TestExplore_MarkAtCreation(t *testing.T) {
	subject := exampleSubject(
		func(uid string) thing { return thing{Name: "one", Mark: uid} },
		func(t thing, rec *exampleReconciliation) bool { return t.Mark == string(rec.Cluster.Shoot.UID) })
	report, err := Explore(t.Context(), shared.Get(t), subject, Options{})
	require.NoError(t, err)
	t.Log(report)
	for _, failure := range report.Failures {
		t.Error(failure)
	}
	assert.Empty(t, report.Unreached)
	for _, phase := range Phases() {
		assert.NotZero(t, report.Cases[phase], phase)
	}
}

func TestExplore_BrokenDriver(t *testing.T) {
	tests := map[string]struct {
		made func(string) thing
		mine func(thing, *exampleReconciliation) bool
		want string
	}{
		"one that records what it made afterwards": {
			made: func(string) thing { return thing{Name: "random"} },
			mine: func(t thing, rec *exampleReconciliation) bool {
				state := rec.Object.Status.State
				recorded := thing{}
				return state != nil && json.Unmarshal(state.Raw, &recorded) == nil && recorded.ID == t.ID
			},
			want: "there are 2 things instead of 1",
		},
		"one that goes by the name": {
			made: func(string) thing { return thing{Name: "one"} },
			mine: func(t thing, _ *exampleReconciliation) bool { return t.Name == "one" },
			want: "there are 0 things instead of 1",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			report, err := Explore(t.Context(), shared.Get(t), exampleSubject(test.made, test.mine), Options{MaxFailures: 1})
			require.NoError(t, err)
			require.NotEmpty(t, report.Failures)
			assert.Contains(t, report.Failures[0].String(), test.want)
		})
	}
}
