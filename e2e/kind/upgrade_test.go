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

// TestUpgradeInTheMiddleOfWork upgrades one controller while it creates the infrastructure of many shoots, and takes the upgrade back
// while it deletes them.
func TestUpgradeInTheMiddleOfWork(t *testing.T) {
	w := theWorld(t)
	const binary = infrastructureController
	require.NoError(t, w.Build(t.Context(), secondVersion, binary))
	untouched := w.othersStand(t, binary)
	w.keepDeployment(t, binary)
	calm := w.newShoot(t, "quiet")
	require.NoError(t, calm.OrderInfrastructure(t.Context()))
	want := w.whole(t, calm)
	first, second := w.newFleet(t, "early", shootsBefore), w.newFleet(t, "late", shootsDuring)
	all := append(append(fleet{calm}, first...), second...)
	said := w.keepDiary(t)

	w.setLatency(t, 200*time.Millisecond)
	ordered := first.order(t, w.patient())
	eventually(t, "some shoots have their infrastructure", func() bool { return said.fulfilled(time.Now()) >= shootsBefore/10 })
	rollout := w.upgrade(t, binary, secondVersion)
	rollout.awaitBegin(t)
	orderedLater := second.order(t, w.patient())
	rollout.awaitEnd(t)
	require.NoError(t, ordered.Wait())
	require.NoError(t, orderedLater.Wait())
	rollout.requireSmooth(t)
	handed := rollout.handedOver(t)
	t.Logf("%d of %d shoots had their infrastructure when the upgraded controller took the lead", said.fulfilled(handed), len(first)+len(second))
	assert.Less(t, said.fulfilled(handed), len(first)+len(second), "the upgrade fell into the work")
	said.requireNoError(t)

	require.NoError(t, w.Dials.SetLatency(t.Context(), 0))
	for _, shoot := range all {
		assert.Equal(t, want, w.whole(t, shoot), "shoot %s", shoot.Name)
	}
	require.NoError(t, w.Dials.ResetCalls(t.Context()))
	require.NoError(t, all.order(t, w.patient()).Wait())
	assert.Empty(t, w.cloudWrites(t), "the upgraded controller finds nothing to do")

	w.rollBack(t, binary, all)
	said.requireNoError(t)
	untouched()
}

// rollBack takes an upgrade back while all shoots are deleted.
func (w *world) rollBack(t *testing.T, binary string, shoots fleet) {
	t.Helper()
	require.NoError(t, w.Dials.SetLatency(t.Context(), 200*time.Millisecond))
	require.NoError(t, w.Dials.ResetCalls(t.Context()))
	deleted := shoots.destroy(t, w.patient())
	eventually(t, "shoots are being deleted", func() bool { return len(w.cloudWrites(t)) > len(shoots) })
	rollout := w.upgrade(t, binary, firstVersion)
	rollout.awaitEnd(t)
	require.NoError(t, deleted.Wait())
	require.NoError(t, w.Dials.SetLatency(t.Context(), 0))
	rollout.requireSmooth(t)
	for _, shoot := range shoots {
		requireEmpty(t, shoot)
	}
	shoots.forget(t)
}

// TestUpgradeOfWebhooks upgrades, and takes back, a controller that the API server asks about what others write: nobody is refused.
func TestUpgradeOfWebhooks(t *testing.T) {
	w := theWorld(t)
	const binary = workerController
	require.NoError(t, w.Build(t.Context(), secondVersion, binary))
	untouched := w.othersStand(t, binary)
	w.keepDeployment(t, binary)
	shoots := w.newFleet(t, "asking", 2)

	requests := w.ask(t, shoots[0], shoots[1])
	for _, version := range []string{secondVersion, firstVersion} {
		rollout := w.upgrade(t, binary, version)
		rollout.awaitEnd(t)
		rollout.requireSmooth(t)
	}
	made, failures := requests.end()
	t.Logf("%d requests went through the webhook", made)
	assert.Greater(t, made, 50)
	assert.Empty(t, failures, "requests failed during a rollout")
	shoots.forget(t)
	untouched()
}

// patient is a gardenlet that looks less often, since it has many shoots.
func (w *world) patient() *gardenlet.Gardenlet {
	patient := *w.Gardenlet
	patient.Interval = 500 * time.Millisecond
	return &patient
}

// fleet is many shoots, each with an account and a namespace of its own.
type fleet []*kindseed.Shoot

func (w *world) newFleet(t *testing.T, name string, size int) fleet {
	t.Helper()
	shoots := make(fleet, size)
	start := time.Now()
	defer func() { t.Logf("%d shoots are prepared in %s", size, time.Since(start).Round(glance)) }()
	many, ctx := errgroup.WithContext(t.Context())
	many.SetLimit(10)
	for i := range shoots {
		many.Go(func() (err error) {
			shoots[i], err = w.NewShoot(ctx, fmt.Sprintf("%s-%02d", name, i))
			return err
		})
	}
	require.NoError(t, many.Wait())
	return shoots
}

// order orders the Infrastructures of all at once, by gardenlet's component, and returns where to wait for them.
func (f fleet) order(t *testing.T, by *gardenlet.Gardenlet) *errgroup.Group {
	return f.each(t, func(ctx context.Context, shoot *gardenlet.Shoot) error {
		component := by.Infrastructure(shoot)
		if err := component.Deploy(ctx); err != nil {
			return err
		}
		return component.Wait(ctx)
	})
}

// destroy deletes the Infrastructures of all at once.
func (f fleet) destroy(t *testing.T, by *gardenlet.Gardenlet) *errgroup.Group {
	return f.each(t, func(ctx context.Context, shoot *gardenlet.Shoot) error {
		shoot.LastOperationType = gardencorev1beta1.LastOperationTypeDelete
		component := by.Infrastructure(shoot)
		if err := component.Destroy(ctx); err != nil {
			return err
		}
		return component.WaitCleanup(ctx)
	})
}

// forget removes the namespaces of all.
func (f fleet) forget(t *testing.T) {
	t.Helper()
	many, ctx := errgroup.WithContext(t.Context())
	for _, shoot := range f {
		many.Go(func() error { return shoot.Release(ctx) })
	}
	require.NoError(t, many.Wait())
}

func (f fleet) each(t *testing.T, do func(context.Context, *gardenlet.Shoot) error) *errgroup.Group {
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
