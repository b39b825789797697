package calico

import (
	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/calico/validation"
	"github.com/trellis-garden/trellis/internal/network"
)

// change is the way from one form to another: nodes first get all that the old and the new way between pods need, then the pools
// switch, and last the nodes lose what is needed no more. While a stage is not settled nodes may be of its form or of the one
// before, and pools too. What holds at any time: all nodes have what the pools need.
//
// These go without stages, since no order would help:
//   - Families. Pods of a family that is new get their addresses when they are made; nobody has sent them anything before.
//   - The eBPF data plane on and off. A node drops the connections that it has tracked when it changes, and NodePorts do not
//     work across nodes of both kinds until all have changed; Calico knows no state in between. Until a node changes it goes
//     on with the rules that kube-proxy has left on it, also if kube-proxy is gone.
//   - nftables on and off. Felix removes its rules of the other kind when it starts, and neither kind knows other nodes.
//   - WireGuard on and off. A node encrypts packets for those nodes that have published a key, so both kinds understand each
//     other. When it is switched off a node withdraws its key; packets that are under way to it are lost.
//
// Neither do nodes that go from host-local to calico-ipam, once BIRD makes all routes and Typha is ready for it. calico-ipam's upgrade
// runs before the node's pod does, and claims for the pods on the node the addresses that they have; BIRD tells other nodes of ranges of
// both kinds. Calico's source (cni-plugin/pkg/upgrade) admits one gap: a node that has changed may take an address that a node
// which has not gives a pod of its own at the same time; it heals when that pod is made anew. Users are told (messages.go).
type change struct {
	from, to form
	// rolledOut is true when all nodes are of the form from, and so are the pools.
	rolledOut bool
	// cloudRoutes is true when the way to pods is the cloud's to know in the end.
	cloudRoutes bool
	// noPodRoutes is true when IPv6 joins without a word on the overlay and, since its packets take no tunnel, nobody makes routes to
	// pods in the end.
	noPodRoutes bool
	// ipip is true when the infrastructure lets IP-in-IP through.
	ipip bool
}

// newChange is the way from what is deployed to a goal, in a shoot with these settings.
func newChange(deployed, goal form, rolledOut bool, s *settings) change {
	return change{
		from: deployed.comparableTo(goal), to: goal, rolledOut: rolledOut, cloudRoutes: s.cloudRoutes(), ipip: s.infrastructure.IPIP,
		noPodRoutes: deployed.IPv6 == nil && goal.IPv6 != nil && s.config.Overlay == nil && s.lacksRoutes(),
	}
}

// step is a form on the way.
type step struct {
	name string
	form form
	gate network.Gate
}

func nodesGate() network.Gate {
	return network.Gate{Workloads: []network.Workload{{Kind: "DaemonSet", Namespace: "kube-system", Name: "calico-node"}}}
}

func typhaGate() network.Gate {
	gate := nodesGate()
	gate.Workloads = append(gate.Workloads, network.Workload{Kind: "Deployment", Namespace: "kube-system", Name: "calico-typha-deploy"})
	return gate
}

func routesGate() network.Gate {
	gate := nodesGate()
	gate.Routes = true
	return gate
}

// refusal says why there is no way; it is empty where there is one. Admission refuses the same in the same words.
func (c change) refusal() string {
	whole := validation.Change{From: c.from.dataPlane(), To: c.to.dataPlane(), CloudRoutes: c.cloudRoutes, NoPodRoutes: c.noPodRoutes}
	if err := whole.Validate(); err != nil {
		return err.Field + " " + err.Detail
	}
	return ""
}

func (f form) dataPlane() validation.DataPlane {
	return validation.DataPlane{IPAM: f.IPAM, Backend: calicov1alpha1.Backend(f.Backend), Native: f.native(), IPv6: f.IPv6 != nil}
}

// next returns the step to be taken before the goal, nil if the goal can be deployed now.
func (c change) next() *step {
	for _, phase := range []func() *step{c.startTypha, c.waitForRoutes, c.keepPodsReachable, c.prepareTyphaIPAM, c.prepareNodes, c.switchPools, c.stopTypha} {
		if next := phase(); next != nil {
			return next
		}
	}
	return nil
}

// startTypha brings Typha up before nodes ask it: a node that cannot reach the Typha it is told to use does nothing else.
func (c change) startTypha() *step {
	if !c.to.NodesUseTypha || c.from.NodesUseTypha || c.from.Typha && c.rolledOut {
		return nil
	}
	next := c.from
	next.Typha, next.WaitsForRoutes = true, false
	return &step{name: "starting Typha before nodes use it", form: next, gate: typhaGate()}
}

// waitForRoutes keeps everything as it is until the cloud routes to the pods of all nodes.
func (c change) waitForRoutes() *step {
	routed := c.from.Backend == backendNone && c.from.native()
	if !c.cloudRoutes || routed || c.from.WaitsForRoutes && c.rolledOut {
		return nil
	}
	next := c.from
	next.WaitsForRoutes = true
	return &step{name: "waiting for the cloud to route to the pods of all nodes", form: next, gate: routesGate()}
}

