package e2e

import (
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/extensions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/infrastructuresuite"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
)

// TestInfrastructure tests infrastructure-controller: the suite on the fake clouds of all providers, and what depends on no cloud or needs features that a
// real one does not have. All parts share the API servers and run one after another.
func TestInfrastructure(t *testing.T) {
	f := testenv.New(t, infrastructuresuite.OpenStack(openstack.OpenFake))
	infrastructuresuite.Run(t, f)
	t.Run("AWS", func(t *testing.T) { infrastructuresuite.Run(t, f.With(infrastructuresuite.AWS())) })
	for _, part := range []struct {
		name string
		run  func(*testing.T, *testenv.Fixture)
	}{
		{"Configuration", testConfiguration},
		{"LeftAlone", testSkipped},
		{"Heartbeat", testHeartbeat},
		{"Replicas", testReplicas},
		{"Many", testMany},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, f) })
	}
	if !t.Failed() {
		t.Run("Rights", func(t *testing.T) {
			var requests clusterstest.Requests
			requests.Add(t, f.Controller, f.Source, f.Destination)
			requests.AssertAllNeeded(t, f.Controller)
		})
	}
}

// testHeartbeat checks the Lease that gardenlet reads.
func testHeartbeat(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	start := time.Now().Add(-time.Second)
	env.StartController()
	lease := &coordinationv1.Lease{}
	env.Eventually("the heartbeat is there", func() bool {
		err := env.Seed.Client.Get(t.Context(), client.ObjectKey{Namespace: f.Controller.Name, Name: extensions.HeartBeatResourceName}, lease)
		require.NoError(t, client.IgnoreNotFound(err))
		return err == nil && lease.Spec.RenewTime != nil && lease.Spec.RenewTime.After(start)
	})
	assert.NotEmpty(t, lease.Spec.HolderIdentity)
}

// testReplicas lets a second replica become the leader after the first has ended.
func testReplicas(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	env.Options.LeaderElection = true
	env.StartController()
	first := env.Controller
	env.Controller = nil
	env.StartController()
	shoot := env.NewReconciledShoot("replicas")

	require.NoError(t, first.Terminate(t.Context()), "the leader ends and gives up its lease")
	env.ReconcileAgain(shoot)
	env.Destroy(shoot)
}
