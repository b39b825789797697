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
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// deed is what goes on while something goes wrong.
type deed string

const (
	making     deed = "make"    // a machine, until it is there
	dropping   deed = "drop"    // a Machine that is deleted after the mishap, whatever had become of it
	ending     deed = "delete"  // a machine that is complete
	failing    deed = "fail"    // a machine whose first server cannot be built
	straying   deed = "stray"   // a server that no Machine stands for
	inheriting deed = "inherit" // a machine of which the existing driver has left a port
)

// mishap is what happens to one call.
type mishap struct {
	name  string
	fault wire.Fault
	// kill ends the process before or after the effect.
	kill wire.Phase
	// fits says to which calls the mishap can truthfully happen; nil means all.
	fits func(wire.Call) bool
}

// mishaps are everything that can go wrong with a call. A lie proves nothing: a driver that believes "404" when the thing is there does
// what it must.
func mishaps() []mishap {
	creates := func(c wire.Call) bool { return c.Method == http.MethodPost && !c.IsLogin() }
	deletes := func(c wire.Call) bool { return c.Method == http.MethodDelete }
	return []mishap{
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
		{name: "409", fault: wire.Fault{Status: 409}, fits: func(c wire.Call) bool { return creates(c) || deletes(c) }},
		{name: "400", fault: wire.Fault{Status: 400}, fits: creates},
		{name: "404", fault: wire.Fault{Status: 404}, fits: creates},
		{name: "quota of ports", fault: wire.Fault{Status: 409, Type: "OverQuota"}, fits: func(c wire.Call) bool {
			return creates(c) && c.Service == wire.Neutron
		}},
		{name: "413", fault: wire.Fault{Status: 413}, fits: func(c wire.Call) bool { return creates(c) && c.Service == wire.Nova }},
	}
}

// exploration lets every call of some deeds go wrong in every way, one at a time, each in a cloud of its own.
type exploration struct {
	bend  []func(line) line
	rich  bool
	deeds []deed
	// enough ends it after so many violations; 0 means never.
	enough int

	mu         sync.Mutex
	cases      int
	missed     int // cases whose call did not come
	calls      map[deed]int
	violations []string
}

func (e *exploration) run(ctx context.Context) error {
	e.calls = map[deed]int{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for _, d := range e.deeds {
		log, err := e.play(ctx, d, -1, mishap{name: "nothing"})
		if err != nil {
			return err
		}
		e.calls[d] = len(log)
		for nth, call := range log {
			for _, m := range mishaps() {
				if m.fits != nil && !m.fits(call) {
					continue
				}
				group.Go(func() error {
					if e.done() {
						return nil
					}
					_, err := e.play(ctx, d, nth, m)
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
	return e.enough > 0 && len(e.violations) >= e.enough
}

// play lets one thing go wrong at the nth call of a deed, and returns the calls of the deed until then and thereafter.
func (e *exploration) play(ctx context.Context, d deed, nth int, m mishap) (wire.Calls, error) {
	s, err := newStage()
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.cloud.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	t := &trial{stage: s, bend: e.bend, order: s.order(machineName)}
	if e.rich {
		t.order = s.order(machineName, s.rich)
	}
	if err := t.plantForeign(); err != nil {
		return nil, err
	}
	t.before = s.cloud.State(fake.DefaultProject)
	t.process = s.process(e.bend...)
	log, err := t.live(ctx, d, nth, m)
	if err != nil {
		t.problems = append(t.problems, err.Error())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cases++
	if nth >= 0 && !t.struck() {
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

// trial is one machine in one cloud.
type trial struct {
	*stage
	*order
	bend     []func(line) line
	process  *process
	before   fake.State
	struck   func() bool
	problems []string
}

// plantForeign puts things of others beside the machine's, under its name.
func (t *trial) plantForeign() error {
	for _, attrs := range []fake.Attrs{
		{"network_id": t.network, "name": machineName, "description": "somebody else's"},
		{"network_id": t.network, "name": machineName + "-2", "description": clusterTag},
	} {
		if _, err := t.cloud.Plant(fake.DefaultProject, "ports", attrs); err != nil {
			return err
		}
	}
	return nil
}

// live goes through a machine's life; the mishap is in the deed alone.
func (t *trial) live(ctx context.Context, d deed, nth int, m mishap) (wire.Calls, error) {
	if d == failing {
		t.cloud.SetTransition(fake.ServerBuild, fake.Transition{Polls: 1, Fail: true})
	}
	if d == ending || d == straying {
		if err := t.until(ctx, t.make); err != nil {
			return nil, err
		}
		t.process = t.stage.process(t.bend...)
	}
	t.cloud.ResetLog()
	t.arm(nth, m)
	var log wire.Calls
	var err error
	switch d {
	case dropping:
		_ = t.make(ctx) // whatever comes of it
		log = t.cloud.Log()
	case inheriting:
		if _, err := t.cloud.Plant(fake.DefaultProject, "ports", fake.Attrs{"network_id": t.network, "name": machineName}); err != nil {
			return nil, err
		}
		err = t.until(ctx, t.make)
		log = t.cloud.Log()
		t.inspect(1)
	case failing:
		_ = t.make(ctx)
		t.cloud.SetTransition(fake.ServerBuild, fake.Transition{Polls: 1})
		fallthrough
	case making:
		err = t.until(ctx, t.make)
		log = t.cloud.Log()
		t.inspect(1)
	case straying:
		t.order.machine.Name, t.order.machine.Spec.ProviderID = technicalID+"-other", ""
		err = t.until(ctx, t.collect)
		log = t.cloud.Log()
	}
	if err == nil && d != straying {
		err = t.until(ctx, t.end)
	}
	if log == nil {
		log = t.cloud.Log()
	}
	t.disarm()
	t.inspect(0)
	return log, err
}

func (t *trial) make(ctx context.Context) error { return t.order.create(ctx, t.process) }

func (t *trial) end(ctx context.Context) error { return t.order.delete(ctx, t.process) }

var errFound = errors.New("there are servers without a machine")

func (t *trial) collect(ctx context.Context) error {
	found, err := t.order.collect(ctx, t.process)
	if err == nil && found > 0 {
		err = errFound
	}
	return err
}

// until repeats what MCM repeats. A process that was killed is followed by another, which knows nothing.
func (t *trial) until(ctx context.Context, do func(context.Context) error) error {
	var err error
	for range 20 {
		if t.process.dead.Load() {
			if err := t.cloud.WaitIdle(ctx); err != nil {
				return err
			}
			t.process = t.stage.process(t.bend...)
		}
		if err = do(ctx); err == nil {
			return nil
		}
	}
	return fmt.Errorf("it never succeeds: %w", err)
}

// arm lets the mishap happen to the call with this number, which counts from zero.
func (t *trial) arm(nth int, m mishap) {
	if nth < 0 {
		return
	}
	if m.kill == "" {
		fault := m.fault
		fault.Skip = nth
		struck := t.cloud.Inject(fault)
		t.struck = func() bool { return struck() > 0 }
		return
	}
	victim := t.process
	t.struck = victim.dead.Load
	t.cloud.SetHook(func(event wire.Event) wire.Verdict {
		if event.Phase != m.kill || event.Call.Seq != nth+1 || victim.dead.Swap(true) {
			return wire.Proceed
		}
		return wire.Cut
	})
}

func (t *trial) disarm() {
	t.cloud.ClearFaults()
	t.cloud.SetHook(nil)
}
