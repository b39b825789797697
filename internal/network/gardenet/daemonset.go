package gardenet

import (
	"fmt"
	"maps"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Gardener's policies for kube-system allow pods with these labels to connect to the kube-apiserver, to DNS servers and to other networks. Pods in the network of
// their node need none of them; they show what the agent would need.
const labelToPublicNetworks = "networking.gardener.cloud/to-public-networks"

// daemonSet returns the agents, which read the ConfigMap of a name.
func (s *settings) daemonSet(document string) (*appsv1.DaemonSet, error) {
	daemonSet := daemonSetOf(agentName, s.pod(document))
	if err := references.InjectAnnotations(daemonSet); err != nil {
		return nil, fmt.Errorf("referring to the configuration: %w", err)
	}
	return daemonSet, nil
}

// daemonSetOf returns a DaemonSet that nodes depend on.
func daemonSetOf(name string, pod corev1.PodSpec) *appsv1.DaemonSet {
	object := inKubeSystem(name, name)
	// A node accepts pods only when this pod is ready.
	object.Labels[v1beta1constants.LabelNodeCriticalComponent] = "true"
	labels := maps.Clone(object.Labels)
	labels["origin"] = "gardener"
	for _, label := range []string{v1beta1constants.LabelNetworkPolicyShootToAPIServer, v1beta1constants.LabelNetworkPolicyToDNS, labelToPublicNetworks} {
		labels[label] = v1beta1constants.LabelNetworkPolicyAllowed
	}
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "DaemonSet"},
		ObjectMeta: object,
		Spec: appsv1.DaemonSetSpec{
			RevisionHistoryLimit: new(int32(2)),
			Selector:             &metav1.LabelSelector{MatchLabels: selector(name)},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type: appsv1.RollingUpdateDaemonSetStrategyType,
				// Packets do not depend on the pod: an update is quick, and disturbs only what changes meanwhile.
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromString("10%"))},
			},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
		},
	}
}

// metricsService selects the agents for Prometheus. Nobody connects to it.
func metricsService() *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: inKubeSystem(agentName, agentName),
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone,
			Selector:  selector(agentName),
			Ports:     []corev1.ServicePort{{Name: portName, Port: port, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(port)}},
		},
	}
}
