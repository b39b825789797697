package rig

import (
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// Shoot returns a shoot with everything that gardenlet prepares. Whatever the test leaves of it is out of the next
// controller's way afterwards.
func (w *World) Shoot(name string) *gardenlet.Shoot {
	w.T.Helper()
	shoot := openstack.NewShoot(name, w.Cloud, w.Account)
	w.Prepare(shoot)
	return shoot
}

// Config returns the configuration of a shoot that brings nothing of its own, changed.
func (w *World) Config(change func(*openstackv1alpha1.InfrastructureConfig)) *openstackv1alpha1.InfrastructureConfig {
	config := openstack.InfrastructureConfig(w.Cloud)
	change(config)
	return config
}

// Prepare prepares a shoot as gardenlet does, once for a test.
func (w *World) Prepare(shoot *gardenlet.Shoot) {
	w.T.Helper()
	w.Update(shoot)
	w.T.Cleanup(func() {
		if err := w.Discard(shoot); err != nil {
			w.T.Errorf("discarding shoot %s: %v", shoot.Name, err)
		}
	})
}

// Update brings what has changed of the shoot to the seed.
func (w *World) Update(shoot *gardenlet.Shoot) {
	w.T.Helper()
	require.NoError(w.T, w.Gardenlet.Prepare(w.T.Context(), shoot))
}

// Discard removes a shoot's Infrastructure from the seed without the controller's help.
func (w *World) Discard(shoot *gardenlet.Shoot) error {
	ctx, cancel := withinPatience()
	defer cancel()
	object, err := w.Gardenlet.Get(ctx, shoot)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	patch := client.MergeFrom(object.DeepCopy())
	object.Finalizers = nil
	if err := w.Seed.Client.Patch(ctx, object, patch); client.IgnoreNotFound(err) != nil {
		return err
	}
	return client.IgnoreNotFound(w.Seed.Client.Delete(ctx, object))
}

// Order asks for the shoot's Infrastructure as it is now described.
func (w *World) Order(shoot *gardenlet.Shoot) {
	w.T.Helper()
	require.NoError(w.T, w.Gardenlet.Infrastructure(shoot).Deploy(w.T.Context()))
}

// Fulfil orders the shoot's Infrastructure and waits for it, as gardenlet does.
func (w *World) Fulfil(shoot *gardenlet.Shoot) {
	w.T.Helper()
	component := w.Gardenlet.Infrastructure(shoot)
	require.NoError(w.T, component.Deploy(w.T.Context()))
	require.NoError(w.T, component.Wait(w.T.Context()))
}

// Fulfilled returns a new shoot whose Infrastructure is ready.
func (w *World) Fulfilled(name string) *gardenlet.Shoot {
	w.T.Helper()
	shoot := w.Shoot(name)
	w.Fulfil(shoot)
	return shoot
}

// FulfilAgain orders once more what was fulfilled before, as Gardener's next reconciliation would.
func (w *World) FulfilAgain(shoot *gardenlet.Shoot) {
	w.T.Helper()
	w.PassSecond(shoot)
	w.Fulfil(shoot)
}

// OrderDeletion asks for the deletion of the shoot's Infrastructure.
func (w *World) OrderDeletion(shoot *gardenlet.Shoot) {
	w.T.Helper()
	require.NoError(w.T, w.Gardenlet.Infrastructure(shoot).Destroy(w.T.Context()))
}

// WaitGone waits until the shoot's Infrastructure is gone, as gardenlet does.
func (w *World) WaitGone(shoot *gardenlet.Shoot) {
	w.T.Helper()
	require.NoError(w.T, w.Gardenlet.Infrastructure(shoot).WaitCleanup(w.T.Context()))
}

// Destroy deletes the shoot's Infrastructure and waits until it is gone, as gardenlet does.
func (w *World) Destroy(shoot *gardenlet.Shoot) {
	w.T.Helper()
	w.OrderDeletion(shoot)
	w.WaitGone(shoot)
}

// Get reads the shoot's Infrastructure.
func (w *World) Get(shoot *gardenlet.Shoot) *extensionsv1alpha1.Infrastructure {
	w.T.Helper()
	object, err := w.Gardenlet.Get(w.T.Context(), shoot)
	require.NoError(w.T, err)
	return object
}

// WaitFor waits until the shoot's Infrastructure satisfies a condition, and returns it.
func (w *World) WaitFor(shoot *gardenlet.Shoot, what string, satisfied func(*extensionsv1alpha1.Infrastructure) bool) *extensionsv1alpha1.Infrastructure {
	w.T.Helper()
	var object *extensionsv1alpha1.Infrastructure
	w.Eventually(what, func() bool {
		object = w.Get(shoot)
		return satisfied(object)
	})
	return object
}

// WaitForError waits until the shoot's Infrastructure reports an error, and returns it.
func (w *World) WaitForError(shoot *gardenlet.Shoot) *extensionsv1alpha1.Infrastructure {
	w.T.Helper()
	return w.WaitFor(shoot, "an error is reported", func(object *extensionsv1alpha1.Infrastructure) bool {
		return object.Status.LastError != nil
	})
}

// WaitHealthy waits until gardenlet would call the shoot's Infrastructure ready, without asking for anything.
func (w *World) WaitHealthy(shoot *gardenlet.Shoot) {
	w.T.Helper()
	w.WaitFor(shoot, "the Infrastructure is ready", func(object *extensionsv1alpha1.Infrastructure) bool {
		return health.CheckExtensionObject(object) == nil
	})
}

// PassSecond waits until the clock shows a later second than that of the last operation: Gardener compares the time of an
// order with that of an operation by whole seconds.
func (w *World) PassSecond(shoot *gardenlet.Shoot) {
	w.T.Helper()
	last := w.Get(shoot).Status.LastOperation.LastUpdateTime
	w.Eventually("the next second begins", func() bool { return time.Now().Truncate(time.Second).After(last.Time) })
}

// Writes returns what controllers have written in the shoot's namespace. It is complete when no controller runs.
func (w *World) Writes(shoot *gardenlet.Shoot) []audit.Write {
	w.T.Helper()
	writes, err := w.Seed.Writes(shoot.Namespace())
	require.NoError(w.T, err)
	return writes
}
