package calico

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// world is a shoot in which Calico changes: what its nodes may be like, which pools may be in force, and what is there. A form that
// is deployed may arrive on any node at any time, or not at all, until a gate is open.
type world struct {
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
	// answered is true while the user answers for the routes: Calico is to make none, and nobody told the cloud to.
	answered bool
	// detours is true when the infrastructure lets IP-in-IP through.
	detours bool
	// addressed is true when pods have addresses of calico-ipam although packets go without a tunnel, because they had them before
	// or because the user answers for the routes.
	addressed bool
}

func newWorld(t *testing.T, initial form, ipip bool) *world {
	return &world{
		t: t, nodes: []form{initial}, pools: []form{initial}, typha: initial.Typha, typhas: []string{initial.IPAM}, detours: ipip,
		routed:    initial.native() && initial.Backend == backendNone,
		addressed: initial.native() && initial.Backend == backendNone && initial.IPAM == "calico-ipam",
	}
}

// deploy hands a form to the shoot.
func (w *world) deploy(f form, context ...string) {
	w.nodes, w.pools = append(w.nodes, f), append(w.pools, f)
	w.typha = w.typha && f.Typha
	w.typhas = append(w.typhas, f.typhaIPAM())
	w.check(context...)
}

// open is what is true once a stage's gate is.
func (w *world) open(taken *step, context ...string) {
	w.pools = []form{taken.form}
	for _, workload := range taken.gate.Workloads {
		switch workload.Kind {
		case "DaemonSet":
			w.nodes = []form{taken.form}
		case "Deployment":
			w.typha, w.typhas = taken.form.Typha, []string{taken.form.typhaIPAM()}
		}
	}
	w.routed = w.routed && taken.form.native() || taken.gate.Routes || w.answered
	w.check(context...)
}

// check proves that no pod is cut off, whatever node it is on and whatever pools are in force.
func (w *world) check(context ...string) {
	allBird, allHostLocal := true, true
	for _, node := range w.nodes {
		allBird = allBird && node.Backend == backendBird
		allHostLocal = allHostLocal && node.IPAM == "host-local"
		require.True(w.t, !node.NodesUseTypha || w.typha, "a node asks a Typha that does not run: %v", context)
	}
	for _, node := range w.nodes {
		if node.NodesUseTypha && node.IPAM == "calico-ipam" {
			require.NotContains(w.t, w.typhas, "host-local", "nobody tells of a node's ranges: %v", context)
		}
	}
	for _, pool := range w.pools {
		for _, node := range w.nodes {
			require.True(w.t, carries(node, pool), "packets go through a tunnel that a node lacks: %v: %v %v", context, node, pool)
		}
		if !pool.native() || allBird {
			continue
		}
		require.True(w.t, w.routed, "packets go without a tunnel, and nobody knows the way: %v", context)
		if w.detours && !w.addressed {
			require.True(w.t, allHostLocal, "pods get addresses to which the cloud knows no way: %v", context)
		}
	}
}

// carries reports whether a node can do with packets what the pools say.
func carries(node, pools form) bool {
	for _, way := range []*encapsulation{pools.IPv4, pools.IPv6} {
		if way == nil {
			continue
		}
		if way.IPIP != "Never" && (!node.IPIP || node.Backend != "bird") {
			return false
		}
		if way.VXLAN != "Never" && (!node.VXLAN || node.Backend == "none" || node.IPAM != "calico-ipam") {
			return false
		}
	}
	return true
}

// run goes towards a goal and opens as many gates as are given, or all. It returns what is deployed then.
func (w *world) run(from, goal form, s *settings, gates int, context ...string) (deployed form, arrived bool) {
	settled := false
	if w.answered = goal.native() && goal.Backend == backendNone && !s.cloudRoutes(); w.answered {
		w.routed, w.addressed = true, w.addressed || goal.IPAM == "calico-ipam"
	}
	for stages := 0; ; stages++ {
		require.Less(w.t, stages, 16, "the way has no end: %v", context)
		way := newChange(from, goal, settled, s)
		next := way.next()
		require.Equal(w.t, next, way.next(), "the same question has the same answer")
		if next == nil {
			w.deploy(goal, context...)
			return goal, true
		}
		from = next.form
		w.deploy(from, context...)
		if stages == gates {
			return from, false
		}
		w.open(next, context...)
		settled = true
	}
}
