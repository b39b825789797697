//go:build kind

package kind

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
)

// needs is the Shoot in the garden that needs our controllers in the seed.
const needs = "needs"

// TestRemoval removes two controllers, one after the other, and installs them again.
func TestRemoval(t *testing.T) {
	env := getEnvironment(t)
	shoot := env.newShoot(t, "last")
	require.NoError(t, shoot.RequestNetwork(t.Context()))
	require.NoError(t, shoot.AwaitNetwork(t.Context()))
	settled := env.takeSnapshot(t)
	network, worker := env.ownedObjects(t, networkController), env.ownedObjects(t, workerController)
	others := []ownedObjects{env.ownedObjects(t, infrastructureController), env.ownedObjects(t, "controlplane-controller")}

	removed := env.removeWhileInUse(t, shoot)
	network.requireOnlyThese(t, settled.outside(shoot.Namespace()), env.takeSnapshot(t).outside(shoot.Namespace()), append(others, worker)...)

	before := env.takeSnapshot(t)
	removed = append(removed, env.removeRequiredBySeed(t)...)
	worker.requireOnlyThese(t, before, env.takeSnapshot(t), others...)
	deployment := machineControllerManager(shoot)
	require.NoError(t, env.Client.Create(t.Context(), deployment, client.DryRunAll), "a webhook of nobody is in nobody's way")
	require.Error(t, requireSidecar(deployment))

	env.awaitUnregistered(t, removed)
	for _, object := range slices.Backward(removed) { // what a registration refers to comes first
		eventually(t, fmt.Sprintf("%T %s can be created", object, object.GetName()), func() bool {
			err := env.Garden.Client.Create(t.Context(), object)
			require.True(t, err == nil || apierrors.IsForbidden(err), "%v", err)
			return err == nil
		})
	}
	_, err := env.Garden.CreateShoot(t.Context(), garden.ShootOptions{Name: needs, Seed: kindseed.SeedName})
	require.NoError(t, err)
	eventually(t, "the network-controller is needed again", func() bool {
		installation, err := env.Installation(t.Context(), networkController)
		require.NoError(t, err)
		return installation != nil
	})
	for _, binary := range controllers() {
		require.NoError(t, env.AwaitInstalled(t.Context(), binary))
	}
	env.requireRestored(t, settled, network, worker)
	require.NoError(t, shoot.Release(t.Context()))
}

// removeWhileInUse deletes the registration of network-controller, which no shoot in the garden needs any more, while there is a Network in the
// seed: the controller stays until the Network is deleted.
func (env *environment) removeWhileInUse(t *testing.T, shoot *kindseed.Shoot) []client.Object {
	t.Helper()
	gone := env.ownedObjects(t, networkController)
	env.awaitRequired(t, networkController)
	require.NoError(t, env.Garden.DeleteShoot(t.Context(), needs))
	unregistered := env.unregister(t, networkController)

	require.NoError(t, shoot.RequestNetwork(t.Context()))
	require.NoError(t, shoot.AwaitNetwork(t.Context()))
	for _, object := range unregistered {
		now := object.DeepCopyObject().(client.Object)
		require.NoError(t, env.Garden.Client.Get(t.Context(), client.ObjectKeyFromObject(object), now))
		assert.NotNil(t, now.GetDeletionTimestamp(), "%T waits for the installation to go", now)
	}
	installation, err := env.Installation(t.Context(), networkController)
	require.NoError(t, err)
	require.NotNil(t, installation)
	assert.Nil(t, installation.DeletionTimestamp, "there is still a Network")
	assert.Len(t, env.readyPods(t, networkController), 2)

	require.NoError(t, shoot.DestroyNetwork(t.Context()))
	env.awaitGone(t, gone)
	return unregistered
}

// removeRequiredBySeed removes worker-controller. A Seed always needs one for its own type, so Gardener keeps it: an admin who replaces it deletes the
// registration, which keeps Gardener from installing it again, and the installation.
func (env *environment) removeRequiredBySeed(t *testing.T) []client.Object {
	t.Helper()
	gone := env.ownedObjects(t, workerController)
	unregistered := env.unregister(t, workerController)
	installation, err := env.Installation(t.Context(), workerController)
	require.NoError(t, err)
	require.NotNil(t, installation)
	require.Nil(t, installation.DeletionTimestamp)
	require.NoError(t, env.Garden.Client.Delete(t.Context(), installation))
	env.awaitGone(t, gone)
	return unregistered
}

