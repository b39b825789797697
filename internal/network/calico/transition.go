package calico

import (
	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/calico/validation"
	"github.com/trellis-garden/trellis/internal/network"
)

// change computes the stages from one form to another: nodes first get everything that the old and the new form need, then the pools switch, and last
// the nodes lose what is not needed any more. While a stage is not rolled out, nodes and pools may have its form or the previous one. At any time all
// nodes have what the pools need.
//
// These change without stages, since no order would help:
//   - Families. Pods get addresses of a new family when they are created; no traffic to these addresses exists before.
//   - The eBPF data plane on and off. A node drops its tracked connections when it changes, and NodePorts do not work across
//     nodes of both kinds until all have changed; Calico has no state in between. Until a node changes, it uses the rules that
//     kube-proxy has left on it, even without kube-proxy.
//   - nftables on and off. Felix removes its rules of the other kind when it starts, and neither kind depends on other nodes.
//   - WireGuard on and off. A node encrypts packets for those nodes that have published a key, so both kinds can
//     communicate. When it is switched off, a node withdraws its key; packets in flight to it are lost.
//
// Nor are there stages when nodes change from host-local to calico-ipam, once BIRD programs all routes and Typha is ready for it. calico-ipam's upgrade
// runs before the node's pod starts, and claims the addresses of the pods on the node; BIRD announces ranges of both kinds to other nodes. Calico's
// source (cni-plugin/pkg/upgrade) admits one gap: a node that has changed may take an address that a node which has not changed assigns to a pod at the
// same time; recreating that pod resolves it. A message tells users (messages.go).
type change struct {
	from, to form
	// rolledOut is true when all nodes and the pools have the form from.
	rolledOut bool
	// cloudRoutes is true when a route controller of the cloud programs routes to pods in the goal.
	cloudRoutes bool
	// noPodRoutes is true when IPv6 is added while overlay.enabled is not set and, since IPv6 packets use no tunnel, nothing programs routes to pods in
	// the goal.
	noPodRoutes bool
	// ipip is true when the infrastructure allows IP-in-IP.
	ipip bool
}

// newChange returns the change from what is deployed to a goal, in a shoot with these settings.
func newChange(deployed, goal form, rolledOut bool, s *settings) change {
	return change{
		from: deployed.comparableTo(goal), to: goal, rolledOut: rolledOut, cloudRoutes: s.routesProgrammed(), ipip: s.infrastructure.IPIP,
		noPodRoutes: deployed.IPv6 == nil && goal.IPv6 != nil && s.config.Overlay == nil && s.lacksRoutes(),
	}
}

// step is a form between the two.
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

// refusal returns why a change is impossible; it is empty if it is possible. Admission refuses the same with the same words.
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

// next returns the step before the goal, nil if the goal can be deployed now.
func (c change) next() *step {
	for _, phase := range []func() *step{c.startTypha, c.waitForRoutes, c.keepPodsReachable, c.prepareTyphaIPAM, c.prepareNodes, c.switchPools, c.stopTypha} {
		if next := phase(); next != nil {
			return next
		}
	}
	return nil
}

// startTypha deploys Typha before nodes use it: a node that cannot reach its Typha stops working.
func (c change) startTypha() *step {
	if !c.to.NodesUseTypha || c.from.NodesUseTypha || c.from.Typha && c.rolledOut {
		return nil
	}
	next := c.from
	next.Typha, next.WaitsForRoutes = true, false
	return &step{name: "starting Typha before nodes use it", form: next, gate: typhaGate()}
}

// waitForRoutes changes nothing until the cloud routes to the pods of all nodes.
func (c change) waitForRoutes() *step {
	routed := c.from.Backend == backendNone && c.from.native()
	if !c.cloudRoutes || routed || c.from.WaitsForRoutes && c.rolledOut {
		return nil
	}
	next := c.from
	next.WaitsForRoutes = true
	return &step{name: "waiting for the cloud to route to the pods of all nodes", form: next, gate: routesGate()}
}

// keepPodsReachable adds steps where host-local becomes calico-ipam, which assigns pods addresses outside their node's range, while packets use no
// tunnel and the cloud routes them. If the goal has a tunnel, IP-in-IP is the first step: it reaches pods whatever their address and works with
// host-local; VXLAN does not. Otherwise BIRD must announce the addresses, so nodes get BIRD first. Where the infrastructure blocks IP-in-IP there is no
// such step: pods that are created while nodes prepare for VXLAN may be unreachable until they have.
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

// prepareTyphaIPAM lets Typha send calico-ipam's ranges before any node uses one: it withholds them from its nodes while its IPAM is host-local. Nodes
// that read them directly know their own ranges anyway; they only lack the addresses of their own tunnels meanwhile, which packets of pods do not carry.
func (c change) prepareTyphaIPAM() *step {
	const host, calico = calicov1alpha1.IPAMHostLocal, calicov1alpha1.IPAMCalico
	if !c.to.NodesUseTypha || c.from.IPAM != host || c.to.IPAM != calico || c.from.TyphaIPAM == calico && c.rolledOut {
		return nil
	}
	next := c.from
	next.Typha, next.TyphaIPAM = true, calico
	return &step{name: "making Typha ready for calico-ipam", form: next, gate: typhaGate()}
}

// prepareNodes gives all nodes what the old and the new pools need, while the pools are the old ones.
func (c change) prepareNodes() *step {
	if c.from.samePools(c.to) {
		return nil
	}
	next := c.from
	next.Backend = wider(c.from.Backend, c.to.Backend)
	next.IPIP, next.VXLAN = c.from.IPIP || c.to.IPIP, c.from.VXLAN || c.to.VXLAN
	next.IPAM, next.TyphaIPAM = c.to.IPAM, ""
	// Without a tunnel, packets to the nodes' DNS servers carry the addresses of pods unless they are masqueraded.
	next.UpstreamDNS = c.from.UpstreamDNS || c.to.UpstreamDNS
	needed := c.to.requiredFeatures()
	needed.bird = needed.bird || c.to.Backend == backendBird
	certain := c.from.requiredFeatures().covers(needed) && !c.to.UpstreamDNS
	if next.nodes() == c.from.nodes() && (c.rolledOut || certain) {
		return nil
	}
	next.NodesUseTypha = c.to.NodesUseTypha
	gate := nodesGate()
	// Nodes that joined meanwhile need a route as well.
	gate.Routes = next.WaitsForRoutes
	return &step{name: "preparing all nodes for the new way between pods", form: next, gate: gate}
}

// switchPools switches the pools to the new form, which all nodes are ready for. Nodes do not change.
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

// stopTypha keeps Typha until no node uses it.
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
