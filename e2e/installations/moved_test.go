package installations

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// testMoved changes the type of the controllers that a shoot needs to gardenlet's and back. None of their objects changes, and gardenlet renders the
// same objects from the same charts.
func testMoved(t *testing.T, env *environment) {
	for _, s := range env.sitesWithGardenlet() {
		require.NoError(t, client.IgnoreAlreadyExists(s.Client.Create(t.Context(), infrastructure())))
	}
	t.Run("Each", func(t *testing.T) {
		for _, each := range trellis() {
			t.Run(each.name, func(t *testing.T) {
				t.Parallel()
				env.moveToHelmAndBack(t, each)
			})
		}
	})
	for _, s := range env.sitesWithGardenlet() {
		env.extensionsReady(t, s.name)
	}
}

func (env *environment) moveToHelmAndBack(t *testing.T, each needed) {
	t.Helper()
	want, names := map[string]installedObjects{}, map[string]string{}
	for _, s := range env.sitesWithGardenlet() {
		installation := env.inUse(t, s.name, each.name)
		want[s.name], names[s.name] = installedObjectsOf(t, s, installation), installation.Name
	}
	env.assertTakenOver(t, each.helm(t), want, helmsFinalizer)
	for _, s := range env.sitesWithGardenlet() {
		env.inUse(t, s.name, each.name)
	}
	env.assertTakenOver(t, each.registration(t, env), want, ourFinalizer)
	for _, s := range env.sitesWithGardenlet() {
		installation := env.inUse(t, s.name, each.name)
		assert.Equal(t, names[s.name], installation.Name)
		assert.Empty(t, cmp.Diff(want[s.name], installedObjectsOf(t, s, installation)))
	}
}

// testMovedWithoutOperator changes types while no operator runs, and deletes the installations at once. Each controller removes its finalizer from a
// deleted installation, whatever the type was.
func testMovedWithoutOperator(t *testing.T, env *environment) {
	toHelm, toTrellis := everywhere("to-helm", forMovedWithoutOperator), everywhere("to-ours", forMovedWithoutOperator)
	helm, byTrellis := map[string]garden.Registration{}, map[string]garden.Registration{}
	for _, registration := range []garden.Registration{toHelm, toTrellis} {
		registration.Chart = workloadChart(t)
		helm[registration.Name] = registration
		registration.Custom = custom(t, withChart(t))
		byTrellis[registration.Name] = registration
	}
	require.NoError(t, env.Register(t.Context(), byTrellis[toHelm.Name]))
	require.NoError(t, env.Register(t.Context(), helm[toTrellis.Name]))
	installations, left := map[string][]*gardencorev1beta1.ControllerInstallation{}, map[string][]client.Object{}
	for _, s := range env.sitesWithGardenlet() {
		for name, finalizer := range map[string]string{toHelm.Name: ourFinalizer, toTrellis.Name: helmsFinalizer} {
			installation := env.waitForFinalizer(t, s, name, finalizer)
			installations[s.name] = append(installations[s.name], installation)
			// A Secret that is removed by another controller than the one that created or replaced it is collected later.
			left[s.name] = append(left[s.name], namespaceOf(installation), managedResourceOf(installation))
		}
		env.end(t, s.mode)
	}
	require.NoError(t, env.Deploy(t.Context(), helm[toHelm.Name]))
	require.NoError(t, env.Deploy(t.Context(), byTrellis[toTrellis.Name]))
	for name := range helm {
		require.NoError(t, env.Client.Delete(t.Context(), controllerRegistration(name))) // nobody requests another installation
	}
	for _, s := range env.sitesWithGardenlet() {
		for _, installation := range installations[s.name] {
			require.NoError(t, env.Client.Delete(t.Context(), installation))
		}
		env.start(t, s.mode)
	}
	for _, s := range env.sitesWithGardenlet() {
		for _, installation := range installations[s.name] {
			env.gone(t, installation)
		}
		assertGone(t, s, left[s.name])
	}
	for name := range helm {
		env.deleteDeployment(t, name)
	}
}
