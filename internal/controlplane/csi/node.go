package csi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// The kubelet's folders, and their volume names.
const (
	kubeletFolder      = "/var/lib/kubelet"
	kubeletVolume      = "kubelet-dir"
	pluginVolume       = "plugin-dir"
	registrationVolume = "registration-dir"
)

// nodeObjects returns the driver's objects for nodes.
func nodeObjects(driver Driver, shoot Shoot) ([]client.Object, error) {
	node := driver.Node
	secrets, names, err := node.secrets()
	if err != nil {
		return nil, err
	}
	daemonSet, err := driver.daemonSet(names, shoot.Image)
	if err != nil {
		return nil, err
	}
	objects := append([]client.Object{node.serviceAccount(), daemonSet}, secrets...)
	if shoot.VerticalPodAutoscaler {
		objects = append(objects, driver.verticalPodAutoscaler())
	}
	return objects, nil
}

func (n Node) serviceAccount() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   metav1.ObjectMeta{Name: n.ServiceAccount, Namespace: metav1.NamespaceSystem},
		AutomountServiceAccountToken: new(false),
	}
}

// secrets returns the Secrets that the pods mount, with a checksum in their names: another content is another Secret, and rolls the pods.
// gardener-resource-manager removes unused ones.
func (n Node) secrets() (objects []client.Object, names map[string]string, err error) {
	names = map[string]string{}
	for _, source := range slices.Sorted(maps.Keys(n.Secrets)) {
		secret := &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Name: source, Namespace: metav1.NamespaceSystem},
			Type:       corev1.SecretTypeOpaque,
			Data:       n.Secrets[source],
		}
		if err := kubernetesutils.MakeUnique(secret); err != nil {
			return nil, nil, fmt.Errorf("naming Secret %q: %w", source, err)
		}
		objects, names[source] = append(objects, secret), secret.Name
	}
	return objects, names, nil
}

func (d Driver) daemonSet(secrets map[string]string, image func(string) (string, error)) (*appsv1.DaemonSet, error) {
	pod, err := d.nodePod(secrets, image)
	if err != nil {
		return nil, err
	}
	labels := maps.Clone(d.Node.Selector)
	annotations := map[string]string{}
	if d.Node.Critical {
		labels[v1beta1constants.LabelNodeCriticalComponent] = "true"
		short, _, _ := strings.Cut(d.Name, ".")
		annotations[v1beta1constants.AnnotationPrefixWaitForCSINode+short] = d.Name
	}
	daemonSet := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: d.Node.Name, Namespace: metav1.NamespaceSystem, Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			RevisionHistoryLimit: new(int32(2)),
			Selector:             &metav1.LabelSelector{MatchLabels: maps.Clone(d.Node.Selector)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(labels), Annotations: annotations}, Spec: *pod,
			},
		},
	}
	// Without these annotations gardener-resource-manager would collect the Secrets as garbage.
	if err := references.InjectAnnotations(daemonSet); err != nil {
		return nil, fmt.Errorf("naming the Secrets that DaemonSet %q uses: %w", d.Node.Name, err)
	}
	return daemonSet, nil
}

// nodePod uses the node's own resolver: mounting must not depend on a DNS server that runs on nodes.
func (d Driver) nodePod(secrets map[string]string, image func(string) (string, error)) (*corev1.PodSpec, error) {
	var (
		parts      = d.nodeContainers()
		described  = make([]component.Container, 0, len(parts))
		containers = make([]corev1.Container, 0, len(parts))
	)
	for _, part := range parts {
		found, err := image(part.Image)
		if err != nil {
			return nil, fmt.Errorf("looking up the image of container %q in DaemonSet %q: %w", part.Name, d.Node.Name, err)
		}
		described, containers = append(described, part.Container), append(containers, part.build(found))
	}
	volumes, err := component.Volumes(described, component.Values{Secrets: secrets})
	if err != nil {
		return nil, fmt.Errorf("mounting for DaemonSet %q: %w", d.Node.Name, err)
	}
	return &corev1.PodSpec{
		HostNetwork:                  true,
		DNSPolicy:                    corev1.DNSDefault,
		PriorityClassName:            "system-node-critical",
		ServiceAccountName:           d.Node.ServiceAccount,
		AutomountServiceAccountToken: new(false),
		SecurityContext: &corev1.PodSecurityContext{
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Tolerations: []corev1.Toleration{
			{Effect: corev1.TaintEffectNoSchedule, Operator: corev1.TolerationOpExists},
			{Key: "CriticalAddonsOnly", Operator: corev1.TolerationOpExists},
			{Effect: corev1.TaintEffectNoExecute, Operator: corev1.TolerationOpExists},
		},
		Containers: containers,
		Volumes:    slices.Concat(d.hostVolumes(), volumes),
	}, nil
}
