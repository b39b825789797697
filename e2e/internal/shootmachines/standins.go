package shootmachines

import (
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/standin"
)

// StandIns lists what is simulated.
func StandIns() []standin.StandIn {
	const noMachine = "a shoot's machines are servers of a cloud that boots no operating system here"
	var list []standin.StandIn
	for _, duty := range nodes.Duties(nodes.WithCloudControllerManager(), nodes.WithKubeControllerManager()) {
		list = append(list, standin.StandIn{Name: duty, Reason: noMachine})
	}
	return append(list,
		standin.StandIn{Name: "gardener-node-agent: writes the checksum of the pool's OperatingSystemConfig to its Node, and renews its Lease", Reason: noMachine},
		standin.StandIn{Name: "kubelet: renews the Node's Lease; accepts tunnels to pods at the Node's address, with a certificate of the shoot's CA of kubelets; nothing is sent through them", Reason: noMachine},
		standin.StandIn{Name: "kubelet, kube-scheduler: bind pods of the shoot to ready Nodes, report them Running and Ready, and remove them when they are deleted; no container runs", Reason: noMachine},
		standin.StandIn{Name: "VPN: API servers of shoots reach the addresses of Nodes directly", Reason: "vpn-shoot would run on the shoot's machines"},
	)
}
