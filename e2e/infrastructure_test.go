package e2e

import (
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/extensions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/e2e/internal/infrastructuresuite"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/rig"
)

// TestInfrastructure runs the infrastructure-controller: through the suite, on the stand-in for OpenStack, and through what
// needs no cloud in particular or more of it than a real one can give. All parts share the API servers and follow one another.
func TestInfrastructure(t *testing.T) {
	r := rig.New(t, func() (*openstack.Cloud, error) { return openstack.NewFake() })
	infrastructuresuite.Run(t, r)
	for _, part := range []struct {
		name string
		play func(*testing.T, *rig.Rig)
	}{
		{"Configuration", testConfiguration},
		{"LeftAlone", testLeftAlone},
		{"Heartbeat", testHeartbeat},
		{"Replicas", testReplicas},
		{"Many", testMany},
	} {
		t.Run(part.name, func(t *testing.T) { part.play(t, r) })
	}
	if !t.Failed() {
		t.Run("Rights", func(t *testing.T) {
			var asked groundtest.Requests
			asked.Add(t, r.Controller, r.Source.Seed, r.Destination.Seed)
			asked.AssertAllNeeded(t, r.Controller)
		})
	}
}

// testHeartbeat looks for the sign of life where gardenlet looks for it.
func testHeartbeat(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	start := time.Now().Add(-time.Second)
	w.StartController()
	lease := &coordinationv1.Lease{}
	w.Eventually("the heartbeat is there", func() bool {
		err := w.Seed.Client.Get(t.Context(), client.ObjectKey{Namespace: r.Controller.Name, Name: extensions.HeartBeatResourceName}, lease)
		require.NoError(t, client.IgnoreNotFound(err))
		return err == nil && lease.Spec.RenewTime != nil && lease.Spec.RenewTime.After(start)
	})
	assert.NotEmpty(t, lease.Spec.HolderIdentity)
}

// testReplicas lets a second replica take over from one that is gone, by leader election.
func testReplicas(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	w.Options.LeaderElection = true
	w.StartController()
	first := w.Controller
	w.Controller = nil
	w.StartController()
	shoot := w.Fulfilled("replicas")

	require.NoError(t, first.Terminate(t.Context()), "the leader ends and gives up its lease")
	w.FulfilAgain(shoot)
	w.Destroy(shoot)
}
