package gardenet

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// servicePlace is what may be on a node of a shoot at one time, as far as Services are concerned. Nodes do not depend on each other for them.
type servicePlace struct {
	// wanted is true when the shoot wants kube-proxy, seen when the contract has reconciled that. gardenlet waits for it in each run, and runs again only then.
	wanted, seen bool
	// deployed is what routers are to do, router what the one on the node does; rolledOut is true when the gate was open.
	deployed, router services
	rolledOut        bool
	// rules is true when the router's are in the kernel, proxyRules when kube-proxy's are. proxyRuns is true while kube-proxy does.
	rules, proxyRuns, proxyRules bool
}

// serviceWalk knows what is the same in all places.
type serviceWalk struct {
	// sameTable is true when kube-proxy uses the router's table. In its other modes it removes that table when it starts.
	sameTable bool
	// next is what the driver does.
	next func(from, to services, rolledOut bool) services
}

func (p servicePlace) goal() services {
	if p.wanted {
		return ""
	}
	return servicesRouted
}

// events returns all places that one event leads to: of the user first, who may change their mind at any time.
func (w serviceWalk) events(p servicePlace) []servicePlace {
	toggled := p
	if p.seen {
		toggled.wanted, toggled.seen = !p.wanted, false
	}
	return []servicePlace{toggled, w.reconcile(p), p.openGate(), p.rollOut(), p.act(), w.runKubeProxy(p), p.syncKubeProxy()}
}

// reconcile deploys what the driver wants.
func (w serviceWalk) reconcile(p servicePlace) servicePlace {
	p.seen = true
	if next := w.next(p.deployed, p.goal(), p.rolledOut); next != p.deployed {
		p.deployed, p.rolledOut = next, false
	}
	return p
}

// openGate happens when the router on the node is ready.
func (p servicePlace) openGate() servicePlace {
	if p.deployed == servicesHandedOver && p.router == servicesHandedOver && p.proxyRuns && p.proxyRules && !p.rules {
		p.rolledOut = true
	}
	return p
}

// rollOut replaces the router. The former one leaves its rules.
func (p servicePlace) rollOut() servicePlace {
	p.router = p.deployed
	return p
}

// act is what a router does.
func (p servicePlace) act() servicePlace {
	switch {
	case p.router == servicesRouted:
		p.rules, p.proxyRules = true, p.proxyRules && p.proxyRuns
	case p.router == servicesHandedOver && p.proxyRuns && p.proxyRules:
		p.rules = false
	case p.router == servicesHandedOver:
		p.rules = true
	}
	return p
}

// runKubeProxy starts or ends kube-proxy. A router restores its table at once.
func (w serviceWalk) runKubeProxy(p servicePlace) servicePlace {
	if p.wanted && !p.proxyRuns && !w.sameTable {
		p.rules = p.rules && p.router != ""
	}
	p.proxyRuns = p.wanted
	return p
}

// syncKubeProxy makes kube-proxy's rules.
func (p servicePlace) syncKubeProxy() servicePlace {
	p.proxyRules = p.proxyRules || p.proxyRuns
	return p
}

// settle lets everything but the user go on until nothing changes.
func (w serviceWalk) settle(p servicePlace) servicePlace {
	for before := (servicePlace{}); before != p; {
		before = p
		p = w.runKubeProxy(p).syncKubeProxy()
		p = w.reconcile(p.openGate()).rollOut().act()
	}
	return p
}

// walk visits all places, and returns how many there are and the first in which nobody routes Services, or in which something is left in the end.
func (w serviceWalk) walk() (visited int, err error) {
	start := servicePlace{wanted: true, seen: true, proxyRuns: true, proxyRules: true}
	waiting, seen := []servicePlace{start}, map[servicePlace]bool{start: true}
	for ; len(waiting) > 0; visited++ {
		p := waiting[0]
		waiting = waiting[1:]
		if !p.rules && !p.proxyRules {
			return visited, fmt.Errorf("nobody routes Services: %+v", p)
		}
		for _, next := range w.events(p) {
			if !seen[next] {
				seen[next] = true
				waiting = append(waiting, next)
			}
		}
	}
	for p := range seen {
		end := w.settle(p)
		if end.deployed != p.goal() || end.rules == end.wanted || end.proxyRules != end.wanted {
			return visited, fmt.Errorf("from %+v it ends in %+v", p, end)
		}
	}
	return visited, nil
}

func nextServices(from, to services, rolledOut bool) services {
	next := change{from: form{Routes: "cloud", Services: from}, to: form{Routes: "cloud", Services: to}, rolledOut: rolledOut}.next()
	if next == nil {
		return to
	}
	return next.form.Services
}

// Whenever kube-proxy is switched on and off, each node routes Services by at least one of both, and in the end by the one that is wanted, without rules of the other.
func TestChange_EveryServicePlace(t *testing.T) {
	for _, sameTable := range []bool{false, true} {
		visited, err := serviceWalk{sameTable: sameTable, next: nextServices}.walk()
		require.NoError(t, err, "the same table: %t", sameTable)
		t.Logf("%d places, the same table: %t", visited, sameTable)
		assert.Greater(t, visited, 30)
	}
}

// Without the stage, a node may be left without rules until kube-proxy has made its own.
func TestChange_EveryServicePlace_WithoutStage(t *testing.T) {
	_, err := serviceWalk{next: func(_, to services, _ bool) services { return to }}.walk()
	assert.ErrorContains(t, err, "nobody routes Services")
}
