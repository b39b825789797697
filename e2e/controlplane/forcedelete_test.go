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

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testForceDelete deletes the ControlPlane of a shoot whose cluster does not run. ManagedResources are deleted without waiting for the shoot's
// gardener-resource-manager, and Gardener does the rest.
func testForceDelete(t *testing.T, env *environment) {
	there := env.snapshot(t)
	env.seed.StopShootManager(env.Shoot)
	require.NoError(t, env.Cluster.Hibernate())

	env.Shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))
	env.destroy(t)
	env.stopController(t)
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: resourceSeed}}
	clusterstest.Eventually(t, "the seed has got rid of its part", func() bool { return !env.get(t, resource) })
	require.NoError(t, env.Cluster.WakeUp(t.Context()))
	left := env.snapshot(t)
	assert.Empty(t, clusterstest.InShoot(left.RemovedSince(there)), "nobody was there to take anything away")
	inShoot := []string{resourceShoot, resourceShootCRDs, resourceStorageClasses}
	for _, name := range clusterstest.InSeed(left.AddedSince(env.initial)) {
		isLeftToGardener := slices.ContainsFunc(inShoot, func(resource string) bool { return strings.Contains(name, resource) })
		assert.True(t, isLeftToGardener && left[name].DeletionTimestamp != nil, name)
	}
}
