//go:build kind

package move

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

var errNotMutated = errors.New("no extension has seen it")

// dryRunWriter writes machine-controller-manager as gardenlet does, repeatedly, as a dry run.
type dryRunWriter struct {
	stop context.CancelFunc
	done sync.WaitGroup

	lock   sync.Mutex
	writes int
	// unseen counts writes that no extension has mutated, refused those that the API server has refused.
	unseen, refused []string
}

// startWriter starts one, which stops with the test at the latest.
func (env *environment) startWriter(t *testing.T) *dryRunWriter {
	t.Helper()
	there := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: env.shoot.Namespace(), Name: v1beta1constants.DeploymentNameMachineControllerManager}
	require.NoError(t, env.Client.Get(t.Context(), key, there))
	require.NoError(t, requireSidecar(there))
	ctx, cancel := context.WithCancel(t.Context())
	a := &dryRunWriter{stop: cancel}
	a.done.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := env.tryOnce(ctx, there.DeepCopy())
			if ctx.Err() == nil {
				a.note(err)
			}
		}
	})
	t.Cleanup(func() { a.end() })
	return a
}

// tryOnce writes it without the sidecar, as gardenlet does.
func (env *environment) tryOnce(ctx context.Context, deployment *appsv1.Deployment) error {
	bare := deployment.DeepCopy()
	pod := &bare.Spec.Template.Spec
	pod.Containers = slices.DeleteFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == openstack.MachineController })
	if err := env.Client.Patch(ctx, bare, client.MergeFrom(deployment), client.DryRunAll); err != nil {
		return err
	}
	return requireSidecar(bare)
}

func requireSidecar(deployment *appsv1.Deployment) error {
	if !slices.ContainsFunc(deployment.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == openstack.MachineController }) {
		return errNotMutated
	}
	return nil
}

func (a *dryRunWriter) note(err error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.writes++
	switch message := fmt.Sprintf("%s: %v", time.Now().Format(time.TimeOnly), err); {
	case errors.Is(err, errNotMutated):
		a.unseen = append(a.unseen, message)
	case err != nil:
		a.refused = append(a.refused, message)
	}
}

func (a *dryRunWriter) end() {
	a.stop()
	a.done.Wait()
}

// assertSeen stops it and returns the number of writes. An extension must have mutated all, and none may have been refused, unless the guide says so.
func (a *dryRunWriter) assertSeen(t *testing.T, b block, mayRefuse bool) int {
	t.Helper()
	a.end()
	assert.Empty(t, a.unseen, "no extension has seen it, under %s", b.heading)
	if !mayRefuse {
		assert.Empty(t, a.refused, b.heading)
	}
	t.Logf("machine-controller-manager was written %d times under %s, of which %d were refused", a.writes, b.heading, len(a.refused))
	return a.writes
}
