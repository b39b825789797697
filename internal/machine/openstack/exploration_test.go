package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// action is an operation during which a fault is injected.
type action string

const (
	createAction      action = "make"    // creates a machine
	abandonAction     action = "drop"    // deletes a Machine after a fault during its creation
	deleteAction      action = "delete"  // deletes a complete machine
	failedBuildAction action = "fail"    // creates a machine whose first server cannot be built
	orphanAction      action = "stray"   // deletes a server without a Machine
	adoptAction       action = "inherit" // creates a machine for which the existing driver has left a port
)

// faultCase is a fault of one call.
type faultCase struct {
	name  string
	fault wire.Fault
	// kill ends the process before or after the effect.
	kill wire.Phase
	// appliesTo selects the calls that can have the fault; nil means all.
	appliesTo func(wire.Call) bool
}

// faultCases are all faults of a call. Wrong responses are not among them: a driver that gets "404" for an existing resource may
// believe it.
func faultCases() []faultCase {
	creates := func(c wire.Call) bool { return c.Method == http.MethodPost && !c.IsLogin() }
	deletes := func(c wire.Call) bool { return c.Method == http.MethodDelete }
	return []faultCase{
		{name: "kill before effect", kill: wire.Before},
		{name: "kill after effect", kill: wire.After},
		{name: "drop before effect", fault: wire.Fault{Drop: wire.DropBefore}},
		{name: "drop after effect", fault: wire.Fault{Drop: wire.DropAfter}},
		{name: "500", fault: wire.Fault{Status: 500}},
		{name: "503", fault: wire.Fault{Status: 503}},
		{name: "effect, then 504", fault: wire.Fault{Status: 504, AfterEffect: true}},
		{name: "429", fault: wire.Fault{Status: 429}},
		{name: "401", fault: wire.Fault{Status: 401}},
		{name: "403", fault: wire.Fault{Status: 403}},
		{name: "409", fault: wire.Fault{Status: 409}, appliesTo: func(c wire.Call) bool { return creates(c) || deletes(c) }},
		{name: "400", fault: wire.Fault{Status: 400}, appliesTo: creates},
		{name: "404", fault: wire.Fault{Status: 404}, appliesTo: creates},
		{name: "quota of ports", fault: wire.Fault{Status: 409, Type: "OverQuota"}, appliesTo: func(c wire.Call) bool {
			return creates(c) && c.Service == services.Neutron
		}},
		{name: "413", fault: wire.Fault{Status: 413}, appliesTo: func(c wire.Call) bool { return creates(c) && c.Service == services.Nova }},
	}
}

// exploration injects every fault into every call of some actions, one at a time, each in a cloud of its own.
type exploration struct {
	wrap        []func(client) client
	allFeatures bool
	actions     []action
	// maxViolations ends it after so many violations; 0 means never.
	maxViolations int
	// every explores only each so many-th case; 0 means all.
	every int

	mu         sync.Mutex
	cases      int
	missed     int // cases whose call was not made
	calls      map[action]int
	violations []string
}

func (e *exploration) run(ctx context.Context) error {
	e.calls = map[action]int{}
	found := 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for _, d := range e.actions {
		log, err := e.runCase(ctx, d, -1, faultCase{name: "nothing"})
		if err != nil {
			return err
		}
		e.calls[d] = len(log)
		for nth, call := range log {
			for _, m := range faultCases() {
				if m.appliesTo != nil && !m.appliesTo(call) {
					continue
				}
				if found++; found%max(e.every, 1) != 0 {
					continue
				}
				group.Go(func() error {
					if e.done() {
						return nil
					}
					_, err := e.runCase(ctx, d, nth, m)
					return err
				})
			}
		}
	}
	return group.Wait()
}

func (e *exploration) done() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.maxViolations > 0 && len(e.violations) >= e.maxViolations
}

