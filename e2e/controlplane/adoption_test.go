package controlplane

import (
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

const defaultClass = "storageclass.kubernetes.io/is-default-class"

func storageClass(name string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// testAdoption adopts a shoot that upstream's extension has created.
func testAdoption(t *testing.T, env *environment) {
	env.Shoot.ControlPlaneConfig, env.Shoot.Resources, env.Shoot.NetworkConfig = env.upstream.config(), nil, nil
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))
	env.simulateUpstream(t)
	there, authorities := env.snapshot(t), env.authorities(t)
	env.fromUpstream = there
	env.startController(t)
	env.requestWithoutDefaultClass(t)
	require.NoError(t, env.seed.Gardenlet.ControlPlane(env.Shoot).Wait(t.Context()))
	env.awaitResources(t, env.upstream.resources...)
	env.assertRunning(t, env.upstream.running...)

	now := env.snapshot(t)
	assert.ElementsMatch(t, env.removedByAdoption(), withoutHashes(now.RemovedSince(there)), "everything else is what it was")
	assert.ElementsMatch(t, env.upstream.replaced, replaced(there, now))
	assert.Equal(t, authorities, env.authorities(t), "the CA stays")
	assert.Subset(t, now.ChangedSince(there), []string{
		"seed: Deployment " + env.Shoot.Namespace() + "/" + ccm, "shoot: DaemonSet kube-system/csi-driver-node",
	})
	for _, name := range env.storageClasses(t) {
		assert.Equal(t, "false", env.defaultOf(t, name), "the user's choice stands: %s", name)
	}
}

// removedByAdoption are the objects of upstream's extension that an adoption removes, without hashes in names.
func (env *environment) removedByAdoption() []string {
	prefix := "extensions.gardener.cloud:provider-" + env.upstream.provider + ":"
	removed := append([]string{
		"seed: ManagedResource NAMESPACE/" + upstreamConfiguration,
		"seed: Secret NAMESPACE/" + resourceShoot + "-*",
		"seed: Secret NAMESPACE/" + resourceShootCRDs + "-*",
		"seed: Secret NAMESPACE/" + resourceShootWebhooks + "-*",
		"seed: Secret NAMESPACE/" + resourceStorageClasses + "-*",
		"seed: Secret NAMESPACE/managedresource-" + upstreamConfiguration + "-*",
		"seed: Secret NAMESPACE/managedresource-" + resourceSeed + "-*",
		// Unused roles, and webhooks without a server.
		"shoot: ClusterRole /" + prefix + "csi-driver-node",
		"shoot: ClusterRoleBinding /" + prefix + ccm,
		"shoot: ClusterRoleBinding /" + prefix + "csi-driver-node",
		"shoot: MutatingWebhookConfiguration /gardener-extension-provider-" + env.upstream.provider + "-shoot",
	}, slices.Concat(env.upstream.removed, env.upstream.replaced)...)
	for i := range removed {
		removed[i] = strings.ReplaceAll(removed[i], "NAMESPACE", env.Shoot.Namespace())
	}
	return removed
}

// storageClasses returns the names of the shoot's storage classes.
func (env *environment) storageClasses(t *testing.T) (names []string) {
	t.Helper()
	list := &storagev1.StorageClassList{}
	require.NoError(t, env.Cluster.Client.List(t.Context(), list))
	for _, class := range list.Items {
		names = append(names, class.Name)
	}
	require.NotEmpty(t, names)
	return names
}

// requestWithoutDefaultClass reconciles the ControlPlane after a user has disabled the default class. With upstream's extension,
// gardener-resource-manager reverts the user's change within a minute, so the change must be made while it ignores the object.
func (env *environment) requestWithoutDefaultClass(t *testing.T) {
	t.Helper()
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: resourceStorageClasses}}
	require.True(t, env.get(t, resource))
	theirs := resource.Spec.SecretRefs
	env.annotate(t, resource, `{"metadata":{"annotations":{"resources.gardener.cloud/ignore":"true"}}}`)
	clusterstest.Eventually(t, "gardener-resource-manager looks away", func() bool {
		require.True(t, env.get(t, resource))
		condition := helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesApplied)
		return condition.Reason == resourcesv1alpha1.ConditionManagedResourceIgnored
	})
	class := storageClass("default")
	require.NoError(t, env.Cluster.Client.Patch(t.Context(), class,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+defaultClass+`":"false"}}}`))))
	env.requestReconcile(t)
	clusterstest.Eventually(t, "the classes are described anew", func() bool {
		require.True(t, env.get(t, resource))
		return !slices.Equal(theirs, resource.Spec.SecretRefs)
	})
	env.annotate(t, resource, `{"metadata":{"annotations":{"resources.gardener.cloud/ignore":null}}}`)
}

func (env *environment) annotate(t *testing.T, object client.Object, patch string) {
	t.Helper()
	require.NoError(t, env.seed.Client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// defaultOf returns a class's annotation for the default class.
func (env *environment) defaultOf(t *testing.T, name string) string {
	t.Helper()
	class := storageClass(name)
	require.True(t, clusterstest.Get(t, env.Cluster.Client, class))
	return class.Annotations[defaultClass]
}

// testDeleteAdopted deletes the shoot. Objects that only upstream's extension had must not block that.
func testDeleteAdopted(t *testing.T, env *environment) {
	env.destroy(t)
	env.stopController(t)
	env.assertNothingLeft(t)
}
