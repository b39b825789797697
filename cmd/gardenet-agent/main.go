// Command gardenet-agent keeps the network of a node of a shoot: routes or a tunnel to other nodes, masquerading, NetworkPolicies, and the CNI configuration. It
// runs on each node. It only composes: the process, what is computed, and what applies it.
package main

import (
	"os"

	"github.com/trellis-garden/trellis/internal/gardenet/agent"
	"github.com/trellis-garden/trellis/internal/gardenet/agent/command"
	"github.com/trellis-garden/trellis/internal/gardenet/apply"
	"github.com/trellis-garden/trellis/internal/gardenet/desired"
)

func main() {
	os.Exit(command.Main(command.Binary{
		Name: "gardenet-agent",
		Description: "Keeps the network of the node that it runs on: ways to pods of other nodes, masquerading, NetworkPolicies and the CNI configuration.\n" +
			"When it ends, all of it stays as it is.",
		Compute:   desired.Compute,
		NewKernel: newKernel,
	}))
}

func newKernel(options command.KernelOptions) (agent.Kernel, error) {
	return apply.New(apply.Options{NFT: options.NFT, HostRoot: options.HostRoot})
}
