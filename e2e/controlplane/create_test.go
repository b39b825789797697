package controlplane

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

const (
	ccm                = "cloud-controller-manager"
	csiController      = "csi-driver-controller"
	manilaController   = "csi-driver-manila-controller"
	snapshotController = "csi-snapshot-controller"
)

// accounts are the components' ServiceAccounts in the shoot.
func accounts() []string {
	return []string{ccm, "csi-attacher", "csi-provisioner", "csi-resizer", snapshotController, "csi-snapshotter"}
}

// testCreate creates a control plane, as gardenlet does for a new shoot.
func testCreate(t *testing.T, env *environment) {
	env.startController(t)
	env.reconcile(t)
	object := env.object(t)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeCreate, object.Status.LastOperation.Type)
	assert.EqualValues(t, 100, object.Status.LastOperation.Progress)
	assert.Equal(t, []string{"extensions.gardener.cloud/controlplane"}, object.Finalizers)

	env.awaitRolledOut(t)
	env.assertRunning(t, ccm, csiController, snapshotController)
	env.assertTokens(t, accounts()...)
	env.assertInShoot(t)
	env.Shoot.LastOperationType, env.Shoot.LastOperationState = gardencorev1beta1.LastOperationTypeReconcile, gardencorev1beta1.LastOperationStateSucceeded
}

// assertInShoot checks the objects that all shoots have.
func (env *environment) assertInShoot(t *testing.T) {
	t.Helper()
	shoot := env.Cluster.Client
	daemon := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "csi-driver-node", Namespace: metav1.NamespaceSystem}}
	require.True(t, clusterstest.Get(t, shoot, daemon))
	assert.EqualValues(t, 1, daemon.Status.NumberReady, "one for the only node")
	require.True(t, clusterstest.Get(t, shoot, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "cinder.csi.openstack.org"}}))
	classes := &storagev1.StorageClassList{}
	require.NoError(t, shoot.List(t.Context(), classes))
	var defaults []string
	for _, class := range classes.Items {
		if class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
			defaults = append(defaults, class.Name)
		}
	}
	assert.Equal(t, []string{"default"}, defaults)

	secrets := &corev1.SecretList{}
	require.NoError(t, shoot.List(t.Context(), secrets))
	for _, secret := range secrets.Items {
		for key, value := range secret.Data {
			assert.NotContains(t, string(value), string(env.Shoot.Credentials["password"]), "%s/%s: %s", secret.Namespace, secret.Name, key)
		}
	}
}

// testNoOp counts the requests and writes of a reconciliation without changes.
func testNoOp(t *testing.T, env *environment) {
	env.awaitHealthy(t)
	env.stopController(t)
	before := len(env.writes(t))
	there := env.snapshot(t)
	env.startController(t)
	env.reconcile(t)
	env.stopController(t)

	writes := audit.WithoutProgress(env.writes(t)[before:])
	if assert.Len(t, writes, 2, "order taken, result reported; no third write, and no Event") {
		assert.Equal(t, "patch controlplanes", writes[0].Verb+" "+writes[0].Resource)
		assert.Equal(t, "patch controlplanes/status", writes[1].Verb+" "+writes[1].Resource)
	}
	now := env.snapshot(t)
	assert.Empty(t, now.AddedSince(there))
	assert.Empty(t, now.RemovedSince(there))
	namespace := env.Shoot.Namespace()
	assert.Equal(t, []string{
		"seed: Cluster /" + namespace, // gardenlet's
		"seed: ControlPlane " + namespace + "/one",
	}, now.ChangedSince(there))
	env.startController(t)
}
