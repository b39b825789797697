package openstack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// budget asserts the calls of a pass by name, and prints them in order when they are others.
func budget(t *testing.T, calls wire.Calls, want map[string]int) {
	t.Helper()
	assert.Equal(t, want, calls.Count(), "calls in order:\n%s", calls)
	t.Logf("%d calls, at most %d at once:\n%s", len(calls), calls.MaxInFlight(), calls)
}

func TestBudgetOfTheDefaultShoot(t *testing.T) {
	w := newWorld(t)
	empty := w.there()

	w.mustReconcile()
	budget(t, w.calls(), map[string]int{
		"neutron GET /v2.0/networks":                          1, // the floating network
		"neutron POST /v2.0/networks":                         1,
		"neutron POST /v2.0/security-groups":                  1,
		"neutron POST /v2.0/security-group-rules":             1,
		"nova POST /v2.1/os-keypairs":                         1,
		"neutron POST /v2.0/routers":                          1,
		"neutron POST /v2.0/subnets":                          1,
		"neutron PUT /v2.0/routers/{id}/add_router_interface": 1,
	})

	before := w.state()
	w.mustReconcile()
	noop := w.calls()
	budget(t, noop, map[string]int{
		"neutron GET /v2.0/networks":        1,
		"neutron GET /v2.0/routers":         1,
		"neutron GET /v2.0/subnets":         1,
		"neutron GET /v2.0/ports":           1,
		"neutron GET /v2.0/security-groups": 1,
		"nova GET /v2.1/os-keypairs/{id}":   1,
	})
	assert.Equal(t, before, w.state(), "a pass that finds nothing to do changes nothing")

	w.mustDelete()
	budget(t, w.calls(), map[string]int{
		"nova GET /v2.1/os-keypairs/{id}":                        1,
		"nova DELETE /v2.1/os-keypairs/{id}":                     1,
		"neutron DELETE /v2.0/security-groups/{id}":              1,
		"octavia GET /v2.0/lbaas/loadbalancers":                  1,
		"neutron GET /v2.0/routers/{id}":                         1,
		"neutron PUT /v2.0/routers/{id}/remove_router_interface": 1,
		"neutron DELETE /v2.0/subnets/{id}":                      1,
		"neutron DELETE /v2.0/routers/{id}":                      1,
		"neutron DELETE /v2.0/networks/{id}":                     1,
	})
	w.unchanged(empty)
}

// The depth of a pass is counted, not timed: with all calls of one wave held until nothing new arrives, a pass ends after
// as many waves as it has round trips.
func TestDepthOfTheDefaultShoot(t *testing.T) {
	w := newWorld(t)
	assert.LessOrEqual(t, w.waves(func() { w.mustReconcile() }), 4, "first")
	assert.Equal(t, 1, w.waves(func() { w.mustReconcile() }), "no-op")
	assert.LessOrEqual(t, w.waves(func() { w.mustDelete() }), 5, "delete")
}

// waves runs do with every call held back until the cloud has been quiet for a while, and counts how often calls were let
// go.
func (w *world) waves(do func()) int {
	w.t.Helper()
	const quiet = 100 * time.Millisecond
	arrived := make(chan chan struct{})
	w.cloud.SetHook(func(event wire.Event) wire.Verdict {
		if event.Phase == wire.Before {
			proceed := make(chan struct{})
			arrived <- proceed
			<-proceed
		}
		return wire.Proceed
	})
	defer w.cloud.SetHook(nil)
	done := make(chan struct{})
	go func() { defer close(done); do() }()

	count := 0
	var held []chan struct{}
	for {
		select {
		case <-done:
			return count
		case proceed := <-arrived:
			held = append(held, proceed)
		case <-time.After(quiet):
			if len(held) > 0 {
				count++
			}
			for _, proceed := range held {
				close(proceed)
			}
			held = nil
		}
	}
}
