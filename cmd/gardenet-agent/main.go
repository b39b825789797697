// Command gardenet-agent keeps the network of a node of a shoot: routes or a tunnel to other nodes, masquerading, NetworkPolicies, and the CNI configuration. It
// runs on each node. It only composes: the process, what is computed, and what applies it.
package main

import (
	"context"
	"os"

	"github.com/trellis-garden/trellis/internal/gardenet/agent"
	"github.com/trellis-garden/trellis/internal/gardenet/agent/command"
	"github.com/trellis-garden/trellis/internal/gardenet/apply"
	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/gardenet/nflog"
	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

func main() {
	os.Exit(command.Main(command.Binary{
		Name: "gardenet-agent",
		Description: "Keeps the network of the node that it runs on: ways to pods of other nodes, masquerading, NetworkPolicies and the CNI configuration.\n" +
			"When it ends, all of it stays as it is.",
		Compute:   desired.Compute,
		NewKernel: newKernel,
		Denied:    denied,
	}))
}

func newKernel(options command.KernelOptions) (agent.Kernel, error) {
	return apply.New(apply.Options{NFT: options.NFT, HostRoot: options.HostRoot})
}

// denied reports the packets that the rules for policies log. Their prefix is the direction.
func denied(ctx context.Context, report func(agent.DeniedPacket)) error {
	return nflog.Receive(ctx, policy.LogGroup, func(p nflog.Packet) {
		report(agent.DeniedPacket{Direction: p.Prefix, From: p.From, To: p.To, Protocol: p.Protocol, FromPort: p.FromPort, ToPort: p.ToPort})
	})
}
