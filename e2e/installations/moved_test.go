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

// testMoved hands the controllers that a shoot needs over to gardenlet and back. Nothing of them is touched, and what gardenlet makes of the same
// charts is what the operator made of them.
func testMoved(t *testing.T, g *ground) {
	for _, s := range g.served() {
		require.NoError(t, client.IgnoreAlreadyExists(s.Client.Create(t.Context(), infrastructure())))
	}
	t.Run("Each", func(t *testing.T) {
		for _, each := range trellis() {
			t.Run(each.name, func(t *testing.T) {
				t.Parallel()
				g.moveThereAndBack(t, each)
			})
		}
	})
	for _, s := range g.served() {
		g.extensionsReady(t, s.name)
	}
}

func (g *ground) moveThereAndBack(t *testing.T, each needed) {
	t.Helper()
	want, names := map[string]picture{}, map[string]string{}
	for _, s := range g.served() {
		installation := g.inUse(t, s.name, each.name)
		want[s.name], names[s.name] = pictureOf(t, s, installation), installation.Name
	}
	g.assertTakenOver(t, each.helm(t), want, helmsFinalizer)
	for _, s := range g.served() {
		g.inUse(t, s.name, each.name)
	}
	g.assertTakenOver(t, each.registration(t, g), want, ourFinalizer)
	for _, s := range g.served() {
		installation := g.inUse(t, s.name, each.name)
		assert.Equal(t, names[s.name], installation.Name)
		assert.Empty(t, cmp.Diff(want[s.name], pictureOf(t, s, installation)))
	}
}

// testForsaken changes types while no operator is there, and deletes the installations at once. Whoever comes to an installation that goes lets it go,
// whosever it was.
func testForsaken(t *testing.T, g *ground) {
	toHelm, toOurs := everywhere("to-helm", forForsaken), everywhere("to-ours", forForsaken)
	helm, ours := map[string]garden.Registration{}, map[string]garden.Registration{}
	for _, registration := range []garden.Registration{toHelm, toOurs} {
		registration.Chart = workloadChart(t)
		helm[registration.Name] = registration
		registration.Custom = custom(t, withChart(t))
		ours[registration.Name] = registration
	}
	require.NoError(t, g.Register(t.Context(), ours[toHelm.Name]))
	require.NoError(t, g.Register(t.Context(), helm[toOurs.Name]))
	installations, left := map[string][]*gardencorev1beta1.ControllerInstallation{}, map[string][]client.Object{}
	for _, s := range g.served() {
		for name, finalizer := range map[string]string{toHelm.Name: ourFinalizer, toOurs.Name: helmsFinalizer} {
			installation := g.servedWith(t, s, name, finalizer)
			installations[s.name] = append(installations[s.name], installation)
			// A Secret that is removed by neither who made it nor who replaced it is collected later.
			left[s.name] = append(left[s.name], namespaceOf(installation), managedResourceOf(installation))
		}
		g.end(t, s.mode)
	}
	require.NoError(t, g.Deploy(t.Context(), helm[toHelm.Name]))
	require.NoError(t, g.Deploy(t.Context(), ours[toOurs.Name]))
	for name := range helm {
		require.NoError(t, g.Client.Delete(t.Context(), controllerRegistration(name))) // nobody requests another installation
	}
	for _, s := range g.served() {
		for _, installation := range installations[s.name] {
			require.NoError(t, g.Client.Delete(t.Context(), installation))
		}
		g.start(t, s.mode)
	}
	for _, s := range g.served() {
		for _, installation := range installations[s.name] {
			g.gone(t, installation)
		}
		assertGone(t, s, left[s.name])
	}
	for name := range helm {
		g.forget(t, name)
	}
}
