package calico

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeCluster is a shoot in which Calico changes: what its nodes may be like, which pools may be in force, and what is there. A form that
// is deployed may arrive on any node at any time, or not at all, until a gate is open.
type fakeCluster struct {
	t *testing.T
	// nodes and pools are the forms that single nodes and the pools may have.
	nodes, pools []form
	// typha is true when Typha certainly runs.
	typha bool
	// typhas are those of whose ranges of addresses single Typhas may tell.
	typhas []string
	// routed is true when packets that go without a tunnel find their way without BIRD: the cloud has its routes, or whoever told
	// Calico to make none has others.
	routed bool
	// routesByUser is true while the user answers for the routes: Calico is to make none, and nobody told the cloud to.
	routesByUser bool
	// ipipAllowed is true when the infrastructure lets IP-in-IP through.
	ipipAllowed bool
	// calicoIPAMAllowed is true when pods have addresses of calico-ipam although packets go without a tunnel, because they had them before
	// or because the user answers for the routes.
	calicoIPAMAllowed bool
}

func newFakeCluster(t *testing.T, initial form, ipip bool) *fakeCluster {
	return &fakeCluster{
		t: t, nodes: []form{initial}, pools: []form{initial}, typha: initial.Typha, typhas: []string{initial.IPAM}, ipipAllowed: ipip,
		routed:            initial.native() && initial.Backend == backendNone,
		calicoIPAMAllowed: initial.native() && initial.Backend == backendNone && initial.IPAM == "calico-ipam",
	}
}

// deploy hands a form to the shoot.
func (c *fakeCluster) deploy(f form, context ...string) {
	c.nodes, c.pools = append(c.nodes, f), append(c.pools, f)
	c.typha = c.typha && f.Typha
	c.typhas = append(c.typhas, f.typhaIPAM())
	c.check(context...)
}

// open is what is true once a stage's gate is.
func (c *fakeCluster) open(taken *step, context ...string) {
	c.pools = []form{taken.form}
	for _, workload := range taken.gate.Workloads {
		switch workload.Kind {
		case "DaemonSet":
			c.nodes = []form{taken.form}
		case "Deployment":
			c.typha, c.typhas = taken.form.Typha, []string{taken.form.typhaIPAM()}
		}
	}
	c.routed = c.routed && taken.form.native() || taken.gate.Routes || c.routesByUser
	c.check(context...)
}

// check proves that no pod is cut off, whatever node it is on and whatever pools are in force.
func (c *fakeCluster) check(context ...string) {
	allBird, allHostLocal := true, true
	for _, node := range c.nodes {
		allBird = allBird && node.Backend == backendBird
		allHostLocal = allHostLocal && node.IPAM == "host-local"
		require.True(c.t, !node.NodesUseTypha || c.typha, "a node asks a Typha that does not run: %v", context)
	}
	for _, node := range c.nodes {
		if node.NodesUseTypha && node.IPAM == "calico-ipam" {
			require.NotContains(c.t, c.typhas, "host-local", "nobody tells of a node's ranges: %v", context)
		}
	}
	for _, pool := range c.pools {
		for _, node := range c.nodes {
			require.True(c.t, canCarry(node, pool), "packets go through a tunnel that a node lacks: %v: %v %v", context, node, pool)
		}
		if !pool.native() || allBird {
			continue
		}
		require.True(c.t, c.routed, "packets go without a tunnel, and nobody knows the way: %v", context)
		if c.ipipAllowed && !c.calicoIPAMAllowed {
			require.True(c.t, allHostLocal, "pods get addresses to which the cloud knows no way: %v", context)
		}
	}
}

// canCarry reports whether a node can do with packets what the pools say.
func canCarry(node, pools form) bool {
	for _, encap := range []*encapsulation{pools.IPv4, pools.IPv6} {
		if encap == nil {
			continue
		}
		if encap.IPIP != "Never" && (!node.IPIP || node.Backend != "bird") {
			return false
		}
		if encap.VXLAN != "Never" && (!node.VXLAN || node.Backend == "none" || node.IPAM != "calico-ipam") {
			return false
		}
	}
	return true
}

// run goes towards a goal and opens as many gates as are given, or all. It returns what is deployed then.
func (c *fakeCluster) run(from, goal form, s *settings, gates int, context ...string) (deployed form, arrived bool) {
	rolledOut := false
	if c.routesByUser = goal.native() && goal.Backend == backendNone && !s.cloudRoutes(); c.routesByUser {
		c.routed, c.calicoIPAMAllowed = true, c.calicoIPAMAllowed || goal.IPAM == "calico-ipam"
	}
	for stages := 0; ; stages++ {
		require.Less(c.t, stages, 16, "the way has no end: %v", context)
		transition := newChange(from, goal, rolledOut, s)
		next := transition.next()
		require.Equal(c.t, next, transition.next(), "the same question has the same answer")
		if next == nil {
			c.deploy(goal, context...)
			return goal, true
		}
		from = next.form
		c.deploy(from, context...)
		if stages == gates {
			return from, false
		}
		c.open(next, context...)
		rolledOut = true
	}
}
