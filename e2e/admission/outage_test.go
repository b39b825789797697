package admission

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// testOutage ends replicas in all ways. It comes last.
func testOutage(t *testing.T, w *world, running *controller.Controller) {
	running.Kill()
	start := time.Now()
	err := w.Client.Create(t.Context(), newShoot("new"), client.DryRunAll)
	assert.ErrorContains(t, err, "failed calling webhook", "nobody judges, so nobody writes")
	assert.Less(t, time.Since(start), 10*time.Second)
	assert.NoError(t, w.Client.Create(t.Context(), newRegistration("new"), client.DryRunAll), "what might repair it passes")

	without := w.start(t, "--default-overlay-off=", "--default-pod-routes=", "--default-node-local-dns-without-tcp=false")
	assert.NoError(t, w.Client.Create(t.Context(), newShoot("new"), client.DryRunAll))
	t.Run("NoDefaults", func(t *testing.T) { testNoDefaults(t, w) })

	first, second := w.replica(t), w.replica(t)
	w.entrance.leadTo(first.listen, second.listen)
	require.NoError(t, without.Terminate(t.Context()))
	w.awaitWebhooks(t)
	t.Run("Replicas", func(t *testing.T) { w.replace(t, first, second) })
}

// replica is one of several processes.
type replica struct {
	*controller.Controller
	listen string
}

func (w *world) replica(t *testing.T) replica {
	t.Helper()
	listen := freeAddress(t)
	options := w.options(listen)
	options.LeaderElection = true
	running, err := controller.Admission().StartAdmission(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { w.tail(t, running, options.Output) })
	return replica{running, listen}
}

// replace ends one replica after the other while shoots are written, as a rollout does: nobody is led to a replica any more when it is told to
// end. But the API servers hold on to connections, so that at least one of the two is being asked when it ends.
func (w *world) replace(t *testing.T, first, second replica) {
	t.Helper()
	third := w.replica(t)
	ended := make(chan error, 1)
	end := func(r replica) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		ended <- r.Terminate(ctx)
	}
	for i := range 200 {
		switch i {
		case 50:
			w.entrance.leadTo(second.listen, third.listen)
			go end(first)
		case 100:
			require.NoError(t, <-ended)
			w.entrance.leadTo(third.listen)
			go end(second)
		}
		require.NoError(t, w.Client.Create(t.Context(), newShoot("new"), client.DryRunAll), "shoot %d", i)
	}
	require.NoError(t, <-ended)
}
