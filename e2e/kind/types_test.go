//go:build kind

package kind

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/example"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
)

const (
	// The versions of the infrastructure-controller with the example provider.
	firstExampleVersion  = "v0.1.1-example"
	secondExampleVersion = "v0.1.2-example"

	// exampleController is the name of a registration of the infrastructure-controller for type example alone.
	exampleController = "infrastructure-example"
)

// TestTypes_OneOrSeveralRegistrations registers a binary with two types first in one registration, and then in two on the same seed: each serves its
// own type, is scaled and upgraded alone, and touches no object of the other.
func TestTypes_OneOrSeveralRegistrations(t *testing.T) {
	env := getEnvironment(t)
	for _, version := range []string{firstExampleVersion, secondExampleVersion} {
		require.NoError(t, env.BuildExample(t.Context(), version, infrastructureController))
	}
	assertUnchanged := env.othersUnchanged(t, infrastructureController)
	env.keepDeployment(t, infrastructureController)
	onOpenStack := env.newShoot(t, "types")
	onExample := env.Example.Account().NewShoot("types-example")
	require.NoError(t, env.Gardenlet.Prepare(t.Context(), onExample))

	env.serveBothTypes(t)
	require.NoError(t, onOpenStack.ReconcileInfrastructure(t.Context()))
	env.reconcileExample(t, onExample)
	writers := []string{env.statusWriter(t, onOpenStack.Namespace()), env.statusWriter(t, onExample.Namespace())}
	assert.Equal(t, writers[0], writers[1], "one installation serves both types")

	env.splitTypes(t)
	require.NoError(t, onOpenStack.ReconcileInfrastructure(t.Context()))
	env.reconcileExample(t, onExample)
	env.assertSeparate(t, onOpenStack.Namespace(), onExample.Namespace())
	env.operateAlone(t, infrastructureController, exampleController)
	env.operateAlone(t, exampleController, infrastructureController)

	component := env.Gardenlet.Infrastructure(onExample)
	require.NoError(t, component.Destroy(t.Context()))
	require.NoError(t, component.WaitCleanup(t.Context()))
	require.NoError(t, env.Example.Account().Remove(t.Context()))
	env.assertSeparate(t, onOpenStack.Namespace(), onExample.Namespace())
	require.NoError(t, env.Gardenlet.Cleanup(t.Context(), onExample))
	env.deleteShoots(t, onOpenStack)
	gone := env.ownedObjects(t, exampleController)
	require.NoError(t, env.unregisterExample(t.Context()))
	env.awaitUninstalled(t, gone)
	assertUnchanged()
}

// serveBothTypes gives type example to the registration of the infrastructure-controller.
func (env *environment) serveBothTypes(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { assert.NoError(t, env.setTypes(context.WithoutCancel(t.Context()), "openstack", "aws")) })
	require.NoError(t, env.setTypes(t.Context(), "openstack", example.Type))
	env.setChart(t, infrastructureController, firstExampleVersion, "openstack", example.Type)
}

// splitTypes takes type example from the registration of the infrastructure-controller, and registers the binary again for that type alone. There is
// never a moment with two primaries, which Gardener refuses.
func (env *environment) splitTypes(t *testing.T) {
	t.Helper()
	env.setChart(t, infrastructureController, firstExampleVersion, "openstack")
	require.NoError(t, env.setTypes(t.Context(), "openstack"))
	values := env.valuesOf(t, infrastructureController)
	values["types"] = []string{example.Type}
	chart, err := example.Chart(infrastructureController, firstExampleVersion, example.Type)
	require.NoError(t, err)
	require.NoError(t, env.Garden.Register(t.Context(), garden.Registration{
		Name: exampleController, Resources: garden.Primary(example.Type, "Infrastructure"), Chart: chart, Values: values,
		Policy: gardencorev1beta1.ControllerDeploymentPolicyAlways,
	}))
	t.Cleanup(func() { assert.NoError(t, env.unregisterExample(context.WithoutCancel(t.Context()))) })
	require.NoError(t, env.AwaitInstalled(t.Context(), exampleController))
}

// setTypes changes the types of the registration of the infrastructure-controller.
func (env *environment) setTypes(ctx context.Context, types ...string) error {
	registration := &gardencorev1beta1.ControllerRegistration{
		ObjectMeta: metav1.ObjectMeta{Name: kindseed.RegistrationName(infrastructureController)},
	}
	if err := env.Garden.Client.Get(ctx, client.ObjectKeyFromObject(registration), registration); err != nil {
		return err
	}
	before := registration.DeepCopy()
	registration.Spec.Resources = nil
	for _, each := range types {
		resource := before.Spec.Resources[0]
		resource.Type = each
		registration.Spec.Resources = append(registration.Spec.Resources, resource)
	}
	return env.Garden.Client.Patch(ctx, registration, client.MergeFrom(before))
}

