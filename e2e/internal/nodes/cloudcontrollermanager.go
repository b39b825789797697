package nodes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// uninitialized is the taint of a Node that no cloud-controller-manager has seen (k8s.io/cloud-provider/api).
const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"

// Option changes what is played.
type Option func(*Nodes)

// WithCloudControllerManager leaves to a real cloud-controller-manager what is its own, be it there already or not. Nodes join bare
// then, but for a range of pods, to which it makes routes.
func WithCloudControllerManager() Option {
	return func(n *Nodes) { n.realCloudControllerManager = true }
}

// ranges are those of pods that Nodes have.
type ranges map[string]bool

func rangesOf(list *corev1.NodeList) ranges {
	taken := ranges{}
	for _, node := range list.Items {
		taken[node.Spec.PodCIDR] = true
	}
	return taken
}

// take returns a range that no Node has. There are more than machines are shown.
func (r ranges) take() string {
	for i := 0; ; i++ {
		if free := fmt.Sprintf("100.96.%d.0/24", i); !r[free] {
			r[free] = true
			return free
		}
	}
}

// removeCloudFields takes away what a cloud-controller-manager will find out, and gives a range of pods.
func removeCloudFields(node *corev1.Node, taken ranges) {
	free := taken.take()
	delete(node.Labels, corev1.LabelTopologyRegion)
	delete(node.Labels, corev1.LabelTopologyZone)
	node.Spec.ProviderID, node.Spec.PodCIDR, node.Spec.PodCIDRs = "", free, []string{free}
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule})
}
