//go:build kind

package kind

import (
	"context"
	"fmt"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
)

const (
	shootsBefore = 50 // are ordered before an upgrade
	shootsDuring = 10 // and these while it rolls out
)

// TestUpgrade_WhileReconciling upgrades a controller while it creates the infrastructure of many shoots, and reverts the upgrade while it deletes them.
func TestUpgrade_WhileReconciling(t *testing.T) {
	env := getEnvironment(t)
	const binary = infrastructureController
	require.NoError(t, env.Build(t.Context(), secondVersion, binary))
	assertUnchanged := env.othersUnchanged(t, binary)
	env.keepDeployment(t, binary)
	reference := env.newShoot(t, "quiet")
	require.NoError(t, reference.ReconcileInfrastructure(t.Context()))
	want := env.shootInventory(t, reference)
	first, second := env.newShootGroup(t, "early", shootsBefore), env.newShootGroup(t, "late", shootsDuring)
	all := append(append(shootGroup{reference}, first...), second...)
	history := env.recordStatusHistory(t)

	env.setLatency(t, 200*time.Millisecond)
	requested := first.requestReconcile(t, env.slowGardenlet())
	eventually(t, "some shoots have their infrastructure", func() bool { return history.countSucceeded(time.Now()) >= shootsBefore/10 })
	rollout := env.upgrade(t, binary, secondVersion)
	rollout.awaitBegin(t)
	requestedLater := second.requestReconcile(t, env.slowGardenlet())
	rollout.awaitEnd(t)
	require.NoError(t, requested.Wait())
	require.NoError(t, requestedLater.Wait())
	rollout.requireSmooth(t)
	handed := rollout.handedOver(t)
	t.Logf("%d of %d shoots had their infrastructure when the upgraded controller took the lead", history.countSucceeded(handed), len(first)+len(second))
	assert.Less(t, history.countSucceeded(handed), len(first)+len(second), "the upgrade fell into the work")
	history.requireNoError(t)

	require.NoError(t, env.Remote.SetLatency(t.Context(), 0))
	for _, shoot := range all {
		assert.Equal(t, want, env.shootInventory(t, shoot), "shoot %s", shoot.Name)
	}
	require.NoError(t, env.Remote.ResetCalls(t.Context()))
	require.NoError(t, all.requestReconcile(t, env.slowGardenlet()).Wait())
	assert.Empty(t, env.cloudWrites(t), "the upgraded controller finds nothing to do")

	env.rollBack(t, binary, all)
	history.requireNoError(t)
	assertUnchanged()
}

// rollBack reverts an upgrade while all shoots are deleted.
func (env *environment) rollBack(t *testing.T, binary string, shoots shootGroup) {
	t.Helper()
	require.NoError(t, env.Remote.SetLatency(t.Context(), 200*time.Millisecond))
	require.NoError(t, env.Remote.ResetCalls(t.Context()))
	deleted := shoots.destroy(t, env.slowGardenlet())
	eventually(t, "shoots are being deleted", func() bool { return len(env.cloudWrites(t)) > len(shoots) })
	rollout := env.upgrade(t, binary, firstVersion)
	rollout.awaitEnd(t)
	require.NoError(t, deleted.Wait())
	require.NoError(t, env.Remote.SetLatency(t.Context(), 0))
	rollout.requireSmooth(t)
	for _, shoot := range shoots {
		requireEmpty(t, shoot)
	}
	shoots.release(t)
}

// TestUpgrade_Webhooks upgrades a controller with webhooks, and reverts it: no request is refused.
func TestUpgrade_Webhooks(t *testing.T) {
	env := getEnvironment(t)
	const binary = workerController
	require.NoError(t, env.Build(t.Context(), secondVersion, binary))
	assertUnchanged := env.othersUnchanged(t, binary)
	env.keepDeployment(t, binary)
	shoots := env.newShootGroup(t, "asking", 2)

	requests := env.sendRequests(t, shoots[0], shoots[1])
	for _, version := range []string{secondVersion, firstVersion} {
		rollout := env.upgrade(t, binary, version)
		rollout.awaitEnd(t)
		rollout.requireSmooth(t)
	}
	made, failures := requests.end()
	t.Logf("%d requests went through the webhook", made)
	assert.Greater(t, made, 50)
	assert.Empty(t, failures, "requests failed during a rollout")
	shoots.release(t)
	assertUnchanged()
}

// slowGardenlet is a gardenlet with longer intervals, since it has many shoots.
func (env *environment) slowGardenlet() *gardenlet.Gardenlet {
	patient := *env.Gardenlet
	patient.Interval = 500 * time.Millisecond
	return &patient
}

// shootGroup is many shoots, each with an account and a namespace of its own.
type shootGroup []*kindseed.Shoot

func (env *environment) newShootGroup(t *testing.T, name string, size int) shootGroup {
	t.Helper()
	shoots := make(shootGroup, size)
	start := time.Now()
	defer func() { t.Logf("%d shoots are prepared in %s", size, time.Since(start).Round(pollInterval)) }()
	many, ctx := errgroup.WithContext(t.Context())
	many.SetLimit(10)
	for i := range shoots {
		many.Go(func() (err error) {
			shoots[i], err = env.NewShoot(ctx, fmt.Sprintf("%s-%02d", name, i))
			return err
		})
	}
	require.NoError(t, many.Wait())
	return shoots
}

// requestReconcile requests a reconciliation of all Infrastructures by gardenlet's component, and returns a function that waits for them.
func (f shootGroup) requestReconcile(t *testing.T, by *gardenlet.Gardenlet) *errgroup.Group {
	return f.each(t, func(ctx context.Context, shoot *gardenlet.Shoot) error {
		component := by.Infrastructure(shoot)
		if err := component.Deploy(ctx); err != nil {
			return err
		}
		return component.Wait(ctx)
	})
}

// destroy deletes the Infrastructures of all at once.
func (f shootGroup) destroy(t *testing.T, by *gardenlet.Gardenlet) *errgroup.Group {
	return f.each(t, func(ctx context.Context, shoot *gardenlet.Shoot) error {
		shoot.LastOperationType = gardencorev1beta1.LastOperationTypeDelete
		component := by.Infrastructure(shoot)
		if err := component.Destroy(ctx); err != nil {
			return err
		}
		return component.WaitCleanup(ctx)
	})
}

// release removes the namespaces of all.
func (f shootGroup) release(t *testing.T) {
	t.Helper()
	many, ctx := errgroup.WithContext(t.Context())
	for _, shoot := range f {
		many.Go(func() error { return shoot.Release(ctx) })
	}
	require.NoError(t, many.Wait())
}

func (f shootGroup) each(t *testing.T, do func(context.Context, *gardenlet.Shoot) error) *errgroup.Group {
	many := &errgroup.Group{}
	for _, shoot := range f {
		many.Go(func() error {
			if err := do(t.Context(), shoot.Shoot); err != nil {
				return fmt.Errorf("shoot %s: %w", shoot.Name, err)
			}
			return nil
		})
	}
	return many
}
