package example_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/cloud/example/fake"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/infrastructure/example"
)

const (
	apiVersion = `"apiVersion":"example.org/v1alpha1"`
	config     = `{` + apiVersion + `,"kind":"InfrastructureConfig","networks":{"workers":"10.250.0.0/16"}}`
	profile    = `{` + apiVersion + `,"kind":"CloudProfileConfig","url":"https://cloud.example.org"}`
)

func newShoot(config, profile string) *infrastructure.Shoot {
	return &infrastructure.Shoot{
		Infrastructure: &extensionsv1alpha1.Infrastructure{Spec: extensionsv1alpha1.InfrastructureSpec{
			DefaultSpec: extensionsv1alpha1.DefaultSpec{ProviderConfig: &runtime.RawExtension{Raw: []byte(config)}},
		}},
		Cluster: &contract.Cluster{
			Shoot: &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{Networking: &gardencorev1beta1.Networking{Pods: new("100.96.0.0/11")}}},
			CloudProfile: &gardencorev1beta1.CloudProfile{Spec: gardencorev1beta1.CloudProfileSpec{
				ProviderConfig: &runtime.RawExtension{Raw: []byte(profile)},
			}},
		},
		Credentials: map[string][]byte{"key": []byte(fake.Key)},
		TechnicalID: "shoot--dev--one", UID: "uid-1", Log: logr.Discard(),
	}
}

func TestDriver_Validate(t *testing.T) {
	for sentence, test := range map[string]struct{ config, profile, want string }{
		"accepts valid configurations":            {config, profile, ""},
		"rejects unknown fields":                  {`{` + apiVersion + `,"kind":"InfrastructureConfig","network":{}}`, profile, `unknown field "network"`},
		"rejects a configuration without a range": {`{` + apiVersion + `,"kind":"InfrastructureConfig","networks":{}}`, profile, "spec.providerConfig.networks.workers: Required value"},
		"rejects a cloud profile without a URL":   {config, `{` + apiVersion + `,"kind":"CloudProfileConfig"}`, "cloudProfile.spec.providerConfig.url: Required value"},
		"rejects another kind":                    {profile, profile, "kind to InfrastructureConfig"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := example.New(nil).Validate(newShoot(test.config, test.profile)).ToAggregate()
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
		})
	}
}

// recorder runs graphs without a contract.
type recorder struct{}

func (recorder) RecordIntent(context.Context, any) error { return nil }
func (recorder) RecordState(any)                         {}
func (recorder) Run(ctx context.Context, graph *contract.Graph) error {
	return graph.Run(ctx, logr.Discard(), nil)
}

// callLog is a transport that records requests.
type callLog struct {
	next  http.RoundTripper
	mutex sync.Mutex
	calls []string
}

// RoundTrip implements http.RoundTripper.
func (l *callLog) RoundTrip(request *http.Request) (*http.Response, error) {
	l.mutex.Lock()
	l.calls = append(l.calls, request.Method+" "+request.URL.Path)
	l.mutex.Unlock()
	return l.next.RoundTrip(request)
}

func (l *callLog) take() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	calls := l.calls
	l.calls = nil
	slices.Sort(calls)
	return calls
}

func startDriver(t *testing.T, preloaded ...fake.Resource) (*example.Driver, *fake.Cloud, *callLog) {
	t.Helper()
	c, err := fake.Start(preloaded...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	log := &callLog{}
	sessions := cloudexample.NewSessions(cloudexample.Options{Transport: func(next http.RoundTripper) http.RoundTripper {
		log.next = next
		return log
	}})
	return example.New(sessions), c, log
}

func profileOf(c *fake.Cloud) string {
	return `{` + apiVersion + `,"kind":"CloudProfileConfig","url":"` + c.URL() + `"}`
}

func TestDriver_Calls(t *testing.T) {
	d, c, log := startDriver(t)
	shoot := newShoot(config, profileOf(c))

	created, err := d.Reconcile(t.Context(), shoot, recorder{})
	require.NoError(t, err)
	assert.Equal(t, []string{"GET /networks", "GET /subnets", "POST /networks", "POST /subnets"}, log.take(), "create")
	status := v1alpha1.NewInfrastructureStatus()
	status.Network, status.Subnet = "networks-1", "subnets-2"
	want := &infrastructure.Outcome{ProviderStatus: status, State: status, Nodes: []string{"10.250.0.0/16"}, Pods: []string{"100.96.0.0/11"}}
	assert.Equal(t, want, created)

	again, err := d.Reconcile(t.Context(), shoot, recorder{})
	require.NoError(t, err)
	assert.Equal(t, []string{"GET /networks", "GET /subnets"}, log.take(), "no-op")
	assert.Equal(t, created, again)

	require.NoError(t, d.Delete(t.Context(), shoot, recorder{}))
	assert.Equal(t, []string{"DELETE /networks/networks-1", "DELETE /subnets/subnets-2", "GET /networks", "GET /subnets"}, log.take(), "delete")
	assert.Empty(t, c.Resources())
}

func TestDriver_Reconcile_Errors(t *testing.T) {
	network := fake.Resource{Kind: fake.Networks, ID: "a", Name: "shoot--dev--one", Owner: "uid-1"}
	subnet := fake.Resource{Kind: fake.Subnets, ID: "b", Name: "shoot--dev--one", Owner: "uid-1", Network: "a", CIDR: "10.1.0.0/16"}
	for sentence, test := range map[string]struct {
		preloaded []fake.Resource
		change    func(*infrastructure.Shoot)
		kind      cloud.Kind
		want      string
	}{
		"the range of nodes was changed": {
			[]fake.Resource{network, subnet}, func(*infrastructure.Shoot) {}, cloud.Configuration, "set it to 10.1.0.0/16",
		},
		"the Secret has no key": {
			nil, func(shoot *infrastructure.Shoot) { shoot.Credentials = nil }, cloud.Configuration, `"key" is missing`,
		},
		"the key is unknown": {
			nil, func(shoot *infrastructure.Shoot) { shoot.Credentials["key"] = []byte("other") }, cloud.Unauthenticated, "the key is unknown",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			d, c, _ := startDriver(t, test.preloaded...)
			shoot := newShoot(config, profileOf(c))
			test.change(shoot)
			_, err := d.Reconcile(t.Context(), shoot, recorder{})
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, test.kind, cloud.KindOf(err))
			assert.Equal(t, test.preloaded, c.Resources())
		})
	}
}

func TestDriver_Delete_InUse(t *testing.T) {
	d, c, _ := startDriver(t,
		fake.Resource{Kind: fake.Networks, ID: "a", Name: "shoot--dev--one", Owner: "uid-1"},
		fake.Resource{Kind: fake.Servers, ID: "b", Name: "bastion", Owner: "somebody else", Network: "a"},
	)
	shoot := newShoot("invalid", profileOf(c))
	err := d.Delete(t.Context(), shoot, recorder{})
	require.ErrorContains(t, err, "it is used by b (bastion)")
	assert.Equal(t, cloud.InUse, cloud.KindOf(err))
}
