package gardenet

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
)

// place is what may be in a shoot at one time.
type place struct {
	// deployed is the form that was deployed last.
	deployed form
	// nodes are the forms that single nodes may have. A form that is deployed may arrive on any node at any time, or not at all, until a gate is open.
	nodes []form
	// routed is true when the cloud has routes to the pods of all nodes.
	routed bool
}

func (p place) key() string {
	texts := make([]string, 0, len(p.nodes))
	for _, node := range p.nodes {
		texts = append(texts, describe(node))
	}
	slices.Sort(texts)
	return fmt.Sprint(describe(p.deployed), slices.Compact(texts), p.routed)
}

func describe(f form) string {
	text := string(f.Routes)
	if f.Tunnel != nil {
		text += fmt.Sprintf(" with tunnel %d", f.Tunnel.Port)
	}
	if f.TunnelEverywhere {
		text += " everywhere"
	}
	if f.WaitsForRoutes {
		text += " waiting"
	}
	return text
}

// deploy hands a form to the shoot.
func (p place) deploy(f form) (place, error) {
	if f.Routes == config.RoutesCloud && p.deployed.Routes != config.RoutesCloud && !p.routed {
		return place{}, fmt.Errorf("from %s to %s: the routes do not exist", describe(p.deployed), describe(f))
	}
	p.deployed, p.nodes = f, append(slices.Clone(p.nodes), f)
	// With the overlay on nobody keeps the cloud's routes.
	p.routed = p.routed && (!f.encapsulates() || f.WaitsForRoutes)
	return p, p.check()
}

// open is what is true once the gate of the stage is.
func (p place) open() place {
	p.nodes = []form{p.deployed}
	p.routed = p.routed || p.deployed.WaitsForRoutes
	return p
}

// check proves that each node accepts what each node sends.
func (p place) check() error {
	for _, sender := range p.nodes {
		for _, receiver := range p.nodes {
			if sender.encapsulates() && (receiver.Tunnel == nil || *receiver.Tunnel != *sender.Tunnel) {
				return fmt.Errorf("a node (%s) does not accept the packets of another one (%s)", describe(receiver), describe(sender))
			}
		}
	}
	return nil
}

// walk visits all places that changes of the goal at any time can lead to, whichever nodes have rolled out what.
type walk struct {
	t       *testing.T
	goals   []form
	seen    map[string]bool
	waiting []place
	refused int
}

func (w *walk) visit(p place) {
	if key := p.key(); !w.seen[key] {
		w.seen[key] = true
		w.waiting = append(w.waiting, p)
	}
}

// pursue goes from a place to a goal as the contract does, and visits all places on the way.
func (w *walk) pursue(p place, goal form) {
	w.t.Helper()
	if (change{from: p.deployed, to: goal}).refusal() != "" {
		w.refused++
		return
	}
	start, rolledOut := p.key(), false
	for stages := 0; ; stages++ {
		require.Less(w.t, stages, 8, "from %s to %s: there is no end", start, describe(goal))
		next := change{from: p.deployed, to: goal, rolledOut: rolledOut, routesProgrammed: true}.next()
		target := goal
		if next != nil {
			target = next.form
		}
		var err error
		p, err = p.deploy(target)
		require.NoError(w.t, err, "from %s to %s, after %d stages", start, describe(goal), stages)
		w.visit(p)
		if next == nil {
			require.Equal(w.t, goal, p.deployed)
			return
		}
		p, rolledOut = p.open(), true
		w.visit(p)
	}
}

// Wherever a shoot is, it arrives where it is wanted, and no pod is cut off meanwhile.
func TestChange_EveryPlace(t *testing.T) {
	w := &walk{t: t, goals: []form{byCloud(), byNodes(), wrapped(8472), wrapped(4790)}, seen: map[string]bool{}}
	for _, goal := range w.goals {
		w.visit(place{deployed: goal, nodes: []form{goal}, routed: goal.Routes == config.RoutesCloud})
	}
	visited := 0
	for ; len(w.waiting) > 0; visited++ {
		require.Less(t, visited, 200_000, "there are too many places")
		p := w.waiting[0]
		w.waiting = w.waiting[1:]
		for _, goal := range w.goals {
			w.pursue(p, goal)
		}
	}
	t.Logf("%d places, %d changes refused", visited, w.refused)
	require.Greater(t, visited, 100)
}
