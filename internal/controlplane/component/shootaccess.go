package component

import (
	"slices"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	shootAccessPrefix = "shoot-access-"
	kubeconfigKey     = "kubeconfig"
)

// ShootAccesses returns the names of the component's ServiceAccounts in the shoot, sorted.
func (c Component) ShootAccesses() []string {
	var names []string
	for _, container := range c.Containers {
		if container.ShootAccess != "" {
			names = append(names, container.ShootAccess)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ShootAccessSecret makes gardener-resource-manager create a ServiceAccount with that name in the shoot's kube-system, and keep a token under the key
// "token". Clients that apply it must not change the data.
func ShootAccessSecret(name, namespace string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:      shootAccessPrefix + name,
			Namespace: namespace,
			Labels: map[string]string{
				resourcesv1alpha1.ResourceManagerPurpose: resourcesv1alpha1.LabelPurposeTokenRequest,
				resourcesv1alpha1.ResourceManagerClass:   resourcesv1alpha1.ResourceManagerClassShoot,
			},
			Annotations: map[string]string{
				resourcesv1alpha1.ServiceAccountName:      name,
				resourcesv1alpha1.ServiceAccountNamespace: metav1.NamespaceSystem,
			},
		},
		Type: corev1.SecretTypeOpaque,
	}
}

func kubeconfigVolumeName(shootAccess string) string { return "kubeconfig-" + shootAccess }

// kubeconfigVolume combines the generic kubeconfig, which reads its token from a file, with a component's token. Clients reload both, so neither needs
// a name with a checksum.
func kubeconfigVolume(shootAccess, genericKubeconfig string) corev1.Volume {
	return corev1.Volume{Name: kubeconfigVolumeName(shootAccess), VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{
			DefaultMode: new(int32(0o644)),
			Sources: []corev1.VolumeProjection{
				secretKey(genericKubeconfig, kubeconfigKey),
				secretKey(shootAccessPrefix+shootAccess, resourcesv1alpha1.DataKeyToken),
			},
		},
	}}
}

func secretKey(secret, key string) corev1.VolumeProjection {
	return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret},
		Items:                []corev1.KeyToPath{{Key: key, Path: key}},
		Optional:             new(false),
	}}
}
