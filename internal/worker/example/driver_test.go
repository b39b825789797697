package example_test

import (
	"net/http"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/cloud/example/fake"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/example"
)

// newShoot returns a shoot with a pool.
func newShoot(t *testing.T, url, poolFields string) *worker.Shoot {
	t.Helper()
	infrastructure := v1alpha1.NewInfrastructureStatus()
	infrastructure.Network = "network"
	raw, err := v1alpha1.Encode(infrastructure)
	require.NoError(t, err)
	profile, err := v1alpha1.Encode(&v1alpha1.CloudProfileConfig{URL: url})
	require.NoError(t, err)
	pool := newPool("first", "zone-a", "zone-b")
	pool.ProviderConfig = workerConfig(poolFields)
	return &worker.Shoot{
		Worker: &extensionsv1alpha1.Worker{Spec: extensionsv1alpha1.WorkerSpec{
			Pools: []extensionsv1alpha1.WorkerPool{pool}, InfrastructureProviderStatus: raw,
		}},
		Cluster: &contract.Cluster{CloudProfile: &gardencorev1beta1.CloudProfile{Spec: gardencorev1beta1.CloudProfileSpec{
			ProviderConfig: profile,
		}}},
		Credentials: map[string][]byte{"key": []byte(fake.Key)}, TechnicalID: "shoot--dev--one", UID: "uid-1", Log: logr.Discard(),
	}
}

func TestDriver_Validate(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct{ url, pool, want string }{
		"accepts valid configurations":          {"https://cloud.example.org", `,"group":true`, ""},
		"rejects unknown fields":                {"https://cloud.example.org", `,"groups":true`, `spec.pools[0].providerConfig: Invalid value: decoding WorkerConfig: unknown field "groups"`},
		"rejects a cloud profile without a URL": {"", "", "cloudProfile.spec.providerConfig.url: Required value"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := example.New(nil).Validate(newShoot(t, test.url, test.pool)).ToAggregate()
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
		})
	}
}

func statusWith(pool, group string) *v1alpha1.WorkerStatus {
	status := v1alpha1.NewWorkerStatus()
	status.Groups = map[string]string{pool: group}
	return status
}

// Changed hash data replace nodes.
func TestDriver_Machines(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct {
		pool           string
		hash, upstream []string
	}{
		"a pool without settings":           {"", nil, nil},
		"a pool with a group":               {`,"group":true`, []string{"group=groups-1"}, nil},
		"a pool with a feature":             {`,"feature":true`, []string{"feature"}, []string{}},
		"a pool with a group and a feature": {`,"group":true,"feature":true`, []string{"group=groups-1", "feature"}, []string{"group=groups-1"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := newShoot(t, "https://cloud.example.org", test.pool)
			machines, err := example.New(nil).Machines(shoot, statusWith("first", "groups-1"), &shoot.Worker.Spec.Pools[0])
			require.NoError(t, err)
			assert.Equal(t, test.hash, machines.HashData)
			if assert.Equal(t, test.upstream != nil, machines.UpstreamMachines != nil) && test.upstream != nil {
				assert.ElementsMatch(t, test.upstream, machines.UpstreamMachines.HashData)
			}
		})
	}
}

func TestDriver_Machines_Classes(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, "https://cloud.example.org", `,"group":true,"feature":true`)
	machines, err := example.New(nil).Machines(shoot, statusWith("first", "groups-1"), &shoot.Worker.Spec.Pools[0])
	require.NoError(t, err)
	require.Len(t, machines.Classes, 2)
	want := v1alpha1.NewMachineProviderSpec()
	want.Owner, want.Zone, want.Network, want.Group, want.MachineType, want.Image = "uid-1", "zone-b", "network", "groups-1", "small", "linux-1.0.0"
	want.Feature = true
	assert.Equal(t, worker.Class{Provider: "Example", ProviderSpec: want}, machines.Classes[1])
	want.Feature = false
	assert.Equal(t, worker.Class{Provider: "Example", ProviderSpec: want}, machines.UpstreamMachines.Classes[1])
}

func TestDriver_Machines_Incomplete(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct {
		change func(*worker.Shoot)
		want   string
	}{
		"no group":         {func(*worker.Shoot) {}, `no group is recorded for pool "first"`},
		"no network":       {func(shoot *worker.Shoot) { shoot.Worker.Spec.InfrastructureProviderStatus = nil }, "has not reported the network yet"},
		"an unknown field": {func(shoot *worker.Shoot) { shoot.Worker.Spec.Pools[0].ProviderConfig = workerConfig(`,"groups":true`) }, "unknown field"},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := newShoot(t, "https://cloud.example.org", `,"group":true`)
			test.change(shoot)
			_, err := example.New(nil).Machines(shoot, nil, &shoot.Worker.Spec.Pools[0])
			require.ErrorContains(t, err, test.want)
			shoot.Deleting = true
			machines, err := example.New(nil).Machines(shoot, nil, &shoot.Worker.Spec.Pools[0])
			require.NoError(t, err, "in a deletion")
			assert.Len(t, machines.Classes, 2)
		})
	}
}

// A status is what Prepare returns, or the recorded one.
func TestDriver_Machines_RecordedStatus(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, "https://cloud.example.org", `,"group":true`)
	raw, err := v1alpha1.Encode(statusWith("first", "groups-1"))
	require.NoError(t, err)
	machines, err := example.New(nil).Machines(shoot, &runtime.Unknown{Raw: raw.Raw, ContentType: runtime.ContentTypeJSON}, &shoot.Worker.Spec.Pools[0])
	require.NoError(t, err)
	assert.Equal(t, []string{"group=groups-1"}, machines.HashData)
}

func TestDriver_Groups(t *testing.T) {
	t.Parallel()
	var calls []string
	c, err := fake.Start()
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	driver := example.New(cloudexample.NewSessions(cloudexample.Options{Transport: func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			calls = append(calls, request.Method+" "+request.URL.Path)
			return next.RoundTrip(request)
		})
	}}))
	shoot := newShoot(t, c.URL(), `,"group":true`)
	// reconcile prepares and cleans up, and asserts the calls.
	reconcile := func(want ...string) {
		t.Helper()
		calls = nil
		prepared, err := driver.Prepare(t.Context(), shoot)
		require.NoError(t, err)
		cleaned, err := driver.Cleanup(t.Context(), shoot, prepared)
		require.NoError(t, err)
		shoot.Worker.Status.ProviderStatus = &runtime.RawExtension{Object: cleaned}
		assert.Equal(t, want, calls)
	}

	reconcile("GET /groups", "POST /groups")
	reconcile("GET /groups")
	shoot.Worker.Status.ProviderStatus = nil
	reconcile("GET /groups")
	shoot.Worker.Spec.Pools[0].Name = "renamed"
	reconcile("GET /groups", "POST /groups", "DELETE /groups/groups-1")
	shoot.Worker.Spec.Pools[0].ProviderConfig = nil
	reconcile("DELETE /groups/groups-2")
	reconcile()
	assert.Empty(t, c.Resources())
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
