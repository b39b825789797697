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

// testOutage ends replicas in different ways. It is the last part.
func testOutage(t *testing.T, env *environment, running *controller.Controller) {
	running.Kill()
	start := time.Now()
	err := env.Client.Create(t.Context(), newShoot("new"), client.DryRunAll)
	assert.ErrorContains(t, err, "failed calling webhook", "without admission nothing is written")
	assert.Less(t, time.Since(start), 10*time.Second)
	assert.NoError(t, env.Client.Create(t.Context(), newRegistration("new"), client.DryRunAll), "what might repair it passes")

	without := env.start(t, "--default-overlay-off=", "--default-pod-routes=", "--default-node-local-dns-without-tcp=false")
	assert.NoError(t, env.Client.Create(t.Context(), newShoot("new"), client.DryRunAll))
	t.Run("NoDefaults", func(t *testing.T) { testNoDefaults(t, env) })

	first, second := env.replica(t), env.replica(t)
	env.loadBalancer.setBackends(first.listen, second.listen)
	require.NoError(t, without.Terminate(t.Context()))
	env.waitForWebhooks(t)
	t.Run("Replicas", func(t *testing.T) { env.replace(t, first, second) })
}

// replica is one of several processes.
type replica struct {
	*controller.Controller
	listen string
}

func (env *environment) replica(t *testing.T) replica {
	t.Helper()
	listen := freeAddress(t)
	options := env.options(listen)
	options.LeaderElection = true
	running, err := controller.Admission().StartAdmission(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { env.tail(t, running, options.Output) })
	return replica{running, listen}
}

// replace ends one replica after the other while shoots are written, as a rollout does: new connections do not use a replica that is ending. API
// servers keep connections, so that at least one of the two has requests when it ends.
func (env *environment) replace(t *testing.T, first, second replica) {
	t.Helper()
	third := env.replica(t)
	ended := make(chan error, 1)
	end := func(r replica) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		ended <- r.Terminate(ctx)
	}
	for i := range 200 {
		switch i {
		case 50:
			env.loadBalancer.setBackends(second.listen, third.listen)
			go end(first)
		case 100:
			require.NoError(t, <-ended)
			env.loadBalancer.setBackends(third.listen)
			go end(second)
		}
		require.NoError(t, env.Client.Create(t.Context(), newShoot("new"), client.DryRunAll), "shoot %d", i)
	}
	require.NoError(t, <-ended)
}
