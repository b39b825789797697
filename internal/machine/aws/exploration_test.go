package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// action is an operation during which a fault is injected.
type action string

const (
	createAction       action = "create"  // creates a machine
	abandonAction      action = "abandon" // deletes a Machine after a fault during its creation
	deleteAction       action = "delete"  // deletes a complete machine
	failedLaunchAction action = "fail"    // creates a machine whose first instance cannot be started
	orphanAction       action = "orphan"  // deletes an instance without a Machine
)

func allActions() []action {
	return []action{createAction, abandonAction, deleteAction, failedLaunchAction, orphanAction}
}

// faultCase is a fault of one call.
type faultCase struct {
	name  string
	fault wire.Fault
	// kill ends the process before or after the effect.
	kill wire.Phase
	// path is the only action that can have the fault; empty means all.
	path string
}

// faultCases are all faults of a call. Wrong responses are not among them: a driver that gets "not found" for an existing resource may believe it.
func faultCases() []faultCase {
	const run = "RunInstances"
	return []faultCase{
		{name: "kill before effect", kill: wire.Before},
		{name: "kill after effect", kill: wire.After},
		{name: "drop before effect", fault: wire.Fault{Drop: wire.DropBefore}},
		{name: "drop after effect", fault: wire.Fault{Drop: wire.DropAfter}},
		{name: "internal error", fault: wire.Fault{Status: 500, Type: "InternalError"}},
		{name: "unavailable", fault: wire.Fault{Status: 503, Type: "Unavailable"}},
		{name: "effect, then 504", fault: wire.Fault{Status: 504, Type: "InternalError", AfterEffect: true}},
		{name: "throttled", fault: wire.Fault{Status: 503, Type: "RequestLimitExceeded"}},
		{name: "unauthenticated", fault: wire.Fault{Status: 401, Type: "AuthFailure"}},
		{name: "unauthorized", fault: wire.Fault{Status: 403, Type: "UnauthorizedOperation"}},
		{name: "refused value", fault: wire.Fault{Status: 400, Type: "InvalidParameterValue"}, path: run},
		{name: "missing subnet", fault: wire.Fault{Status: 400, Type: "InvalidSubnetID.NotFound"}, path: run},
		{name: "quota", fault: wire.Fault{Status: 400, Type: "VcpuLimitExceeded"}, path: run},
		{name: "no capacity", fault: wire.Fault{Status: 500, Type: "InsufficientInstanceCapacity"}, path: run},
	}
}

// exploration injects every fault into every call of some actions, one at a time, each in a cloud of its own.
type exploration struct {
	clouds      *clouds
	wrap        []func(client) client
	allFeatures bool
	lag         fake.Lag
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
				if m.path != "" && m.path != call.Path {
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
	s, err := e.clouds.new(fake.WithLag(e.lag))
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.cloud.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	t := &caseRun{testCloud: s, wrap: e.wrap, allFeatures: e.allFeatures, rounds: e.lag.TagReads + 1}
	edits := []func(*v1alpha1.ProviderSpec){}
	if e.allFeatures {
		edits = append(edits, s.withAllFeatures)
	}
	t.testMachine, t.process = s.newMachine(machineName, edits...), s.process(e.wrap...)
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
	wrap        []func(client) client
	allFeatures bool
	rounds      int // of orphan collection
	process     *process
	injected    func() bool
	problems    []string
}

// run runs a machine's lifecycle; the fault is in the action only.
func (t *caseRun) run(ctx context.Context, d action, nth int, m faultCase) (wire.Calls, error) {
	if err := t.prepare(ctx, d); err != nil {
		return nil, err
	}
	t.cloud.ResetLog()
	t.injectFault(nth, m)
	var log wire.Calls
	var err error
	switch d {
	case abandonAction:
		_ = t.createMachine(ctx) // with any result
		log = t.cloud.Log()
	case failedLaunchAction:
		_ = t.createMachine(ctx)
		t.cloud.SetTransition(fake.InstanceStart, fake.Transition{Reads: 1})
		fallthrough
	case createAction:
		err = t.repeatUntilDone(ctx, t.createMachine)
		log = t.cloud.Log()
		t.inspect(ctx, 1)
	case orphanAction:
		t.testMachine.machine.Name, t.testMachine.machine.Spec.ProviderID = technicalID+"-other", ""
	case deleteAction:
	}
	if err == nil && d != orphanAction {
		err = t.repeatUntilDone(ctx, t.deleteMachine)
	}
	if err == nil && (d == orphanAction || d == abandonAction) {
		err = t.repeatUntilDone(ctx, t.collectOrphans)
	}
	if log == nil {
		log = t.cloud.Log()
	}
	t.clearFaults()
	for range t.rounds { // again, as MCM does: lists may show them late
		err = errors.Join(err, t.repeatUntilDone(ctx, t.collectOrphans))
	}
	t.inspect(ctx, 0)
	return log, err
}

// prepare does what is before an action.
func (t *caseRun) prepare(ctx context.Context, d action) error {
	switch d {
	case failedLaunchAction:
		t.cloud.SetTransition(fake.InstanceStart, fake.Transition{Reads: 1, Fail: true, Code: "Server.InternalError"})
	case deleteAction, orphanAction:
		if err := t.repeatUntilDone(ctx, t.createMachine); err != nil {
			return err
		}
		t.process = t.testCloud.process(t.wrap...)
	case createAction, abandonAction:
	}
	return nil
}

// inspect counts what there is, and checks that the machine is complete.
func (t *caseRun) inspect(ctx context.Context, machines int) {
	interfaces, volumes := 1, 1
	if t.allFeatures {
		interfaces, volumes = 2, 2
	}
	if err := t.settle(ctx); err != nil {
		t.problems = append(t.problems, err.Error())
	}
	have := map[string]int{}
	for _, id := range t.cloud.Resources() {
		kind, _, _ := strings.Cut(id, "-")
		have[kind]++
	}
	for kind, want := range map[string]int{"i": machines, "eni": machines * interfaces, "vol": machines * volumes, "vpc": 1, "subnet": 1, "sg": 1} {
		if have[kind] != want {
			t.problems = append(t.problems, fmt.Sprintf("%d %s instead of %d", have[kind], kind, want))
		}
	}
	instances, err := t.instances(ctx)
	if err != nil {
		t.problems = append(t.problems, err.Error())
	}
	for _, instance := range instances {
		first := instance.Interfaces[0]
		if first.SourceDestCheck {
			t.problems = append(t.problems, "the source/destination check is on")
		}
		if t.allFeatures && len(first.IPv6Prefixes) != 1 {
			t.problems = append(t.problems, fmt.Sprintf("%d IPv6 prefixes instead of one", len(first.IPv6Prefixes)))
		}
	}
}

// settle lets instances that are shutting down end.
func (t *caseRun) settle(ctx context.Context) error {
	for range 2 {
		if _, err := t.instances(ctx, cloudaws.InstancePending, cloudaws.InstanceShuttingDown); err != nil {
			return err
		}
	}
	return nil
}

func (t *caseRun) clearFaults() {
	t.cloud.ClearFaults()
	t.cloud.SetHook(nil)
}

func (t *caseRun) createMachine(ctx context.Context) error {
	return t.testMachine.create(ctx, t.process)
}

func (t *caseRun) deleteMachine(ctx context.Context) error {
	return t.testMachine.delete(ctx, t.process)
}

var errOrphansFound = errors.New("there are instances without a machine")

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
