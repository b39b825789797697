package network

import (
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

const (
	groupOfMultus = "k8s.cni.cncf.io"
	kindOfMultus  = "/network-attachment-definitions." + groupOfMultus
)

// testDelete deletes the Network while there are nodes, also when the controller is killed meanwhile.
func testDelete(t *testing.T, env *environment) {
	env.seed.StopShootManager(env.Shoot)
	component := env.component(t)
	require.NoError(t, component.Destroy(t.Context()))
	clusterstest.Eventually(t, "it is said what is waited for", func() bool {
		last := env.object(t).Status.LastOperation
		return last.Type == gardencorev1beta1.LastOperationTypeDelete && strings.Contains(last.Description, resourceShoot+" is not gone yet")
	})
	env.killController()
	env.startController(t)
	require.NoError(t, env.seed.StartShootManager(t.Context(), env.Shoot, env.Cluster))
	require.NoError(t, component.WaitCleanup(t.Context()))
	env.stopController(t)
	env.assertNothingLeft(t)
	env.removeNodes(t)
}

// testDeletePartiallyCreated deletes Networks whose creation did not complete: the controller was killed, or refused it.
func testDeletePartiallyCreated(t *testing.T, env *environment) {
	env.startController(t)
	env.Shoot.NetworkConfig, env.Shoot.LastOperationType = nil, gardencorev1beta1.LastOperationTypeCreate
	env.requestReconcile(t)
	clusterstest.Eventually(t, "there is a part of it", func() bool {
		return env.get(t, managedResource(resourceShoot)) || env.get(t, managedResource(resourceSeed))
	})
	env.killController()
	// gardener-resource-manager forgets what it has applied but not reported when its ManagedResource is deleted.
	clusterstest.Eventually(t, "the parts that there are have been reported on", func() bool {
		return env.isReported(t, resourceShoot) && env.isReported(t, resourceSeed)
	})
	env.startController(t)
	env.destroy(t)
	env.assertNothingLeft(t)

	env.configure(map[string]any{"backend": "carrier pigeons"})
	env.assertRefused(t)
	env.destroy(t)
	env.stopController(t)
	env.assertNothingLeft(t)
	env.Shoot.NetworkConfig = nil
}

// isReported reports whether a ManagedResource has a status, or does not exist.
func (env *environment) isReported(t *testing.T, name string) bool {
	t.Helper()
	resource := managedResource(name)
	return !env.get(t, resource) || resource.Status.ObservedGeneration == resource.Generation
}

// testForceDelete deletes the Network of a shoot whose cluster does not run. ManagedResources are deleted without waiting for the shoot's
// gardener-resource-manager, and Gardener does the rest.
func testForceDelete(t *testing.T, env *environment) {
	env.startController(t)
	env.reconcile(t)
	env.awaitApplied(t)
	there := env.snapshot(t)
	env.seed.StopShootManager(env.Shoot)
	require.NoError(t, env.Cluster.Hibernate())

	env.Shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))
	env.destroy(t)
	env.stopController(t)
	clusterstest.Eventually(t, "the seed has got rid of its part", func() bool { return !env.get(t, managedResource(resourceSeed)) })
	require.NoError(t, env.Cluster.WakeUp(t.Context()))
	left := env.snapshot(t)
	assert.Empty(t, clusterstest.InShoot(left.RemovedSince(there)), "nobody was there to take anything away")
	for _, name := range clusterstest.InSeed(left.AddedSince(env.initial)) {
		isLeftToGardener := name == "seed: ManagedResource "+env.Shoot.Namespace()+"/"+resourceShoot ||
			strings.HasPrefix(name, "seed: Secret "+env.Shoot.Namespace()+"/managedresource-"+resourceShoot)
		assert.True(t, isLeftToGardener && left[name].DeletionTimestamp != nil, name)
	}
}

// assertNothingLeft asserts that seed and shoot have no objects that were not there before the first Network, except nodes and users' objects.
func (env *environment) assertNothingLeft(t *testing.T) {
	t.Helper()
	clusterstest.Eventually(t, "the pods are gone", func() bool { return env.podsOf(t, daemonSet) == nil })
	assert.Empty(t, ofCalico(env.snapshot(t).AddedSince(env.initial)))
}

// ofCalico leaves out nodes, and objects that users created for Multus, which they keep.
func ofCalico(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return strings.HasPrefix(name, "shoot: Node /") || strings.HasSuffix(name, kindOfMultus) || strings.HasSuffix(name, "/v1."+groupOfMultus)
	})
}