// keepPodsReachable makes a detour where host-local becomes calico-ipam, which gives pods addresses that are not of their node's range,
// while packets go without a tunnel and the cloud knows the ways. If they are to go through a tunnel it goes to IP-in-IP first, by which
// pods are reached whatever their address, and which goes with host-local; VXLAN does not. Else BIRD has to tell of the addresses, and
// nodes get that first. Where IP-in-IP does not pass there is no such way: pods that are made while nodes get ready for VXLAN may be
// out of reach until they are.
func (c change) keepPodsReachable() *step {
	const host, calico = calicov1alpha1.IPAMHostLocal, calicov1alpha1.IPAMCalico
	if !c.from.native() || c.from.IPAM != host || c.to.IPAM != calico {
		return nil
	}
	if c.to.native() && c.to.Backend == backendBird {
		next := c.from
		next.Backend = backendBird
		if c.rolledOut && next.nodes() == c.from.nodes() {
			return nil
		}
		next.TyphaIPAM = ""
		return &step{name: "bringing up BIRD on all nodes", form: next, gate: nodesGate()}
	}
	if !c.ipip || c.to.native() {
		return nil
	}
	detour := c
	detour.to.IPAM, detour.to.Backend = host, backendBird
	detour.to.IPIP, detour.to.VXLAN = true, false
	detour.to.IPv4 = &encapsulation{IPIP: always, VXLAN: never}
	detour.to.Typha, detour.to.NodesUseTypha = c.from.Typha, c.from.NodesUseTypha
	if next := detour.next(); next != nil {
		return next
	}
	return &step{name: "going over by IP-in-IP", form: detour.to}
}

// prepareTyphaIPAM makes Typha tell of calico-ipam's ranges before any node uses one: it keeps them from its nodes as long as it goes with
// host-local. Nodes that do that themselves know their ranges anyway; all that they miss meanwhile are the addresses of their own tunnels,
// which packets of pods do not carry.
func (c change) prepareTyphaIPAM() *step {
	const host, calico = calicov1alpha1.IPAMHostLocal, calicov1alpha1.IPAMCalico
	if !c.to.NodesUseTypha || c.from.IPAM != host || c.to.IPAM != calico || c.from.TyphaIPAM == calico && c.rolledOut {
		return nil
	}
	next := c.from
	next.Typha, next.TyphaIPAM = true, calico
	return &step{name: "making Typha ready for calico-ipam", form: next, gate: typhaGate()}
}

// prepareNodes gives all nodes what the old pools need and what the new ones do, while the pools are the old ones.
func (c change) prepareNodes() *step {
	if c.from.samePools(c.to) {
		return nil
	}
	next := c.from
	next.Backend = wider(c.from.Backend, c.to.Backend)
	next.IPIP, next.VXLAN = c.from.IPIP || c.to.IPIP, c.from.VXLAN || c.to.VXLAN
	next.IPAM, next.TyphaIPAM = c.to.IPAM, ""
	// Without a tunnel packets to the nodes' DNS servers carry the addresses of pods, unless they are masqueraded.
	next.UpstreamDNS = c.from.UpstreamDNS || c.to.UpstreamDNS
	needed := c.to.requiredFeatures()
	needed.bird = needed.bird || c.to.Backend == backendBird
	certain := c.from.requiredFeatures().covers(needed) && !c.to.UpstreamDNS
	if next.nodes() == c.from.nodes() && (c.rolledOut || certain) {
		return nil
	}
	next.NodesUseTypha = c.to.NodesUseTypha
	gate := nodesGate()
	// Nodes that have joined meanwhile need a route as well.
	gate.Routes = next.WaitsForRoutes
	return &step{name: "preparing all nodes for the new way between pods", form: next, gate: gate}
}

// switchPools makes packets go the new way, which all nodes are ready for. Nodes stay as they are until then.
func (c change) switchPools() *step {
	if c.from.nodes() == c.to.nodes() {
		return nil
	}
	shrinks := wider(c.from.Backend, c.to.Backend) != c.to.Backend || !c.to.availableFeatures().covers(c.from.availableFeatures())
	if c.from.samePools(c.to) && (c.rolledOut || !shrinks) {
		return nil
	}
	next := c.from
	next.IPv4, next.IPv6 = c.to.IPv4, c.to.IPv6
	return &step{name: "switching to the new way between pods", form: next}
}

// stopTypha keeps Typha until no node asks it.
func (c change) stopTypha() *step {
	if !c.from.Typha || c.to.Typha {
		return nil
	}
	next := c.to
	next.Typha = true
	if c.rolledOut && c.from.same(next) {
		return nil
	}
	return &step{name: "making nodes go without Typha before it ends", form: next, gate: nodesGate()}
}
