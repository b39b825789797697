package controlplane

import (
	"path"
	"slices"
	"strings"
	"testing"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// testSameAsGardener compares code of the controller that replaces Gardener's packages with large dependencies, with those packages.
func testSameAsGardener(t *testing.T, env *environment) {
	for _, part := range []struct {
		sentence string
		run      func(*testing.T, *environment)
	}{
		{"Secrets that ask for tokens", testSameAccess},
		{"kubeconfigs that read a token", testSameKubeconfig},
		{"what lets Prometheus through", testSameScraping},
		{"how webhooks are made known to a seed", testSameRegistration},
		{"how certificates are issued and rotated", testSameRotation},
	} {
		t.Run(part.sentence, func(t *testing.T) { part.run(t, env) })
	}
}

func testSameAccess(t *testing.T, env *environment) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}}
	require.NoError(t, env.seed.Client.Create(t.Context(), namespace))
	for _, account := range accounts() {
		theirs := gardenerutils.NewShootAccessSecret(account, namespace.Name)
		require.NoError(t, theirs.Reconcile(t.Context(), env.seed.Client))
		ours := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: theirs.Secret.Name}}
		require.True(t, env.get(t, ours))
		delete(ours.Labels, "controlplane.trellis.garden/owner")
		delete(ours.Annotations, resourcesv1alpha1.ServiceAccountTokenRenewTimestamp) // gardener-resource-manager's
		assert.Equal(t, theirs.Secret.Labels, ours.Labels, account)
		assert.Equal(t, theirs.Secret.Annotations, ours.Annotations, account)
		assert.Equal(t, theirs.Secret.Type, ours.Type, account)
	}
	require.NoError(t, env.seed.Client.Delete(t.Context(), namespace))
}

func testSameKubeconfig(t *testing.T, env *environment) {
	var seen []string
	for name, deployment := range env.deployments(t) {
		spec := deployment.Spec.Template.Spec
		for _, container := range spec.Containers {
			at := slices.IndexFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool {
				return mount.MountPath == gardenerutils.VolumeMountPathGenericKubeconfig
			})
			if at < 0 {
				assert.NotContains(t, strings.Join(container.Args, " "), "--kubeconfig", "%s of %s", container.Name, name)
				continue
			}
			assert.Contains(t, container.Args, "--kubeconfig="+gardenerutils.PathGenericKubeconfig, container.Name)
			mount := container.VolumeMounts[at]
			account := strings.TrimPrefix(mount.Name, "kubeconfig-")
			seen = append(seen, account)
			assert.Equal(t, gardenerutils.GenerateGenericKubeconfigVolumeMount(mount.Name, path.Dir(gardenerutils.PathGenericKubeconfig)), mount)
			assert.Contains(t, spec.Volumes, gardenerutils.GenerateGenericKubeconfigVolume(
				env.genericKubeconfig(t), gardenerutils.NewShootAccessSecret(account, "").Secret.Name, mount.Name))
		}
	}
	slices.Sort(seen)
	assert.Equal(t, accounts(), slices.Compact(seen))
}

func testSameScraping(t *testing.T, env *environment) {
	ours := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: ccm}}
	require.True(t, env.get(t, ours))
	theirs := &corev1.Service{}
	require.NoError(t, gardenerutils.InjectNetworkPolicyAnnotationsForScrapeTargets(theirs, networkingv1.NetworkPolicyPort{
		Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(10258)),
	}))
	for key, value := range theirs.Annotations {
		assert.Equal(t, value, ours.Annotations[key], key)
	}
}
