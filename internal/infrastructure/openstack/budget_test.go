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

// newWarmEnvironment has a session that is logged in, and has found the floating network for another shoot before. Its driver repeats full checks.
func newWarmEnvironment(t *testing.T) *environment {
	env := newEnvironment(t)
	env.fullCheckInterval = 10 * time.Minute
	env.driver = New(env.sessions, Options{FullCheckInterval: env.fullCheckInterval})
	env.findFloatingNetworkBefore()
	return env
}

// findFloatingNetworkBefore creates and deletes another shoot of the account.
func (env *environment) findFloatingNetworkBefore() {
	env.t.Helper()
	env.mustReconcile()
	env.mustDelete()
	env.forgetShoot()
	env.cloud.ResetLog()
}

func TestDriver_APICalls(t *testing.T) {
	env := newWarmEnvironment(t)
	empty := env.resources()

	env.mustReconcile()
	assertCalls(t, env.takeCalls(), map[string]int{
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
	assertCalls(t, env.takeCalls(), map[string]int{
		"neutron GET /v2.0/networks":        1,
		"neutron GET /v2.0/routers":         1,
		"neutron GET /v2.0/subnets":         1,
		"neutron GET /v2.0/ports":           1,
		"neutron GET /v2.0/security-groups": 1,
		"nova GET /v2.1/os-keypairs/{id}":   1,
	})
	env.mustReconcile()
	assertCalls(t, env.takeCalls(), map[string]int{"neutron GET /v2.0/routers": 1})
	assert.Equal(t, before, env.state(), "a pass that finds nothing to do changes nothing")

	env.mustDelete()
	assertCalls(t, env.takeCalls(), map[string]int{
		"nova DELETE /v2.1/os-keypairs/{id}":                     1,
		"neutron DELETE /v2.0/security-groups/{id}":              1,
		"octavia GET /v2.0/lbaas/loadbalancers":                  1,
		"neutron PUT /v2.0/routers/{id}/remove_router_interface": 1,
		"neutron DELETE /v2.0/routers/{id}":                      1,
		"neutron DELETE /v2.0/networks/{id}":                     1,
	})
	env.assertUnchanged(empty)
}

// The depth of a pass is counted, not timed: with all calls of one wave held until nothing new arrives, a pass ends after
// as many waves as it has round trips.
func TestDriver_APICallWaves(t *testing.T) {
	env := newWarmEnvironment(t)
	assert.Equal(t, 3, env.countWaves(func() { env.mustReconcile() }), "first")
	assert.Equal(t, 1, env.countWaves(func() { env.mustReconcile() }), "full check")
	assert.Equal(t, 1, env.countWaves(func() { env.mustReconcile() }), "repetition")
	assert.Equal(t, 3, env.countWaves(func() { env.mustDelete() }), "delete")
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
