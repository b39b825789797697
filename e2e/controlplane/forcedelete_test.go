package controlplane

import (
	"slices"
	"strings"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

// testForceDelete deletes the ControlPlane of a shoot that is dead. What would be for the shoot's gardener-resource-manager to do
// is ordered, and left to Gardener, which knows that there is none.
func testForceDelete(t *testing.T, w *world) {
	there := w.look(t)
	w.seed.StopShootManager(w.Shoot)
	require.NoError(t, w.Cluster.Sleep())

	w.Shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	require.NoError(t, w.seed.Gardenlet.Prepare(t.Context(), w.Shoot))
	w.destroy(t)
	w.stopController(t)
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: resourceSeed}}
	groundtest.Eventually(t, "the seed has got rid of its part", func() bool { return !w.get(t, resource) })
	require.NoError(t, w.Cluster.Wake(t.Context()))
	left := w.look(t)
	assert.Empty(t, groundtest.OfShoot(left.LostSince(there)), "nobody was there to take anything away")
	inShoot := []string{resourceShoot, resourceShootCRDs, resourceStorageClasses}
	for _, name := range groundtest.OfSeed(left.Since(w.untouched)) {
		isLeftToGardener := slices.ContainsFunc(inShoot, func(resource string) bool { return strings.Contains(name, resource) })
		assert.True(t, isLeftToGardener && left[name].DeletionTimestamp != nil, name)
	}
}
