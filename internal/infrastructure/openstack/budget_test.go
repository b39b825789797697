package openstack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// assertCalls asserts the calls of a pass by name, and prints them in order when they are others.
func assertCalls(t *testing.T, calls wire.Calls, want map[string]int) {
	t.Helper()
	assert.Equal(t, want, calls.Count(), "calls in order:\n%s", calls)
	t.Logf("%d calls, at most %d at once:\n%s", len(calls), calls.MaxInFlight(), calls)
}

func TestDriver_APICalls(t *testing.T) {
	env := newEnvironment(t)
	empty := env.resources()

	env.mustReconcile()
	assertCalls(t, env.takeCalls(), map[string]int{
		"neutron GET /v2.0/networks":                          1, // the floating network
		"neutron POST /v2.0/networks":                         1,
		"neutron POST /v2.0/security-groups":                  1,
		"neutron POST /v2.0/security-group-rules":             1,
		"nova POST /v2.1/os-keypairs":                         1,
		"neutron POST /v2.0/routers":                          1,
		"neutron POST /v2.0/subnets":                          1,
		"neutron PUT /v2.0/routers/{id}/add_router_interface": 1,
	})

	before := env.state()
	env.mustReconcile()
	noop := env.takeCalls()
	assertCalls(t, noop, map[string]int{
		"neutron GET /v2.0/networks":        1,
		"neutron GET /v2.0/routers":         1,
		"neutron GET /v2.0/subnets":         1,
		"neutron GET /v2.0/ports":           1,
		"neutron GET /v2.0/security-groups": 1,
		"nova GET /v2.1/os-keypairs/{id}":   1,
	})
	assert.Equal(t, before, env.state(), "a pass that finds nothing to do changes nothing")

	env.mustDelete()
	assertCalls(t, env.takeCalls(), map[string]int{
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
	env.assertUnchanged(empty)
}

// The depth of a pass is counted, not timed: with all calls of one wave held until nothing new arrives, a pass ends after
// as many waves as it has round trips.
func TestDriver_APICallWaves(t *testing.T) {
	env := newEnvironment(t)
	assert.LessOrEqual(t, env.countWaves(func() { env.mustReconcile() }), 4, "first")
	assert.Equal(t, 1, env.countWaves(func() { env.mustReconcile() }), "no-op")
	assert.LessOrEqual(t, env.countWaves(func() { env.mustDelete() }), 5, "delete")
}

// countWaves runs do with every call held back until the cloud has been quiet for a while, and counts how often calls were let
// go.
func (env *environment) countWaves(do func()) int {
	env.t.Helper()
	const quiet = 100 * time.Millisecond
	arrived := make(chan chan struct{})
	env.cloud.SetHook(func(event wire.Event) wire.HookResult {
		if event.Phase == wire.Before {
			proceed := make(chan struct{})
			arrived <- proceed
			<-proceed
		}
		return wire.Proceed
	})
	defer env.cloud.SetHook(nil)
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
