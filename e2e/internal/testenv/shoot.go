package testenv

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// Shoot returns a shoot with all that gardenlet prepares. What the test leaves of it is removed from the seed at the end.
func (env *Env) Shoot(name string) *gardenlet.Shoot {
	env.T.Helper()
	shoot := env.Account.NewShoot(name)
	env.Prepare(shoot)
	return shoot
}

// Config returns the configuration for OpenStack of a shoot without existing resources, with changes.
func (env *Env) Config(change func(*openstackv1alpha1.InfrastructureConfig)) *openstackv1alpha1.InfrastructureConfig {
	config := openstack.InfrastructureConfig(env.OpenStack())
	change(config)
	return config
}

// Prepare prepares a shoot as gardenlet does, once for a test.
func (env *Env) Prepare(shoot *gardenlet.Shoot) {
	env.T.Helper()
	env.Update(shoot)
	env.T.Cleanup(func() {
		if err := env.Discard(shoot); err != nil {
			env.T.Errorf("discarding shoot %s: %v", shoot.Name, err)
		}
	})
}

// Update writes the changed objects of the shoot to the seed.
func (env *Env) Update(shoot *gardenlet.Shoot) {
	env.T.Helper()
	require.NoError(env.T, env.Gardenlet.Prepare(env.T.Context(), shoot))
}

// Discard removes a shoot's Infrastructure from the seed without the controller.
func (env *Env) Discard(shoot *gardenlet.Shoot) error {
	ctx, cancel := timeoutContext()
	defer cancel()
	object, err := env.Gardenlet.Get(ctx, shoot)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	patch := client.MergeFrom(object.DeepCopy())
	object.Finalizers = nil
	if err := env.Seed.Client.Patch(ctx, object, patch); client.IgnoreNotFound(err) != nil {
		return err
	}
	return client.IgnoreNotFound(env.Seed.Client.Delete(ctx, object))
}

// RequestReconcile requests a reconciliation of the shoot's Infrastructure with its present description.
func (env *Env) RequestReconcile(shoot *gardenlet.Shoot) {
	env.T.Helper()
	require.NoError(env.T, env.Gardenlet.Infrastructure(shoot).Deploy(env.T.Context()))
}

// Reconcile reconciles the shoot's Infrastructure and waits for it, as gardenlet does.
func (env *Env) Reconcile(shoot *gardenlet.Shoot) {
	env.T.Helper()
	component := env.Gardenlet.Infrastructure(shoot)
	require.NoError(env.T, component.Deploy(env.T.Context()))
	require.NoError(env.T, component.Wait(env.T.Context()))
}

// NewReconciledShoot returns a new shoot whose Infrastructure is ready.
func (env *Env) NewReconciledShoot(name string) *gardenlet.Shoot {
	env.T.Helper()
	shoot := env.Shoot(name)
	env.Reconcile(shoot)
	return shoot
}

// ReconcileAgain reconciles once more without changes, as Gardener's next reconciliation would.
func (env *Env) ReconcileAgain(shoot *gardenlet.Shoot) {
	env.T.Helper()
	env.WaitNextSecond(shoot)
	env.Reconcile(shoot)
}

// ReconcileOnRequest reconciles once more without changes, because the shoot's owner has requested it.
func (env *Env) ReconcileOnRequest(shoot *gardenlet.Shoot) {
	env.T.Helper()
	shoot.Requests++
	env.Update(shoot)
	env.ReconcileAgain(shoot)
}

// RequestDeletion deletes the shoot's Infrastructure without waiting.
func (env *Env) RequestDeletion(shoot *gardenlet.Shoot) {
	env.T.Helper()
	require.NoError(env.T, env.Gardenlet.Infrastructure(shoot).Destroy(env.T.Context()))
}

// WaitGone waits until the shoot's Infrastructure is gone, as gardenlet does.
func (env *Env) WaitGone(shoot *gardenlet.Shoot) {
	env.T.Helper()
	require.NoError(env.T, env.Gardenlet.Infrastructure(shoot).WaitCleanup(env.T.Context()))
}

// Destroy deletes the shoot's Infrastructure and waits until it is gone, as gardenlet does.
func (env *Env) Destroy(shoot *gardenlet.Shoot) {
	env.T.Helper()
	env.RequestDeletion(shoot)
	env.WaitGone(shoot)
}

// Get reads the shoot's Infrastructure.
func (env *Env) Get(shoot *gardenlet.Shoot) *extensionsv1alpha1.Infrastructure {
	env.T.Helper()
	object, err := env.Gardenlet.Get(env.T.Context(), shoot)
	require.NoError(env.T, err)
	return object
}

// WaitFor waits until the shoot's Infrastructure satisfies a condition, and returns it.
func (env *Env) WaitFor(shoot *gardenlet.Shoot, what string, satisfied func(*extensionsv1alpha1.Infrastructure) bool) *extensionsv1alpha1.Infrastructure {
	env.T.Helper()
	var object *extensionsv1alpha1.Infrastructure
	env.Eventually(what, func() bool {
		object = env.Get(shoot)
		return satisfied(object)
	})
	return object
}

// WaitForError waits until the shoot's Infrastructure reports an error, and returns it.
func (env *Env) WaitForError(shoot *gardenlet.Shoot) *extensionsv1alpha1.Infrastructure {
	env.T.Helper()
	return env.WaitFor(shoot, "an error is reported", func(object *extensionsv1alpha1.Infrastructure) bool {
		return object.Status.LastError != nil
	})
}

// WaitHealthy waits until gardenlet considers the shoot's Infrastructure ready, without a request.
func (env *Env) WaitHealthy(shoot *gardenlet.Shoot) {
	env.T.Helper()
	env.WaitFor(shoot, "the Infrastructure is ready", func(object *extensionsv1alpha1.Infrastructure) bool {
		return health.CheckExtensionObject(object) == nil
	})
}

// WaitNextSecond waits for the second after the last operation.
func (env *Env) WaitNextSecond(shoot *gardenlet.Shoot) {
	env.T.Helper()
	gardenlet.AwaitNextSecond(env.Get(shoot).Status.LastOperation.LastUpdateTime.Time)
}

// Writes returns the writes of controllers in the shoot's namespace. It is complete once no controller runs.
func (env *Env) Writes(shoot *gardenlet.Shoot) []audit.Write {
	env.T.Helper()
	writes, err := env.Seed.Writes(shoot.Namespace())
	require.NoError(env.T, err)
	return writes
}
