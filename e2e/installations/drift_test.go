package installations

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// damage is a change of an installation in a seed by others.
type damage struct {
	name string
	do   func(*testing.T, *site, *gardencorev1beta1.ControllerInstallation)
}

func damages() []damage {
	namespace := func(edit func(*corev1.Namespace)) func(*testing.T, *site, *gardencorev1beta1.ControllerInstallation) {
		return func(t *testing.T, s *site, i *gardencorev1beta1.ControllerInstallation) {
			change(t, s.Client, namespaceOf(i), edit)
		}
	}
	managed := func(edit func(*resourcesv1alpha1.ManagedResource)) func(*testing.T, *site, *gardencorev1beta1.ControllerInstallation) {
		return func(t *testing.T, s *site, i *gardencorev1beta1.ControllerInstallation) {
			change(t, s.Client, managedResourceOf(i), edit)
		}
	}
	return []damage{
		{"labels of the namespace are taken away", namespace(func(n *corev1.Namespace) {
			delete(n.Labels, "gardener.cloud/role")
			delete(n.Labels, "controllerregistration.core.gardener.cloud/name")
			delete(n.Annotations, "high-availability-config.resources.gardener.cloud/zones")
		})},
		{"pods may do more", namespace(func(n *corev1.Namespace) { n.Labels["pod-security.kubernetes.io/enforce"] = "privileged" })},
		{"labels of the ManagedResource are taken away", managed(func(m *resourcesv1alpha1.ManagedResource) { m.Labels = nil })},
		{"the ManagedResource has other secrets", managed(func(m *resourcesv1alpha1.ManagedResource) {
			m.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "another"}}
		})},
		{"the ManagedResource keeps its objects", managed(func(m *resourcesv1alpha1.ManagedResource) { m.Spec.KeepObjects = new(true) })},
		{"the secret of the ManagedResource is deleted", func(t *testing.T, s *site, i *gardencorev1beta1.ControllerInstallation) {
			t.Helper()
			for _, name := range secretsAbout(t, s, i) {
				require.NoError(t, s.Client.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "garden"}}))
			}
		}},
		{"the secrets for the garden are deleted", func(t *testing.T, s *site, i *gardencorev1beta1.ControllerInstallation) {
			t.Helper()
			require.NoError(t, s.Client.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(namespaceOf(i).Name)))
		}},
		{"the ManagedResource is deleted", func(t *testing.T, s *site, i *gardencorev1beta1.ControllerInstallation) {
			t.Helper()
			require.NoError(t, s.Client.Delete(t.Context(), managedResourceOf(i)))
		}},
		{"the namespace is deleted", func(t *testing.T, s *site, i *gardencorev1beta1.ControllerInstallation) {
			t.Helper()
			require.NoError(t, s.Client.Delete(t.Context(), namespaceOf(i)))
		}},
	}
}

// testDrift makes such changes, all of which the operator reverts.
func testDrift(t *testing.T, env *environment) {
	registration := everywhere("drifting", forDrift)
	registration.InjectGardenKubeconfig = true
	registration.Annotations = map[string]string{"security.gardener.cloud/pod-security-enforce": "baseline"}
	registration.Custom = custom(t, withChart(t))
	require.NoError(t, env.Register(t.Context(), registration))
	env.onBoth(t, func(t *testing.T, s *site) {
		installation := env.installed(t, s.name, registration.Name)
		env.assertToken(t, s, installation)
		want := installedObjectsOf(t, s, installation)
		require.Greater(t, len(want), 5, "namespace, ManagedResource and its secret, two objects, two secrets")
		for _, damage := range damages() {
			damage.do(t, s, installation)
			difference := "nothing"
			eventually(t, "it is mended that "+damage.name, func() bool {
				difference = cmp.Diff(want, installedObjectsOf(t, s, installation))
				return difference == ""
			}, func() any { return difference })
			env.installed(t, s.name, registration.Name)
		}
		env.assertToken(t, s, installation)
	})
}
