package workertest_test

import (
	"net/http"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/cloud/example/fake"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/example"
	"github.com/trellis-garden/trellis/internal/worker/workertest"
)

// exampleDriver is the driver of the example cloud, with a session of its own for faults.
type exampleDriver struct {
	*example.Driver
	session *cloudexample.Session
}

// exampleCloud is the cloud of the suite.
type exampleCloud struct {
	*fake.Cloud
	changed func(exampleDriver) worker.Driver
}

// Inputs implements workertest.Cloud.
func (c exampleCloud) Inputs() workertest.Inputs {
	infrastructure := v1alpha1.NewInfrastructureStatus()
	infrastructure.Network = "network"
	pool := func(name, zone string) extensionsv1alpha1.WorkerPool {
		return extensionsv1alpha1.WorkerPool{
			Name: name, MachineType: "small", Zones: []string{zone},
			MachineImage:   extensionsv1alpha1.MachineImage{Name: "linux", Version: "1.0.0"},
			ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"apiVersion":"example.org/v1alpha1","kind":"WorkerConfig","group":true}`)},
		}
	}
	return workertest.Inputs{
		CloudProfileConfig: &v1alpha1.CloudProfileConfig{
			TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: "CloudProfileConfig"}, URL: c.URL(),
		},
		InfrastructureStatus: infrastructure,
		Credentials:          map[string][]byte{"key": []byte(fake.Key)},
		Pools:                []extensionsv1alpha1.WorkerPool{pool("first", "zone-a"), pool("second", "zone-b")},
	}
}

// NewDriver implements workertest.Cloud.
func (c exampleCloud) NewDriver(wrap contracttest.Transport) (worker.Driver, error) {
	sessions := cloudexample.NewSessions(cloudexample.Options{
		Transport: wrap, Retry: transport.RetryPolicy{FirstPause: 5 * time.Millisecond, LongestPause: 100 * time.Millisecond},
	})
	session, err := sessions.Get(cloudexample.Credentials{URL: c.URL(), Key: fake.Key})
	return c.changed(exampleDriver{example.New(sessions), session}), err
}

// Resources implements workertest.Cloud.
func (c exampleCloud) Resources() ([]workertest.Resource, error) {
	var all []workertest.Resource
	for _, resource := range c.Cloud.Resources() {
		all = append(all, workertest.Resource{Kind: resource.Kind, ID: resource.ID, Name: resource.Name, Facts: resource.Owner})
	}
	return all, nil
}

// exampleSubject is a changed driver with a cloud that has groups of others.
func exampleSubject(changed func(exampleDriver) worker.Driver) workertest.Subject {
	return workertest.Subject{
		Type: example.Type,
		NewCloud: func(shoot workertest.Identity) (workertest.Cloud, error) {
			cloud, err := fake.Start(
				fake.Resource{Kind: fake.Groups, ID: "a", Name: shoot.TechnicalID + "-second", Owner: "somebody else"},
				fake.Resource{Kind: fake.Groups, ID: "b", Name: shoot.TechnicalID + "-2-second", Owner: shoot.UID + "-2"},
			)
			return exampleCloud{cloud, changed}, err
		},
		ErrorResponses: func(contracttest.Call) []contracttest.ErrorResponse {
			return []contracttest.ErrorResponse{{Error: "503", AfterEffect: true, Response: func(r *http.Request) *http.Response {
				return contracttest.JSONResponse(r, http.StatusServiceUnavailable, 0, nil)
			}}}
		},
		Want: map[string]int{fake.Groups: 2},
	}
}