// runCase injects one fault into the nth call of an action, and returns the calls of the action until then and afterwards.
func (e *exploration) runCase(ctx context.Context, d action, nth int, m faultCase) (wire.Calls, error) {
	s, err := newTestCloud()
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.cloud.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	t := &caseRun{testCloud: s, wrap: e.wrap, testMachine: s.newMachine(machineName)}
	if e.allFeatures {
		t.testMachine = s.newMachine(machineName, s.withAllFeatures)
	}
	if err := t.createOthers(); err != nil {
		return nil, err
	}
	t.before = s.cloud.State(fake.DefaultProject)
	t.process = s.process(e.wrap...)
	log, err := t.run(ctx, d, nth, m)
	if err != nil {
		t.problems = append(t.problems, err.Error())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cases++
	if nth >= 0 && !t.injected() {
		e.missed++
	}
	about := "nothing goes wrong"
	if nth >= 0 && nth < len(log) {
		about = fmt.Sprintf("%s at call %d, %s", m.name, nth+1, log[nth].Name())
	}
	for _, problem := range t.problems {
		e.violations = append(e.violations, fmt.Sprintf("%s: %s: %s", d, about, problem))
	}
	return log, nil
}

// caseRun is one machine in one cloud.
type caseRun struct {
	*testCloud
	*testMachine
	wrap     []func(client) client
	process  *process
	before   fake.State
	injected func() bool
	problems []string
}

// createOthers creates resources of others with the machine's name.
func (t *caseRun) createOthers() error {
	for _, attrs := range []fake.Attrs{
		{"network_id": t.network, "name": machineName, "description": "somebody else's"},
		{"network_id": t.network, "name": machineName + "-2", "description": clusterTag},
	} {
		if _, err := t.cloud.CreateResource(fake.DefaultProject, "ports", attrs); err != nil {
			return err
		}
	}
	return nil
}

// run runs a machine's lifecycle; the fault is in the action only.
func (t *caseRun) run(ctx context.Context, d action, nth int, m faultCase) (wire.Calls, error) {
	if d == failedBuildAction {
		t.cloud.SetTransition(fake.ServerBuild, fake.Transition{Polls: 1, Fail: true})
	}
	if d == deleteAction || d == orphanAction {
		if err := t.repeatUntilDone(ctx, t.createMachine); err != nil {
			return nil, err
		}
		t.process = t.testCloud.process(t.wrap...)
	}
	t.cloud.ResetLog()
	t.injectFault(nth, m)
	var log wire.Calls
	var err error
	switch d {
	case abandonAction:
		_ = t.createMachine(ctx) // with any result
		log = t.cloud.Log()
	case adoptAction:
		if _, err := t.cloud.CreateResource(fake.DefaultProject, "ports", fake.Attrs{"network_id": t.network, "name": machineName}); err != nil {
			return nil, err
		}
		err = t.repeatUntilDone(ctx, t.createMachine)
		log = t.cloud.Log()
		t.inspect(1)
	case failedBuildAction:
		_ = t.createMachine(ctx)
		t.cloud.SetTransition(fake.ServerBuild, fake.Transition{Polls: 1})
		fallthrough
	case createAction:
		err = t.repeatUntilDone(ctx, t.createMachine)
		log = t.cloud.Log()
		t.inspect(1)
	case orphanAction:
		t.testMachine.machine.Name, t.testMachine.machine.Spec.ProviderID = technicalID+"-other", ""
		err = t.repeatUntilDone(ctx, t.collectOrphans)
		log = t.cloud.Log()
	}
	if err == nil && d != orphanAction {
		err = t.repeatUntilDone(ctx, t.deleteMachine)
	}
	if log == nil {
		log = t.cloud.Log()
	}
	t.clearFaults()
	t.inspect(0)
	return log, err
}

func (t *caseRun) createMachine(ctx context.Context) error {
	return t.testMachine.create(ctx, t.process)
}

func (t *caseRun) deleteMachine(ctx context.Context) error {
	return t.testMachine.delete(ctx, t.process)
}

var errOrphansFound = errors.New("there are servers without a machine")

func (t *caseRun) collectOrphans(ctx context.Context) error {
	found, err := t.testMachine.deleteOrphans(ctx, t.process)
	if err == nil && found > 0 {
		err = errOrphansFound
	}
	return err
}

// repeatUntilDone repeats an operation as MCM does. A killed process is followed by another one without its memory.
func (t *caseRun) repeatUntilDone(ctx context.Context, do func(context.Context) error) error {
	var err error
	for range 20 {
		if t.process.killed.Load() {
			if err := t.cloud.WaitIdle(ctx); err != nil {
				return err
			}
			t.process = t.testCloud.process(t.wrap...)
		}
		if err = do(ctx); err == nil {
			return nil
		}
	}
	return fmt.Errorf("it never succeeds: %w", err)
}

// injectFault injects the fault into the call with this number, which counts from zero.
func (t *caseRun) injectFault(nth int, m faultCase) {
	if nth < 0 {
		return
	}
	if m.kill == "" {
		fault := m.fault
		fault.Skip = nth
		injected := t.cloud.Inject(fault)
		t.injected = func() bool { return injected() > 0 }
		return
	}
	current := t.process
	t.injected = current.killed.Load
	t.cloud.SetHook(func(event wire.Event) wire.HookResult {
		if event.Phase != m.kill || event.Call.Seq != nth+1 || current.killed.Swap(true) {
			return wire.Proceed
		}
		return wire.DropConnection
	})
}

func (t *caseRun) clearFaults() {
	t.cloud.ClearFaults()
	t.cloud.SetHook(nil)
}
