package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/fleet"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// winner is a run that wins all comparisons.
func winner() *results {
	infrastructure := controller.Infrastructure().Name
	step := func(name string, anonymous, resident int64, requests int) stepResult {
		return stepResult{Name: name, Seconds: 20, Controllers: map[string]controllerResult{
			infrastructure: {CPUSeconds: .1, Anonymous: anonymous * megabyte, Resident: resident * megabyte, Requests: map[string]int{"get": requests}},
		}}
	}
	return &results{
		LatencyMilliseconds: 200,
		Infrastructure: map[string]operationResult{
			rowFirst: {Calls: 8, Seconds: .8}, rowNoOp: {Calls: 6, Seconds: .3}, rowDelete: {Calls: 9, Seconds: 1.1},
		},
		Machines: &machinesResult{
			Create: machinesOperation{CallsPerMachine: 2.1, Steps: 20, Seconds: 3.3}, Delete: machinesOperation{CallsPerMachine: 2.1, Steps: 12, Seconds: 1.7},
			Managed: managedMachines{Create: machinesOperation{Seconds: 12}, Delete: machinesOperation{CallsPerMachine: 3, Steps: 96, Seconds: 34}},
		},
		Scale: []scaleResult{{Shoots: 200, Steps: []stepResult{
			step(stepEmpty, 34, 120, 0), step(stepCreate, 40, 125, 1000), step(stepReconcile, 53, 186, 1000), step(stepIdle, 43, 127, 39),
		}}, {Shoots: 500, Steps: []stepResult{step(stepReconcile, 48, 140, 1000), step(stepIdle, 67, 141, 39)}}},
	}
}

func TestCompareAll(t *testing.T) {
	record, err := readMonolith()
	require.NoError(t, err)
	require.NoError(t, lostRows(compareAll(winner(), record)))
	assert.Empty(t, compareAll(&results{}, record), "nothing was measured")

	for sentence, test := range map[string]struct {
		change func(*results)
		want   string
	}{
		"as many calls as the monolith": {
			func(r *results) { r.Infrastructure[rowNoOp] = operationResult{Calls: 13} },
			"lost: Infrastructure, no-op: calls and logins: 13, 0, the monolith 13, 2",
		},
		"a login for each shoot, and more": {
			func(r *results) { r.Scale[0].Steps[1].Logins = 401 },
			"lost: 200 shoots at once: logins: 401, the monolith 400, of Infrastructures alone",
		},
		"requests while nothing has to be done": {
			func(r *results) {
				r.Scale[0].Steps[3].Controllers[controller.Infrastructure().Name].Requests["get"] = 41
			},
			"exceeded: idle with 200 shoots: requests a second: 2.05, the monolith not measured, 0.02 s of processor time in 20 s, allowed 2",
		},
		"memory when empty": {
			func(r *results) { r.Scale[0].Steps[0].Controllers["b"] = controllerResult{Anonymous: 2 * megabyte} },
			"exceeded: empty: anonymous memory in sum: 36.0 MB, the monolith 20 MB, allowed 35 MB",
		},
		"anonymous memory with more shoots than the monolith was measured with": {
			func(r *results) { r.Scale[1].Steps[1].Controllers["b"] = controllerResult{Anonymous: megabyte} },
			"exceeded: after the work of 500 shoots: anonymous memory in sum: 68.0 MB, the monolith 44 MB after 200 Infrastructures alone, allowed 67 MB",
		},
		"anonymous memory": {
			func(r *results) { r.Scale[0].Steps[3].Controllers["b"] = controllerResult{Anonymous: 13 * megabyte} },
			"exceeded: after the work of 200 shoots: anonymous memory in sum: 56.0 MB, the monolith 44 MB after 200 Infrastructures alone, allowed 55 MB",
		},
		"anonymous memory of the process that does what the monolith did": {
			func(r *results) {
				r.Scale[0].Steps[3].Controllers[controller.Infrastructure().Name] = controllerResult{Anonymous: 45 * megabyte}
			},
			"lost: after the work of 200 shoots: anonymous memory of the infrastructure-controller: 45.0 MB, the monolith 44 MB after 200 Infrastructures alone, allowed 44.0 MB",
		},
		"resident memory": {
			func(r *results) { r.Scale[0].Steps[3].Controllers["b"] = controllerResult{Resident: megabyte} },
			"exceeded: after the work of 200 shoots: resident memory in sum: 128.0 MB, the monolith 98 MB with 200 shoots, allowed less than 127.4 MB",
		},
		"calls of machines": {
			func(r *results) { r.Machines.Create.CallsPerMachine = 13 },
			"lost: 100 machines created, 50 ms, ready at once: calls per machine: 13.00, the monolith 13",
		},
		"calls after each other": {
			func(r *results) { r.Machines.Delete.Steps = 37 },
			"lost: 100 machines deleted, 50 ms, ready at once: calls after each other: 37, the monolith at most 36",
		},
		"time of machines": {
			func(r *results) { r.Machines.Create.Seconds = 6.8 },
			"lost: 100 machines created, 50 ms, ready at once: time: 6.8 s, the monolith 3.4 s",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := winner()
			test.change(r)
			assert.EqualError(t, lostRows(compareAll(r, record)), test.want)
		})
	}
}

func TestComparisonTable(t *testing.T) {
	assert.Equal(t, []string{
		"                             Trellis  monolith  allowed  ",
		"calls                        7        23                 won",
		"a figure with a longer name  50 MB              55 MB    within",
	}, comparisonTable([]comparison{
		{What: "calls", Ours: "7", Theirs: "23", Result: won}, {What: "a figure with a longer name", Ours: "50 MB", Most: "55 MB", Result: within},
	}))
}

