package installations

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
		require.NoError(t, s.Client.Delete(t.Context(), infrastructure()))
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
