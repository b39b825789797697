package example_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/cloud/example/fake"
	cloudtransport "github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/example"
	"github.com/trellis-garden/trellis/internal/worker/workertest"
)

var apiServer contracttest.Shared

// parallel is how many tests run at a time. They spend most of it waiting.
const parallel = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(apiServer.Run(m))
}

func TestSuite(t *testing.T) {
	t.Parallel()
	workertest.Run(t, apiServer.Get(t), suiteSubject("zone-a", "zone-b"))
}

func TestSuite_Exploration(t *testing.T) {
	t.Parallel()
	workertest.RunExploration(t, apiServer.Get(t), suiteSubject("zone-b"), contracttest.Options{MergeFaults: true})
}

// suiteSubject is the driver with a cloud, and with a second pool in some zones.
func suiteSubject(zones ...string) workertest.Subject {
	return workertest.Subject{
		Type: example.Type,
		NewCloud: func(shoot workertest.Identity) (workertest.Cloud, error) {
			cloud, err := fake.Start(
				fake.Resource{Kind: fake.Networks, ID: "network", Name: shoot.TechnicalID, Owner: shoot.UID},
				fake.Resource{Kind: fake.Groups, ID: "a", Name: shoot.TechnicalID + "-second", Owner: "somebody else"},
				fake.Resource{Kind: fake.Groups, ID: "b", Name: shoot.TechnicalID + "-2-second", Owner: shoot.UID + "-2"},
			)
			return suiteCloud{cloud, zones}, err
		},
		ErrorResponses: func(contracttest.Call) []contracttest.ErrorResponse {
			return []contracttest.ErrorResponse{{Error: "503", AfterEffect: true, Response: func(r *http.Request) *http.Response {
				return contracttest.JSONResponse(r, http.StatusServiceUnavailable, 0, nil)
			}}}
		},
		Want: map[string]int{fake.Groups: 2},
	}
}

// suiteCloud is the fake cloud for the suite.
type suiteCloud struct {
	*fake.Cloud
	zones []string // of the second pool
}

var _ workertest.Cloud = suiteCloud{}

// Inputs implements workertest.Cloud.
func (c suiteCloud) Inputs() workertest.Inputs {
	infrastructure := v1alpha1.NewInfrastructureStatus()
	infrastructure.Network, infrastructure.Subnet = "network", "subnet"
	return workertest.Inputs{
		CloudProfileConfig: &v1alpha1.CloudProfileConfig{
			TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: "CloudProfileConfig"}, URL: c.URL(),
		},
		InfrastructureStatus: infrastructure,
		Credentials:          map[string][]byte{"key": []byte(fake.Key)},
		Pools:                []extensionsv1alpha1.WorkerPool{newPool("first", "zone-a"), newPool("second", c.zones...)},
		IgnoredByUpstream: func(pool *extensionsv1alpha1.WorkerPool) {
			pool.ProviderConfig = workerConfig(`,"group":true,"feature":true`)
		},
	}
}

func newPool(name string, zones ...string) extensionsv1alpha1.WorkerPool {
	return extensionsv1alpha1.WorkerPool{
		Name: name, MachineType: "small", Zones: zones, ProviderConfig: workerConfig(`,"group":true`),
		MachineImage: extensionsv1alpha1.MachineImage{Name: "linux", Version: "1.0.0"},
	}
}

// workerConfig is a configuration with some fields.
func workerConfig(fields string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: []byte(`{"apiVersion":"example.org/v1alpha1","kind":"WorkerConfig"` + fields + `}`)}
}

// NewDriver implements workertest.Cloud.
func (c suiteCloud) NewDriver(transport contracttest.Transport) (worker.Driver, error) {
	return example.New(cloudexample.NewSessions(cloudexample.Options{
		Transport: transport, Retry: cloudtransport.RetryPolicy{FirstPause: 5 * time.Millisecond, LongestPause: 100 * time.Millisecond},
	})), nil
}

// Resources implements workertest.Cloud.
func (c suiteCloud) Resources() ([]workertest.Resource, error) {
	var all []workertest.Resource
	for _, resource := range c.Cloud.Resources() {
		all = append(all, workertest.Resource{Kind: resource.Kind, ID: resource.ID, Name: resource.Name, Facts: resource.Owner})
	}
	return all, nil
}