func TestCheckScale(t *testing.T) {
	run := func(shoots, writes, requests, calls int) scaleResult {
		step := func(name string) stepResult {
			return stepResult{Name: name, Seconds: 10, Calls: map[string]int{"neutron GET /v2.0/networks": calls * shoots}, Controllers: map[string]controllerResult{
				"a": {Writes: writes * shoots, Requests: map[string]int{"get": (requests - writes) * shoots, "patch": writes * shoots}},
			}}
		}
		return scaleResult{Shoots: shoots, Steps: []stepResult{step(stepCreate), step(stepReconcile), step(stepDelete)}}
	}
	require.NoError(t, checkScale([]scaleResult{run(1, 4, 40, 6), run(10, 4, 40, 6), run(100, 4, 45, 6)}))
	require.NoError(t, checkScale(nil))

	assert.EqualError(t, checkScale([]scaleResult{run(10, 5, 40, 6)}), "reconcile: 10 shoots cost 50 writes to the API server, at most 40 are allowed")

	err := checkScale([]scaleResult{run(10, 4, 40, 6), run(100, 4, 60, 6)})
	assert.ErrorContains(t, err, "create: a shoot costs 40.0 requests to the API server with 10 shoots, and 60.0 with 100: that grows faster than the number of shoots")
	err = checkScale([]scaleResult{run(10, 4, 40, 6), run(100, 4, 40, 9)})
	assert.ErrorContains(t, err, "reconcile: a shoot costs 6.0 calls of the cloud with 10 shoots, and 9.0 with 100")

	idle := scaleResult{Shoots: 500, Steps: []stepResult{{Name: stepIdle, Seconds: 10, Controllers: map[string]controllerResult{"a": {Requests: map[string]int{"get": 21}}}}}}
	assert.EqualError(t, checkScale([]scaleResult{idle}),
		"idle: with 500 shoots 21 requests to the API server in 10 s, at most 2 a second are allowed: 21 get")
	idle.Steps[0] = stepResult{Name: stepIdle, Seconds: 10, Calls: map[string]int{"neutron GET /v2.0/networks": 1}}
	assert.EqualError(t, checkScale([]scaleResult{idle}), "idle: with 500 shoots 1 calls of the cloud: 1 neutron GET /v2.0/networks")
	restarted := scaleResult{Shoots: 500, Steps: []stepResult{{Name: stepRestart, Controllers: map[string]controllerResult{"a": {Writes: 500}}}}}
	assert.ErrorContains(t, checkScale([]scaleResult{restarted}), "restart: 500 shoots cost 500 writes to the API server")
}

func TestNewControllerResult(t *testing.T) {
	of := func(user, verb, resource string) audit.Count {
		return audit.Count{User: user, Verb: verb, Resource: resource}
	}
	before := fleet.Usage{CPU: time.Second, Reconciliations: fleet.Histogram{1: 2, math.Inf(1): 2}}
	used := fleet.Usage{CPU: 3 * time.Second, Memory: process.Memory{All: 40, Private: 10}, Reconciliations: fleet.Histogram{1: 6, math.Inf(1): 6}}
	assert.Equal(t, controllerResult{
		CPUSeconds: 2, Resident: 40, Anonymous: 10, Requests: map[string]int{"get": 3, "patch": 6}, Writes: 1, StatusWrites: 5,
		Reconciliations: 4, P50: .5, P95: .95, P99: .99,
	}, newControllerResult("a", used, before, audit.Counts{
		of("a", "get", "secrets"): 3, of("a", "patch", "workers"): 1, of("a", "patch", "workers/status"): 5, of("b", "get", "secrets"): 7,
	}))
}

func TestWithinCosts(t *testing.T) {
	require.NoError(t, withinCosts(map[string]cost{rowFirst: {calls: 7}, rowNoOp: {calls: 6}, rowRepeat: {calls: 1}, rowDelete: {calls: 6}, rowCold: {calls: 13, logins: 1}}))
	assert.EqualError(t, withinCosts(map[string]cost{rowNoOp: {calls: 7}}), "no-op: 7 calls and 0 logins, at most 6 and 0 are allowed")
	assert.EqualError(t, withinCosts(map[string]cost{rowCold: {logins: 2}}), "first, cold session: 0 calls and 2 logins, at most 0 and 1 are allowed")
}

func TestSpans_Steps(t *testing.T) {
	start := time.Now()
	at := func(from, to int) span {
		return span{start.Add(time.Duration(from) * time.Millisecond), start.Add(time.Duration(to) * time.Millisecond)}
	}
	for sentence, test := range map[string]struct {
		ended []span
		want  int
	}{
		"no call":                              {nil, 0},
		"calls at the same time":               {[]span{at(0, 50), at(1, 51), at(2, 52)}, 1},
		"calls after each other":               {[]span{at(0, 50), at(51, 101), at(102, 152)}, 3},
		"a long call beside two short ones":    {[]span{at(0, 200), at(0, 50), at(60, 110)}, 2},
		"two waves, whose calls have no order": {[]span{at(62, 112), at(1, 51), at(60, 110), at(0, 50)}, 2},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, (&spans{ended: test.ended}).steps()) })
	}

	recorded := &spans{latency: 50 * time.Millisecond}
	assert.Equal(t, wire.Proceed, recorded.record(wire.Event{Phase: wire.Before}))
	assert.Zero(t, recorded.steps(), "a call that has had no effect yet")
	assert.Equal(t, wire.Proceed, recorded.record(wire.Event{Phase: wire.After}))
	assert.Equal(t, 1, recorded.steps())
}
