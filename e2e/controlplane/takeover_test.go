package controlplane

import (
	"slices"
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

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

const defaultClass = "storageclass.kubernetes.io/is-default-class"

func storageClass(name string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// testTakeOver lets a shoot change hands that upstream's extension has brought into being.
func testTakeOver(t *testing.T, w *world) {
	w.Shoot.ControlPlaneConfig, w.Shoot.Resources, w.Shoot.NetworkConfig = openstack.ControlPlaneConfig(), nil, nil
	w.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
	require.NoError(t, w.seed.Gardenlet.Prepare(t.Context(), w.Shoot))
	w.playUpstream(t)
	there, authorities := w.look(t), w.authorities(t)
	w.startController(t)
	w.orderWithoutDefault(t)
	require.NoError(t, w.seed.Gardenlet.ControlPlane(w.Shoot).Wait(t.Context()))
	w.awaitRolledOut(t)
	w.assertRunning(t, ccm, csiController, snapshotController)

	now, namespace := w.look(t), w.Shoot.Namespace()
	seed := func(kind, name string) string { return "seed: " + kind + " " + namespace + "/" + name }
	assert.ElementsMatch(t, []string{
		seed("ConfigMap", "cloud-controller-manager-dashboards"),
		seed("ManagedResource", upstreamConfiguration), seed("ManagedResource", upstreamWebhooks),
		seed("Secret", "cloud-provider-config"), seed("Secret", "cloud-provider-disk-config"), seed("Secret", "cloud-provider-disk-config-csi"),
		seed("Secret", resourceShoot+"-*"), seed("Secret", resourceShootCRDs+"-*"),
		seed("Secret", upstreamWebhooks+"-*"), seed("Secret", resourceStorageClasses+"-*"),
		seed("Secret", "managedresource-"+upstreamConfiguration+"-*"), seed("Secret", "managedresource-"+resourceSeed+"-*"),
		// In the shoot: rights that nobody needs, webhooks that nobody serves, and a Secret that has another name now.
		"shoot: ClusterRole /extensions.gardener.cloud:provider-openstack:csi-driver-node",
		"shoot: ClusterRoleBinding /extensions.gardener.cloud:provider-openstack:" + ccm,
		"shoot: ClusterRoleBinding /extensions.gardener.cloud:provider-openstack:csi-driver-node",
		"shoot: MutatingWebhookConfiguration /gardener-extension-provider-openstack-shoot",
		"shoot: Secret kube-system/cloud-provider-config",
	}, withoutHashes(now.LostSince(there)), "everything else is what it was")
	assert.Equal(t, authorities, w.authorities(t), "the CA stays")
	assert.Subset(t, now.ChangedSince(there), []string{seed("Deployment", ccm), "shoot: DaemonSet kube-system/csi-driver-node"})
	assert.Equal(t, "false", w.defaultOf(t, "default"), "the user's choice stands")
	assert.Equal(t, "false", w.defaultOf(t, "default-class"))
}

// orderWithoutDefault orders the ControlPlane when a user has just chosen that no class is the default. Upstream's extension lets
// gardener-resource-manager take that back within a minute, so that this has to look away until it is told otherwise.
func (w *world) orderWithoutDefault(t *testing.T) {
	t.Helper()
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: resourceStorageClasses}}
	require.True(t, w.get(t, resource))
	theirs := resource.Spec.SecretRefs
	w.annotate(t, resource, `{"metadata":{"annotations":{"resources.gardener.cloud/ignore":"true"}}}`)
	groundtest.Eventually(t, "gardener-resource-manager looks away", func() bool {
		require.True(t, w.get(t, resource))
		condition := helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesApplied)
		return condition.Reason == resourcesv1alpha1.ConditionManagedResourceIgnored
	})
	class := storageClass("default")
	require.NoError(t, w.Cluster.Client.Patch(t.Context(), class,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+defaultClass+`":"false"}}}`))))
	w.order(t)
	groundtest.Eventually(t, "the classes are described anew", func() bool {
		require.True(t, w.get(t, resource))
		return !slices.Equal(theirs, resource.Spec.SecretRefs)
	})
	w.annotate(t, resource, `{"metadata":{"annotations":{"resources.gardener.cloud/ignore":null}}}`)
}

func (w *world) annotate(t *testing.T, object client.Object, patch string) {
	t.Helper()
	require.NoError(t, w.seed.Client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// defaultOf returns what a class says about being the default.
func (w *world) defaultOf(t *testing.T, name string) string {
	t.Helper()
	class := storageClass(name)
	require.True(t, groundtest.Get(t, w.Cluster.Client, class))
	return class.Annotations[defaultClass]
}

// testDeleteTakenOver lets the shoot go. What upstream's extension had there alone would hold it for ever.
func testDeleteTakenOver(t *testing.T, w *world) {
	w.destroy(t)
	w.stopController(t)
	w.assertNothingLeft(t)
}
