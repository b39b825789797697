package controlplane

import (
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testDelete deletes the ControlPlane. Objects in the shoot are deleted before their controllers, also when the controller is killed meanwhile.
func testDelete(t *testing.T, env *environment) {
	before := len(env.writes(t))
	env.seed.StopShootManager(env.Shoot)
	component := env.seed.Gardenlet.ControlPlane(env.Shoot)
	require.NoError(t, component.Destroy(t.Context()))
	env.awaitMessage(t, gardencorev1beta1.LastOperationTypeDelete, resourceStorageClasses+" is not gone yet")
	env.killController()
	env.startController(t)
	require.NoError(t, env.seed.StartShootManager(t.Context(), env.Shoot, env.Cluster))
	require.NoError(t, component.WaitCleanup(t.Context()))
	env.stopController(t)
	var order []string
	for _, write := range env.writes(t)[before:] {
		if write.Verb == "delete" && write.Resource == "managedresources" {
			order = append(order, write.Name)
		}
	}
	assert.Equal(t, []string{resourceStorageClasses, resourceShootCRDs, resourceShoot, resourceSeed}, order)
	env.assertNothingLeft(t)
}

// assertNothingLeft asserts that seed and shoot have no objects that were not there before the first ControlPlane, except those that
// are meant to stay and those that gardener-resource-manager keeps in any shoot.
func (env *environment) assertNothingLeft(t *testing.T) {
	t.Helper()
	for _, name := range env.snapshot(t).AddedSince(env.initial) {
		assert.True(t, slices.Contains(env.upstream.kept, name) || env.isOfResourceManager(t, name), "%s is left", name)
	}
}

// isOfResourceManager reports whether an object is a ServiceAccount that gardener-resource-manager created for tokens, or a Secret that it
// garbage-collects after ten minutes.
func (env *environment) isOfResourceManager(t *testing.T, name string) bool {
	t.Helper()
	if account, found := strings.CutPrefix(name, "shoot: ServiceAccount kube-system/"); found {
		return slices.Contains(env.upstream.accounts, account)
	}
	if secret, found := strings.CutPrefix(name, "shoot: Secret kube-system/"); found {
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secret, Namespace: metav1.NamespaceSystem}}
		require.True(t, clusterstest.Get(t, env.Cluster.Client, object))
		return object.Labels["resources.gardener.cloud/garbage-collectable-reference"] == "true" && *object.Immutable
	}
	return false
}
