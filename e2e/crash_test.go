package e2e

import (
	"slices"
	"sync"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// testCrash kills the controller in the middle of an operation. Its successor brings the operation to its end, without
// another word from gardenlet and without doing anything twice.
func (l *landscape) testCrash(t *testing.T) {
	t.Run("between the two writes of a reconcile that has nothing to do", func(t *testing.T) {
		w := l.newWorld(t)
		w.startController()
		shoot := w.fulfilled("crash-no-op")
		existing := inventory(w.cloud)

		w.passSecond(shoot)
		w.killAt(wire.Match{Service: wire.Neutron, Method: "GET"}, wire.Before, func() { w.order(shoot) })
		object := w.get(shoot)
		assert.NotContains(t, object.Annotations, v1beta1constants.GardenerOperation, "the order was taken")

		w.startController()
		w.waitHealthy(shoot)
		assert.Equal(t, existing, inventory(w.cloud))
	})
	t.Run("after the router was created and before anybody knew", func(t *testing.T) {
		w := l.newWorld(t)
		before := inventory(w.cloud)
		w.startController()
		shoot := w.shoot("crash-create")
		w.killAt(wire.Match{Service: wire.Neutron, Method: "POST", Path: "/v2.0/routers"}, wire.After, func() { w.order(shoot) })

		w.startController()
		w.waitHealthy(shoot)
		assertOneOfEach(t, w.cloud)
		w.destroy(shoot)
		assert.Equal(t, before, inventory(w.cloud))
	})
	t.Run("after the router was deleted and before anybody knew", func(t *testing.T) {
		w := l.newWorld(t)
		before := inventory(w.cloud)
		w.startController()
		shoot := w.fulfilled("crash-delete")
		component := w.gardenlet.Infrastructure(shoot)
		w.killAt(wire.Match{Service: wire.Neutron, Method: "DELETE", Path: "/v2.0/routers/{id}"}, wire.After, func() {
			require.NoError(t, component.Destroy(t.Context()))
		})

		w.startController()
		require.NoError(t, component.WaitCleanup(t.Context()))
		assert.Equal(t, before, inventory(w.cloud))
	})
	t.Run("when it is asked to end in the middle of a creation", func(t *testing.T) {
		w := l.newWorld(t)
		before := inventory(w.cloud)
		w.startController()
		shoot := w.shoot("interrupted")
		w.cloud.SetLatency(200 * time.Millisecond)
		w.order(shoot)
		w.eventually("something is created", func() bool { return len(w.cloud.State(fake.DefaultProject).Networks) > 0 })
		w.stopController()
		object := w.get(shoot)
		assert.Equal(t, gardencorev1beta1.LastOperationStateProcessing, object.Status.LastOperation.State, "the operation goes on")
		assert.Nil(t, object.Status.LastError, "an end in good order is nobody's error")
		assert.NotNil(t, object.Status.State, "what was done so far is known")

		w.cloud.SetLatency(0)
		w.startController()
		w.waitHealthy(shoot)
		assertOneOfEach(t, w.cloud)
		w.destroy(shoot)
		assert.Equal(t, before, inventory(w.cloud))
	})
}

// killAt sets something off and kills the controller at the first call that matches, in the given phase.
func (w *world) killAt(match wire.Match, phase wire.Phase, setOff func()) {
	w.t.Helper()
	reached, dead := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w.cloud.SetHook(func(event wire.Event) wire.Verdict {
		if event.Phase != phase || !match.Matches(event.Call) {
			return wire.Proceed
		}
		once.Do(func() { close(reached) })
		<-dead
		return wire.Cut
	})
	setOff()
	select {
	case <-reached:
	case <-w.t.Context().Done():
	}
	w.controller.Kill()
	w.controller = nil
	close(dead)
	w.cloud.SetHook(nil)
	require.NoError(w.t, w.cloud.WaitIdle(w.t.Context()))
}

// assertOneOfEach makes sure that nothing was made twice for the only shoot in the cloud.
func assertOneOfEach(t *testing.T, cloud *fake.Cloud) {
	t.Helper()
	state := cloud.State("")
	assert.Len(t, state.Networks, 2, "the shoot's and the external one")
	assert.Len(t, state.Subnets, 3, "the shoot's and the two of the external network")
	assert.Len(t, state.Routers, 1)
	assert.Len(t, state.KeyPairs, 1)
	shoots := slices.DeleteFunc(state.SecurityGroups, func(group fake.SecurityGroup) bool { return group.Name == "default" })
	assert.Len(t, shoots, 1)
}