// setChart changes chart and types of a controller, and waits until it is rolled out.
func (env *environment) setChart(t *testing.T, name, version string, types ...string) {
	t.Helper()
	chart, err := example.Chart(infrastructureController, version, example.Type)
	require.NoError(t, err)
	values := env.valuesOf(t, name)
	values["types"] = types
	raw, err := json.Marshal(values)
	require.NoError(t, err)
	require.NoError(t, env.ChangeDeployment(t.Context(), name, func(helm *gardencorev1.HelmControllerDeployment) error {
		helm.RawChart, helm.Values = chart, &apiextensionsv1.JSON{Raw: raw}
		return nil
	}))
	require.NoError(t, env.rolledOut(t.Context(), name, func(d *appsv1.Deployment) bool {
		return strings.HasSuffix(image(d), ":"+version) && slices.Contains(d.Spec.Template.Spec.Containers[0].Args, "--types="+strings.Join(types, ","))
	}))
}

func (env *environment) valuesOf(t *testing.T, name string) map[string]any {
	t.Helper()
	values := map[string]any{}
	require.NoError(t, env.ChangeDeployment(t.Context(), name, func(helm *gardencorev1.HelmControllerDeployment) error {
		return json.Unmarshal(helm.Values.Raw, &values)
	}))
	return values
}

// reconcileExample reconciles the Infrastructure of a shoot of type example, as gardenlet does.
func (env *environment) reconcileExample(t *testing.T, shoot *gardenlet.Shoot) {
	t.Helper()
	component := env.Gardenlet.Infrastructure(shoot)
	require.NoError(t, component.Deploy(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	names, err := env.Example.Names(t.Context(), string(shoot.UID))
	require.NoError(t, err)
	assert.Len(t, names, 2, "a network and a subnet")
}

// statusWriter returns the ServiceAccount that has last written the status of the Infrastructure in a namespace.
func (env *environment) statusWriter(t *testing.T, namespace string) string {
	t.Helper()
	writes, err := env.Audit().WritesOf("")
	require.NoError(t, err)
	for _, write := range slices.Backward(writes) {
		if write.Namespace == namespace && write.Resource == "infrastructures/status" && strings.HasPrefix(write.User, "system:serviceaccount:extension-") {
			return write.User
		}
	}
	require.FailNow(t, "nobody has written the status of the Infrastructure in "+namespace)
	return ""
}

// assertSeparate asserts that each installation has written in the namespace of its shoot only, since both are there, and that no write was forbidden.
// Conflicts are the replicas' own: they compete for the Lease of their leader.
func (env *environment) assertSeparate(t *testing.T, openStackNamespace, exampleNamespace string) {
	t.Helper()
	assert.Equal(t, audit.UserOf(env.namespace(t, infrastructureController), kindseed.ObjectName(infrastructureController)), env.statusWriter(t, openStackNamespace))
	user := audit.UserOf(env.namespace(t, exampleController), kindseed.ObjectName(exampleController))
	assert.Equal(t, user, env.statusWriter(t, exampleNamespace))
	writes, err := env.Audit().WritesOf(user)
	require.NoError(t, err)
	require.NotEmpty(t, writes)
	for _, write := range writes {
		assert.Contains(t, []string{exampleNamespace, env.namespace(t, exampleController), ""}, write.Namespace, write.String())
		assert.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, write.Code, write.String())
	}
}

// operateAlone scales and upgrades one installation, and reverts that, while the other one does not change.
func (env *environment) operateAlone(t *testing.T, name, other string) {
	t.Helper()
	before := env.settledState(t, other)
	types := []string{"openstack"}
	if name == exampleController {
		types = []string{example.Type}
	}
	env.scale(t, name, 3)
	env.setChart(t, name, secondExampleVersion, types...)
	env.setChart(t, name, firstExampleVersion, types...)
	env.scale(t, name, 2)
	assert.Equal(t, before, env.installedState(t, other), "what is done with %s does not change %s", name, other)
}

// settledState is the state of an installation once an earlier change of it has ended: pods that were replaced are gone, and gardenlet says that it does
// not progress.
func (env *environment) settledState(t *testing.T, name string) installedState {
	t.Helper()
	var state installedState
	eventually(t, name+" does not change any more", func() bool {
		state = env.installedState(t, name)
		deployment, err := env.Deployment(t.Context(), name)
		require.NoError(t, err)
		return len(state.Pods) == int(*deployment.Spec.Replicas) && !state.NotInProgress.IsZero()
	})
	return state
}

// awaitUninstalled waits until an upgraded installation is gone. Gardener's garbage collector removes the Secrets with earlier charts hours later.
func (env *environment) awaitUninstalled(t *testing.T, gone ownedObjects) {
	t.Helper()
	var left []string
	defer func() { assert.Empty(t, left) }()
	eventually(t, gone.binary+" is uninstalled", func() bool {
		left = nil
		for object := range gone.of(env.takeSnapshot(t)) {
			if object.Resource != "secrets" || object.Namespace != v1beta1constants.GardenNamespace {
				left = append(left, object.String())
			}
		}
		installation, err := env.Installation(t.Context(), gone.binary)
		require.NoError(t, err)
		return installation == nil && len(left) == 0
	})
}

// unregisterExample deletes the registration for type example, if there is one.
func (env *environment) unregisterExample(ctx context.Context) error {
	name := metav1.ObjectMeta{Name: exampleController}
	for _, object := range []client.Object{&gardencorev1beta1.ControllerRegistration{ObjectMeta: name}, &gardencorev1.ControllerDeployment{ObjectMeta: name}} {
		if err := env.Garden.Client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
