// Package nodes simulates what runs on the machines of a shoot, and the controllers of Nodes in the cluster: a server of the cloud that runs
// becomes a Node after a moment, and stays one until it is deleted. It writes only fields that Gardener's programs write. Duties lists what is
// simulated. The package must not depend on the creator of the servers.
package nodes

// Duties lists the simulated programs, and what is done for each.
func Duties(options ...Option) []string {
	n := &Nodes{}
	for _, option := range options {
		option(n)
	}
	duties := []string{
		"the machine itself: boots a moment after its server has started; its user data is not run",
		"kubelet: registers the Node with its labels (that of its version among them), addresses, capacity and the taint node.gardener.cloud/critical-components-not-ready; sends heartbeats; runs no pod",
		"gardener-resource-manager (node readiness): removes the taint critical-components-not-ready, also after an in-place update",
		"gardener-node-agent: on the condition InPlaceUpdate with the reason ReadyForUpdate it writes the label node.machine.sapcloud.io/update-result=successful, or =failed with a reason; it updates nothing on the machine",
		"an operator, on request of a test or the demo: selects a node for a manual update in place by the label node.machine.sapcloud.io/selected-for-update",
	}
	if !n.realKubeControllerManager {
		duties = append(duties, "kube-controller-manager (node lifecycle): sets the status of a Node without heartbeats to Unknown")
	}
	if n.realCloudControllerManager && n.realKubeControllerManager {
		return duties
	}
	if n.realCloudControllerManager {
		return append(duties, "kube-controller-manager (node IPAM): assigns each Node a range for its pods")
	}
	return append(duties, "cloud-controller-manager: writes the Node's provider ID, zone and region; deletes the Node of a server that is gone")
}
