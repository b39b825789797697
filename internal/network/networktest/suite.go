package networktest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// T is the part of testing.T that scenarios use.
type T interface {
	require.TestingT
	Helper()
	Context() context.Context
	Cleanup(func())
	Failed() bool
}

// Run runs the lifecycle of all configurations of a subject, and all changes between them, without injected failures.
func Run(t *testing.T, server *contracttest.APIServer, subject Subject) {
	t.Helper()
	for _, scenario := range scenarios(server, subject) {
		t.Run(scenario.name, func(t *testing.T) {
			t.Parallel()
			scenario.run(t)
		})
	}
}

// Violations runs the scenarios whose names contain a text, one after the other, and returns the problems of the first that has any: for drivers that
// must be rejected.
func Violations(ctx context.Context, server *contracttest.APIServer, subject Subject, selection string) []string {
	for _, scenario := range scenarios(server, subject) {
		if !strings.Contains(scenario.name, selection) {
			continue
		}
		r := &fakeT{context: func() context.Context { return ctx }}
		r.run(scenario.run)
		if r.Failed() {
			return append([]string{scenario.name}, r.violations...)
		}
	}
	return nil
}

// scenario is a scenario without injected failures.
type scenario struct {
	name string
	run  func(T)
}

func scenarios(server *contracttest.APIServer, subject Subject) []scenario {
	fresh := newShootsOf(server, subject)
	return slices.Concat(lifecycleScenarios(server, subject, fresh), changeScenarios(server, subject, fresh), interruptionScenarios(server, subject, fresh))
}

func lifecycleScenarios(server *contracttest.APIServer, subject Subject, fresh *newShoots) []scenario {
	var all []scenario
	for _, configuration := range subject.Configurations {
		all = append(all, scenario{"create, again, delete: " + configuration.Name, func(t T) {
			lifecycle(newHarness(t, server, subject), configuration, fresh)
		}})
	}
	for _, each := range configurationScenarios() {
		all = append(all, scenario{each.name, func(t T) { each.run(newHarness(t, server, subject), subject.Configurations[0]) }})
	}
	return all
}

func changeScenarios(server *contracttest.APIServer, subject Subject, fresh *newShoots) []scenario {
	var all []scenario
	for _, change := range subject.changes() {
		all = append(all, scenario{change.String(), func(t T) { runChange(newHarness(t, server, subject), change, fresh) }})
		from, to := subject.configuration(change.From), subject.configuration(change.To)
		if len(to.families()) > len(from.families()) && subject.Changes[change] == (Outcome{}) {
			all = append(all, scenario{change.String() + ", family by family", func(t T) {
				addSecondFamily(newHarness(t, server, subject), change, fresh)
			}})
		}
	}
	return all
}

func interruptionScenarios(server *contracttest.APIServer, subject Subject, fresh *newShoots) []scenario {
	var all []scenario
	for _, change := range subject.Staged {
		all = append(all, scenario{"changes of mind on the way " + change.String(), func(t T) {
			redirectInEveryStage(t, server, subject, change, fresh)
		}})
	}
	for _, interruption := range interruptions() {
		for _, change := range subject.Staged {
			all = append(all, scenario{interruption.name + " on the way " + change.String(), func(t T) {
				interruption.run(inStage(newHarness(t, server, subject), change, fresh))
			}})
		}
	}
	return all
}

// fakeT records failures and fails no test.
type fakeT struct {
	context func() context.Context

	mutex      sync.Mutex
	violations []string
	cleanups   []func()
}

var _ T = (*fakeT)(nil)

// run runs a scenario and its cleanups.
func (r *fakeT) run(scenario func(T)) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		scenario(r)
	}()
	<-ended
	for _, clean := range slices.Backward(r.cleanups) {
		clean()
	}
}

// Errorf implements T.
func (r *fakeT) Errorf(format string, args ...any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.violations = append(r.violations, fmt.Sprintf(format, args...))
}

// FailNow implements T.
func (r *fakeT) FailNow() {
	r.Errorf("the scenario cannot go on")
	runtime.Goexit()
}

// Helper implements T.
func (r *fakeT) Helper() {}

// Context implements T.
func (r *fakeT) Context() context.Context { return r.context() }

// Cleanup implements T.
func (r *fakeT) Cleanup(clean func()) { r.cleanups = append(r.cleanups, clean) }

// Failed implements T.
func (r *fakeT) Failed() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.violations) > 0
}