// requireRestored requires that reinstalled controllers are the same as before.
func (env *environment) requireRestored(t *testing.T, before snapshot, those ...ownedObjects) {
	t.Helper()
	for _, was := range those {
		is := env.ownedObjects(t, was.binary)
		assert.NotEqual(t, was.installation, is.installation)
		env.awaitKept(t, is, was.kept(before))
	}
}

// awaitKept waits until an installation has the objects of an earlier one: webhooks are registered a moment after a controller is ready.
func (env *environment) awaitKept(t *testing.T, of ownedObjects, want []string) {
	t.Helper()
	var got []string
	defer func() { assert.Equal(t, want, got) }()
	eventually(t, of.binary+" is restored", func() bool {
		got = of.kept(env.takeSnapshot(t))
		return slices.Equal(want, got)
	})
}

// awaitRequired waits until gardenlet reports a controller as required.
func (env *environment) awaitRequired(t *testing.T, binary string) {
	t.Helper()
	eventually(t, binary+" is required", func() bool { return env.condition(t, binary, gardencorev1beta1.ControllerInstallationRequired) })
}

func (env *environment) condition(t *testing.T, binary string, kind gardencorev1beta1.ConditionType) bool {
	t.Helper()
	installation, err := env.Installation(t.Context(), binary)
	require.NoError(t, err)
	require.NotNil(t, installation, "%s is not installed", binary)
	condition := v1beta1helper.GetCondition(installation.Status.Conditions, kind)
	return condition != nil && condition.Status == gardencorev1beta1.ConditionTrue
}

// awaitGone waits until all objects of an installation are gone, in the garden and in the seed.
func (env *environment) awaitGone(t *testing.T, gone ownedObjects) {
	t.Helper()
	start := time.Now()
	var left snapshot
	defer func() {
		if t.Failed() {
			t.Logf("of %s there is still %s", gone.binary, summary(left.without(nil)))
		}
	}()
	eventually(t, gone.binary+" has gone", func() bool {
		installation, err := env.Installation(t.Context(), gone.binary)
		require.NoError(t, err)
		if installation != nil {
			return false
		}
		left = gone.of(env.takeSnapshot(t))
		return len(left) == 0
	})
	t.Logf("%s was gone after %s", gone.binary, time.Since(start).Round(time.Millisecond))
}

// unregister deletes a controller's registration and its deployment, and returns them.
func (env *environment) unregister(t *testing.T, binary string) []client.Object {
	t.Helper()
	name := metav1.ObjectMeta{Name: kindseed.RegistrationName(binary)}
	objects := []client.Object{&gardencorev1beta1.ControllerRegistration{ObjectMeta: name}, &gardencorev1.ControllerDeployment{ObjectMeta: name}}
	for _, object := range objects {
		require.NoError(t, env.Garden.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		require.NoError(t, env.Garden.Client.Delete(t.Context(), object))
		object.SetResourceVersion("")
		object.SetUID("")
		object.SetFinalizers(nil)
	}
	return objects
}

// awaitUnregistered waits until deleted registrations are gone. Gardener retries with growing pauses; an update makes it retry at once.
func (env *environment) awaitUnregistered(t *testing.T, unregistered []client.Object) {
	t.Helper()
	patch := []byte(`{"metadata":{"annotations":{"look":"now"}}}`)
	for _, object := range unregistered {
		now := object.DeepCopyObject().(client.Object)
		err := env.Garden.Client.Patch(t.Context(), now, client.RawPatch(types.MergePatchType, patch))
		require.NoError(t, client.IgnoreNotFound(err))
		eventually(t, fmt.Sprintf("%T %s has gone", object, object.GetName()), func() bool {
			err := env.Garden.Client.Get(t.Context(), client.ObjectKeyFromObject(object), now)
			require.NoError(t, client.IgnoreNotFound(err))
			return err != nil
		})
	}
}
