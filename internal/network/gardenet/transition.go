package gardenet

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/apis/gardenet/validation"
	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/network"
)

// change computes the stages from one form to another. While a form is not rolled out, nodes may have it or a form before it. At any time a node sends in a form only
// when every node accepts it, and uses routes only after these exist: each node accepts packets without a tunnel, and those of the tunnel that it has; routes of
// nodes exist when they are used, since each node makes its own, while the cloud has to report its routes. And at any time each node routes Services by at least one
// of both, kube-proxy and gardenet:
//   - When gardenet begins, kube-proxy's rules stay in the kernel after kube-proxy has ended. A router removes them when its own are complete and kube-proxy is gone.
//   - When kube-proxy is switched on again, the contract cannot know when it runs on a node, but the router there can: it hands over, which takes a stage, since
//     rules would stay for ever without a process that removes them. A router that ends leaves its rules.
//
// These change without stages, since no order would help:
//   - Families. Pods get addresses of a new family when they are created; there are no packets to such addresses before.
//   - The MTU. Pods get it when they are created, and nodes report to senders which packets are too large. While there is a tunnel it is smaller, so that it
//     decreases before packets are encapsulated, and increases after the last one was.
//   - Masquerading, NetworkPolicies, host ports and bandwidth. Each node handles the packets of its own pods.
//   - From routes of the cloud to routes of nodes.
type change struct {
	from, to form
	// rolledOut is true when all nodes have the form from.
	rolledOut bool
	// routesProgrammed is true when routes of the cloud have to be programmed before they can be used.
	routesProgrammed bool
}

// step is a form between the two.
type step struct {
	name string
	form form
}

// gate is what must be true before the next step.
func (s step) gate() network.Gate {
	gate := network.Gate{
		Workloads: []network.Workload{{Kind: "DaemonSet", Namespace: metav1.NamespaceSystem, Name: agentName}},
		Routes:    s.form.WaitsForRoutes,
	}
	if s.form.Services == servicesHandedOver {
		gate.Workloads = append(gate.Workloads, network.Workload{Kind: "DaemonSet", Namespace: metav1.NamespaceSystem, Name: routerName})
	}
	return gate
}

// refusal returns why a change is impossible; it is empty if it is possible. Admission refuses the same with the same words.
func (c change) refusal() string {
	if err := (validation.Change{From: c.from.sendsThrough(), To: c.to.sendsThrough()}).Validate(); err != nil {
		return err.Field + " " + err.Detail
	}
	return ""
}

func (f form) sendsThrough() *validation.Tunnel {
	if !f.encapsulates() || f.Tunnel == nil {
		return nil
	}
	return &validation.Tunnel{ID: f.Tunnel.ID, Port: f.Tunnel.Port}
}

// next returns the step before the goal, nil if the goal can be deployed now. Routes and Services change independently, so that they share their steps.
func (c change) next() *step {
	next, services := c.nextRoutes(), c.nextServices()
	switch {
	case next == nil && services == c.to.Services:
		return nil
	case next == nil:
		next = &step{name: "handing Services over to kube-proxy on all nodes", form: c.to}
	}
	next.form.Services = services
	return next
}

// nextServices returns what the routers do next: hand over before they go.
func (c change) nextServices() services {
	handedOver := c.from.Services == servicesHandedOver && c.rolledOut
	if c.to.Services == "" && c.from.Services != "" && !handedOver {
		return servicesHandedOver
	}
	return c.to.Services
}

// nextRoutes returns the step before the routes of the goal.
func (c change) nextRoutes() *step {
	phases := []func() *step{c.waitForRoutes, c.leaveTunnel}
	if c.to.encapsulates() {
		phases = []func() *step{c.prepareTunnel}
	}
	for _, phase := range phases {
		if next := phase(); next != nil {
			next.form.MTU = c.to.MTU
			return next
		}
	}
	return nil
}

// prepareTunnel gives all nodes the tunnel through which no node sends yet. If they had another one, no node may send through it any more.
func (c change) prepareTunnel() *step {
	next := c.from
	next.WaitsForRoutes = false
	switch same := next.Tunnel != nil && *next.Tunnel == *c.to.Tunnel; {
	case c.from.encapsulates():
		return nil
	case same && (c.rolledOut || c.from.TunnelEverywhere):
		return nil
	case same:
		return &step{name: "bringing up tunnels on all nodes", form: next}
	case next.Tunnel != nil && !c.rolledOut:
		return &step{name: "waiting until no node uses the former tunnel", form: next}
	default:
		next.Tunnel, next.TunnelEverywhere = c.to.Tunnel, false
		return &step{name: "bringing up tunnels on all nodes", form: next}
	}
}

// waitForRoutes changes only who reports the network of nodes, until the cloud routes to the pods of all nodes.
func (c change) waitForRoutes() *step {
	if c.to.Routes != config.RoutesCloud || c.from.Routes == config.RoutesCloud || !c.routesProgrammed || c.from.WaitsForRoutes && c.rolledOut {
		return nil
	}
	next := c.from
	next.WaitsForRoutes = true
	return &step{name: "waiting for the cloud to route to the pods of all nodes", form: next}
}

// leaveTunnel makes all nodes send packets without the tunnel before any node gives it up.
func (c change) leaveTunnel() *step {
	if c.from.Tunnel == nil || c.rolledOut && !c.from.encapsulates() {
		return nil
	}
	next := form{Routes: c.to.Routes, Tunnel: c.from.Tunnel, TunnelEverywhere: c.from.TunnelEverywhere || c.from.encapsulates()}
	return &step{name: "sending packets without tunnels on all nodes, which keep them", form: next}
}
