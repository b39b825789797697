package infrastructuretest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// exampleDriver reconciles a network with a subnet. It finds them by their owner alone, so it needs no intents.
type exampleDriver struct{ client exampleClient }

var _ infrastructure.Driver = exampleDriver{}

// exampleStatus is both the provider status and the state.
type exampleStatus struct {
	metav1.TypeMeta `json:",inline"`
	Network         string `json:"network,omitempty"`
	Subnet          string `json:"subnet,omitempty"`
}

func (s *exampleStatus) DeepCopyObject() runtime.Object { copied := *s; return &copied }

func newExampleDriver(url string, wrap contracttest.Transport) exampleDriver {
	return exampleDriver{client: exampleClient{url: url, http: &http.Client{Transport: &transport.Retrying{
		Policy: transport.RetryPolicy{FirstPause: 5 * time.Millisecond, LongestPause: 100 * time.Millisecond}.WithDefaults(),
		Next: &transport.Single{
			Base: wrap(http.DefaultTransport), Limiter: transport.NewLimiter(-1, 0), Timeout: time.Minute, Metrics: cloud.NewMetrics(nil, "example"),
		},
	}}}}
}

func (d exampleDriver) Validate(*infrastructure.Shoot) field.ErrorList { return nil }

func (d exampleDriver) Reconcile(ctx context.Context, shoot *infrastructure.Shoot, recorder contract.StateRecorder) (*infrastructure.Outcome, error) {
	status := &exampleStatus{TypeMeta: metav1.TypeMeta{APIVersion: "example.org/v1", Kind: "InfrastructureStatus"}}
	graph := contract.NewGraph("reconciling infrastructure")
	network := graph.Add(contract.Task{Name: "ensuring network", Do: func(ctx context.Context) (err error) {
		status.Network, err = d.ensure(ctx, "networks", exampleResource{Name: shoot.TechnicalID, Owner: shoot.UID})
		return err
	}})
	graph.Add(contract.Task{Name: "ensuring subnet", After: []contract.TaskID{network}, Do: func(ctx context.Context) (err error) {
		status.Subnet, err = d.ensure(ctx, "subnets", exampleResource{
			Name: shoot.TechnicalID, Owner: shoot.UID, Network: status.Network, CIDR: "10.250.0.0/16",
		})
		return err
	}})
	if err := recorder.Run(ctx, graph); err != nil {
		return nil, err
	}
	return &infrastructure.Outcome{ProviderStatus: status, State: status}, nil
}

// ensure returns the ID of the shoot's resource in a collection, and creates it if there is none.
func (d exampleDriver) ensure(ctx context.Context, collection string, wanted exampleResource) (string, error) {
	owned, err := d.owned(ctx, collection, wanted.Owner)
	if err != nil || len(owned) > 0 {
		return idOf(owned), err
	}
	var created exampleResource
	err = d.client.do(ctx, http.MethodPost, "/"+collection, wanted, &created)
	return created.ID, err
}

func idOf(resources []exampleResource) string {
	if len(resources) == 0 {
		return ""
	}
	return resources[0].ID
}

func (d exampleDriver) owned(ctx context.Context, collection, owner string) ([]exampleResource, error) {
	var all []exampleResource
	if err := d.client.do(ctx, http.MethodGet, "/"+collection, nil, &all); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(r exampleResource) bool { return r.Owner != owner }), nil
}

func (d exampleDriver) Delete(ctx context.Context, shoot *infrastructure.Shoot, recorder contract.StateRecorder) error {
	graph := contract.NewGraph("deleting infrastructure")
	subnet := graph.Add(contract.Task{Name: "deleting subnet", Do: func(ctx context.Context) error { return d.remove(ctx, "subnets", shoot.UID) }})
	graph.Add(contract.Task{Name: "deleting network", After: []contract.TaskID{subnet}, Do: func(ctx context.Context) error {
		return d.remove(ctx, "networks", shoot.UID)
	}})
	return recorder.Run(ctx, graph)
}

func (d exampleDriver) remove(ctx context.Context, collection, owner string) error {
	owned, err := d.owned(ctx, collection, owner)
	if err != nil {
		return err
	}
	for _, resource := range owned {
		if err := d.client.do(ctx, http.MethodDelete, "/"+collection+"/"+resource.ID, nil, nil); cloud.KindOf(err) != cloud.NotFound && err != nil {
			return err
		}
	}
	return nil
}

// exampleClient is the client of the example cloud.
type exampleClient struct {
	url  string
	http *http.Client
}

func (c exampleClient) do(ctx context.Context, method, path string, body, result any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(transport.WithInfo(ctx, transport.Info{Service: "example"}), method, c.url+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return cloud.Errorf(cloud.Unavailable, "%w", err)
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode == http.StatusNotFound:
		return cloud.Errorf(cloud.NotFound, "%s %s", method, path)
	case response.StatusCode >= 300:
		return cloud.Errorf(cloud.Unavailable, "%s %s: %s", method, path, response.Status)
	case result == nil:
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(result); err != nil {
		return fmt.Errorf("decoding the response to %s %s: %w", method, path, err)
	}
	return nil
}
