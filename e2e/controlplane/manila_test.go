package controlplane

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// reference is the user's name of a reference to a Secret with credentials for Manila.
const reference = "manila"

// testManila enables shared file systems, with credentials of their own.
func testManila(t *testing.T, env *environment) {
	credentials, id, err := env.openstack.Account.ApplicationCredential(t.Context(), "manila")
	require.NoError(t, err)
	env.manilaCredentials = credentials
	config := openstack.ControlPlaneConfig()
	config.Storage = &openstackv1alpha1.Storage{CSIManila: &openstackv1alpha1.CSIManila{
		Enabled: true, CredentialsRef: &openstackv1alpha1.CredentialsReference{Name: reference},
	}}
	env.Shoot.ControlPlaneConfig = config
	env.Shoot.Resources = []gardencorev1beta1.NamedResourceReference{{
		Name: reference, ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "credentials-for-manila"},
	}}
	env.copyReferenced(t)
	env.reconcile(t)
	env.awaitRolledOut(t)
	env.assertRunning(t, ccm, csiController, manilaController, snapshotController)
	env.assertInShoot(t)

	login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "manila-csi-plugin", Namespace: metav1.NamespaceSystem}}
	require.True(t, clusterstest.Get(t, env.Cluster.Client, login))
	assert.Equal(t, id, string(login.Data["os-applicationCredentialID"]))
	assert.NotContains(t, login.Data, "os-password")
	assert.Equal(t, "ref-credentials-for-manila", env.object(t).Status.Resources[0].ResourceRef.Name, "they travel with the shoot")
}

// copyReferenced does what gardenlet does with a shoot's references.
func (env *environment) copyReferenced(t *testing.T) {
	t.Helper()
	require.NoError(t, env.seed.Client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "ref-credentials-for-manila", Namespace: env.Shoot.Namespace()}, Data: env.manilaCredentials,
	}))
}

// testVersions renders all objects for another version of Kubernetes, the oldest. The shoot's API server keeps its own version.
func testVersions(t *testing.T, env *environment) {
	own := env.Shoot.KubernetesVersion
	newest := env.dryRunLive(t)
	env.Shoot.KubernetesVersion = "1.32.9"
	env.reconcile(t)
	oldest := env.dryRunLive(t)
	assert.Subset(t, newest, oldest)
	assert.Len(t, newest, len(oldest)+2, "all but the policy against Calico, and its binding")
	assert.Contains(t, env.deployments(t)[ccm].Spec.Template.Spec.Containers[0].Image, ":v1.32.")

	env.Shoot.KubernetesVersion = own
	env.reconcile(t)
	env.awaitRolledOut(t)
}
