package calico

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract/images"
)

// What shoots of the matrix ask for is in the image vector, and nothing else is.
func TestImageVector(t *testing.T) {
	vector, err := images.Read(ImageVector())
	require.NoError(t, err)
	inVector, asked := map[string]bool{}, map[string]bool{}
	for _, source := range vector {
		inVector[source.Name] = true
		assert.NotNil(t, source.Tag, source.Name)
	}
	for _, each := range matrix(t) {
		if refusal(each.shoot) != "" {
			continue
		}
		lookUp := each.shoot.Image
		each.shoot.Image = func(name string) (string, error) {
			asked[name] = true
			return lookUp(name)
		}
		decided, err := decide(each.shoot)
		require.NoError(t, err)
		_, err = decided.settings.componentObjects()
		require.NoError(t, err, each.sentence)
	}
	assert.Equal(t, slices.Sorted(maps.Keys(inVector)), slices.Sorted(maps.Keys(asked)))
}
