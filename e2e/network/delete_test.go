package network

import (
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

const (
	groupOfMultus = "k8s.cni.cncf.io"
	kindOfMultus  = "/network-attachment-definitions." + groupOfMultus
)

// testDelete deletes the Network while there are nodes, also when the controller ends by force in the middle.
func testDelete(t *testing.T, w *world) {
	w.seed.StopShootManager(w.Shoot)
	component := w.component(t)
	require.NoError(t, component.Destroy(t.Context()))
	groundtest.Eventually(t, "it is said what is waited for", func() bool {
		last := w.object(t).Status.LastOperation
		return last.Type == gardencorev1beta1.LastOperationTypeDelete && strings.Contains(last.Description, resourceShoot+" is not gone yet")
	})
	w.killController()
	w.startController(t)
	require.NoError(t, w.seed.StartShootManager(t.Context(), w.Shoot, w.Cluster))
	require.NoError(t, component.WaitCleanup(t.Context()))
	w.stopController(t)
	w.assertNothingLeft(t)
	w.removeNodes(t)
}

// testDeleteHalfMade deletes Networks that did not come into being: the controller has ended by force, or would not have it.
func testDeleteHalfMade(t *testing.T, w *world) {
	w.startController(t)
	w.Shoot.NetworkConfig, w.Shoot.LastOperationType = nil, gardencorev1beta1.LastOperationTypeCreate
	w.order(t)
	groundtest.Eventually(t, "there is a part of it", func() bool {
		return w.get(t, managedResource(resourceShoot)) || w.get(t, managedResource(resourceSeed))
	})
	w.killController()
	// What gardener-resource-manager has applied, but not reported yet when its ManagedResource is deleted, it forgets about.
	groundtest.Eventually(t, "the parts that there are have been reported on", func() bool {
		return w.isReported(t, resourceShoot) && w.isReported(t, resourceSeed)
	})
	w.startController(t)
	w.destroy(t)
	w.assertNothingLeft(t)

	w.configure(map[string]any{"backend": "carrier pigeons"})
	w.assertRefused(t)
	w.destroy(t)
	w.stopController(t)
	w.assertNothingLeft(t)
	w.Shoot.NetworkConfig = nil
}

// isReported reports whether a ManagedResource has been reported on, or is not there.
func (w *world) isReported(t *testing.T, name string) bool {
	t.Helper()
	resource := managedResource(name)
	return !w.get(t, resource) || resource.Status.ObservedGeneration == resource.Generation
}

// testForceDelete deletes the Network of a shoot that is dead. What would be for the shoot's gardener-resource-manager to do is
// ordered, and left to Gardener, which knows that there is none.
func testForceDelete(t *testing.T, w *world) {
	w.startController(t)
	w.fulfil(t)
	w.awaitApplied(t)
	there := w.look(t)
	w.seed.StopShootManager(w.Shoot)
	require.NoError(t, w.Cluster.Sleep())

	w.Shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	require.NoError(t, w.seed.Gardenlet.Prepare(t.Context(), w.Shoot))
	w.destroy(t)
	w.stopController(t)
	groundtest.Eventually(t, "the seed has got rid of its part", func() bool { return !w.get(t, managedResource(resourceSeed)) })
	require.NoError(t, w.Cluster.Wake(t.Context()))
	left := w.look(t)
	assert.Empty(t, groundtest.OfShoot(left.LostSince(there)), "nobody was there to take anything away")
	for _, name := range groundtest.OfSeed(left.Since(w.untouched)) {
		isLeftToGardener := name == "seed: ManagedResource "+w.Shoot.Namespace()+"/"+resourceShoot ||
			strings.HasPrefix(name, "seed: Secret "+w.Shoot.Namespace()+"/managedresource-"+resourceShoot)
		assert.True(t, isLeftToGardener && left[name].DeletionTimestamp != nil, name)
	}
}

// assertNothingLeft makes sure that there is nothing in the seed and in the shoot that was not there before the first Network, but
// for nodes, and for what is the users'.
func (w *world) assertNothingLeft(t *testing.T) {
	t.Helper()
	groundtest.Eventually(t, "the pods are gone", func() bool { return w.podsOf(t, daemonSet) == nil })
	assert.Empty(t, ofCalico(w.look(t).Since(w.untouched)))
}

// ofCalico leaves out nodes, and the kind of what users made with Multus, which they keep.
func ofCalico(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return strings.HasPrefix(name, "shoot: Node /") || strings.HasSuffix(name, kindOfMultus) || strings.HasSuffix(name, "/v1."+groupOfMultus)
	})
}
