package agent

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// transform returns what the agent needs of an object of the API server. Everything else would only take memory: a cluster has many pods, and each node has an
// agent.
func transform(object any) (any, error) {
	switch object := object.(type) {
	case *corev1.Node:
		return trimNode(object), nil
	case *corev1.Pod:
		return trimPod(object), nil
	case *corev1.Namespace:
		trimmed := &corev1.Namespace{ObjectMeta: trimMeta(&object.ObjectMeta)}
		trimmed.Labels = object.Labels
		return trimmed, nil
	case *networkingv1.NetworkPolicy:
		return &networkingv1.NetworkPolicy{ObjectMeta: trimMeta(&object.ObjectMeta), Spec: object.Spec}, nil
	default:
		return nil, fmt.Errorf("unexpected object of type %T", object)
	}
}

func trimMeta(meta *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: meta.Namespace, Name: meta.Name, UID: meta.UID, ResourceVersion: meta.ResourceVersion, CreationTimestamp: meta.CreationTimestamp,
	}
}

// trimNode keeps pod ranges, internal addresses, and the condition that the agent sets.
func trimNode(node *corev1.Node) *corev1.Node {
	trimmed := &corev1.Node{ObjectMeta: trimMeta(&node.ObjectMeta)}
	trimmed.Spec.PodCIDR, trimmed.Spec.PodCIDRs = node.Spec.PodCIDR, node.Spec.PodCIDRs
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			trimmed.Status.Addresses = append(trimmed.Status.Addresses, address)
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeNetworkUnavailable {
			// kubelet's and others' heartbeats are no changes.
			condition.LastHeartbeatTime = metav1.Time{}
			trimmed.Status.Conditions = append(trimmed.Status.Conditions, condition)
		}
	}
	return trimmed
}

// trimPod keeps what selects the pod, its addresses, its age, which decides who has an address, and its named ports: NetworkPolicies refer to ports by name.
func trimPod(pod *corev1.Pod) *corev1.Pod {
	trimmed := &corev1.Pod{ObjectMeta: trimMeta(&pod.ObjectMeta)}
	trimmed.Labels = pod.Labels
	trimmed.Spec = corev1.PodSpec{NodeName: pod.Spec.NodeName, HostNetwork: pod.Spec.HostNetwork}
	for i := range pod.Spec.Containers {
		if container, ok := trimContainer(&pod.Spec.Containers[i]); ok {
			trimmed.Spec.Containers = append(trimmed.Spec.Containers, container)
		}
	}
	for i := range pod.Spec.InitContainers {
		// Others than sidecars have ended when the pod serves.
		policy := pod.Spec.InitContainers[i].RestartPolicy
		if container, ok := trimContainer(&pod.Spec.InitContainers[i]); ok && policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			container.RestartPolicy = policy
			trimmed.Spec.InitContainers = append(trimmed.Spec.InitContainers, container)
		}
	}
	trimmed.Status = corev1.PodStatus{Phase: pod.Status.Phase, PodIP: pod.Status.PodIP, PodIPs: pod.Status.PodIPs}
	return trimmed
}

// trimContainer returns the named ports of a container, and whether there is one.
func trimContainer(container *corev1.Container) (corev1.Container, bool) {
	var trimmed corev1.Container
	for _, port := range container.Ports {
		if port.Name != "" {
			trimmed.Ports = append(trimmed.Ports, corev1.ContainerPort{Name: port.Name, ContainerPort: port.ContainerPort, Protocol: port.Protocol})
		}
	}
	return trimmed, len(trimmed.Ports) > 0
}
