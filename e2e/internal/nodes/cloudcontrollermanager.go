package nodes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// uninitialized is the taint of a Node that no cloud-controller-manager has initialized (k8s.io/cloud-provider/api).
const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"

// Option configures the simulation.
type Option func(*Nodes)

// WithCloudControllerManager leaves the initialization of Nodes to a real cloud-controller-manager. Nodes are registered with a range of pods
// only, for which it creates routes.
func WithCloudControllerManager() Option {
	return func(n *Nodes) { n.realCloudControllerManager = true }
}

// WithKubeControllerManager leaves ranges of pods and the status of Nodes whose servers are gone to a real kube-controller-manager, beside a real
// cloud-controller-manager.
func WithKubeControllerManager() Option {
	return func(n *Nodes) { n.realKubeControllerManager = true }
}

// OnResult sets a function that is called after each comparison of servers and Nodes, with nil or what failed.
func OnResult(call func(error)) Option {
	return func(n *Nodes) { n.onResult = call }
}

// ranges are the Nodes' ranges of pods.
type ranges map[string]bool

func rangesOf(list *corev1.NodeList) ranges {
	taken := ranges{}
	for _, node := range list.Items {
		taken[node.Spec.PodCIDR] = true
	}
	return taken
}

// take returns a range that no Node has. There are more than machines.
func (r ranges) take() string {
	for i := 0; ; i++ {
		if free := fmt.Sprintf("100.96.%d.0/24", i); !r[free] {
			r[free] = true
			return free
		}
	}
}

// removeCloudFields removes what a cloud-controller-manager sets.
func removeCloudFields(node *corev1.Node) {
	delete(node.Labels, corev1.LabelTopologyRegion)
	delete(node.Labels, corev1.LabelTopologyZone)
	node.Spec.ProviderID = ""
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule})
}
