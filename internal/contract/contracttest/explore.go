package contracttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
)

// Subject is the subject of an exploration: one contract with one driver.
type Subject[O contract.Object] struct {
	// New returns an empty object.
	New func() O
	// CacheTransform is Host.CacheTransform.
	CacheTransform toolscache.TransformFunc
	// NewEnvironment returns a new environment. Each case has its own.
	NewEnvironment func() (Environment[O], error)
	// ErrorResponses are the errors that the cloud may return for the call truthfully. A false response proves nothing: a driver must trust a 404.
	ErrorResponses func(Call) []ErrorResponse
}

// Environment is everything besides the API server that a process under test uses: one cloud, and what Gardener has created in the namespace.
type Environment[O contract.Object] interface {
	// Objects returns the objects that exist before, such as the Cluster and the Secret, and the extension object to create.
	Objects(namespace string) (before []client.Object, object O, err error)
	// Program is the process under test, see Program.
	Program(mgr manager.Manager, cloud Transport) error
	// Inspect compares the cloud with the expected state, and returns the differences as sentences. When the object is ready, each resource must exist
	// exactly once; when it is gone, none. Resources of others must be unchanged in either case.
	Inspect(ready bool) []string
	// Close stops the cloud.
	Close() error
}

// WriteObserver is an Environment in which another component reacts to what the process writes to the API server.
type WriteObserver interface {
	// OnWrite is Host.Bystander.
	OnWrite(Call)
}

// SeedLossEnvironment is an Environment that loses more than the extension object with a seed.
type SeedLossEnvironment interface {
	// LoseSeed deletes everything from the API server that Gardener does not restore on another seed.
	LoseSeed(ctx context.Context) error
}

// SavedStateEnvironment is a SeedLossEnvironment with state that Gardener saves and that is not in the object itself.
type SavedStateEnvironment interface {
	// State returns what Gardener writes to status.state of the object on another seed. It is called after LoseSeed.
	State() (*runtime.RawExtension, error)
}

// Phase is the operation during which the fault happens.
type Phase string

const (
	// Create is the first reconciliation.
	Create Phase = "create"
	// NoOp is a reconciliation that finds nothing to do.
	NoOp Phase = "no-op"
	// Restore is the first reconciliation on another seed. The former seed was lost without a migration: nothing but the state is left.
	Restore Phase = "restore"
	// Delete is the deletion of a complete object.
	Delete Phase = "delete"
	// Abandon is a creation whose process is killed; the object is deleted before the next process starts.
	Abandon Phase = "abandon"
)

// recordingPhase is the phase whose run without a fault shows the calls of this one.
func (p Phase) recordingPhase() Phase {
	if p == Abandon {
		return Create
	}
	return p
}

// Phases returns all phases.
func Phases() []Phase { return []Phase{Create, NoOp, Restore, Delete, Abandon} }

// Options bound an exploration. The zero value explores everything.
type Options struct {
	// Phases to explore; empty means all.
	Phases []Phase
	// Parallel is how many cases run at the same time; 0 means 6.
	Parallel int
	// Deadline bounds one case; 0 means five minutes, which only a failing case takes, even on a busy machine. Explorations of drivers that must be rejected
	// use a shorter one.
	Deadline time.Duration
	// MergeFaults takes a fifth of the time. One case injects a fault into every call of a phase, one after the other: the process reaches the next call
	// only by starting over. But in phases that create and delete, a process that is killed after the effect of a call is a case of its own, since an effect
	// that was not recorded is what gets lost. An abandoned creation does not reach the next call, so it is killed after each of them in separate cases.
	MergeFaults bool
	// Filter selects cases by a part of their names. Empty means all.
	Filter string
	// MaxFailures ends the exploration after so many failures; 0 means 20, which tell as much as all of them would.
	MaxFailures int
}

func (o Options) withDefaults() Options {
	if len(o.Phases) == 0 {
		o.Phases = Phases()
	}
	if o.Parallel == 0 {
		o.Parallel = 6
	}
	if o.Deadline == 0 {
		o.Deadline = 5 * time.Minute
	}
	if o.MaxFailures == 0 {
		o.MaxFailures = 20
	}
	return o
}

// Case is one fault in one phase. Without a fault it is the clean run.
type Case struct {
	Phase Phase
	Fault *Fault
}

// String returns the case's name, for example "create: cloud POST /v2.0/networks: kill after effect". The same call and
// fault have the same name in every exploration.
func (c Case) String() string {
	if c.Fault == nil {
		return fmt.Sprintf("%s: nothing goes wrong", c.Phase)
	}
	return fmt.Sprintf("%s: %s", c.Phase, c.Fault)
}

// recordings is how often a run without a fault is recorded.
const recordings = 3

// attempts is how often a case is tried whose call is not made.
const attempts = 3

// Explore records the calls of each phase without a fault, and then injects every fault into every call, one per case. An error means that the exploration
// could not be run; its findings are in the report.
func Explore[O contract.Object](ctx context.Context, server *APIServer, subject Subject[O], options Options) (*Report, error) {
	e := &exploration[O]{server: server, subject: subject, options: options.withDefaults()}
	e.report.Started = time.Now()
	defer func() { e.report.Took = time.Since(e.report.Started) }()

	calls, err := e.recordAll(ctx)
	if err != nil || len(e.report.Failures) > 0 {
		return &e.report, err
	}
	return &e.report, e.runCases(ctx, e.selected(e.enumerate(calls)))
}

type exploration[O contract.Object] struct {
	server  *APIServer
	subject Subject[O]
	options Options

	mu     sync.Mutex
	report Report
}

// recordAll runs every phase a few times without a fault, and returns the calls. It runs them one after the other, since a slow process makes other calls. If
// a run without a fault fails, the failure is in the report.
func (e *exploration[O]) recordAll(ctx context.Context) (map[Phase][]Call, error) {
	calls := map[Phase][]Call{}
	for _, phase := range e.options.Phases {
		recorded, ok := calls[phase.recordingPhase()]
		if !ok {
			var err error
			if recorded, err = e.record(ctx, phase.recordingPhase()); err != nil || len(e.report.Failures) > 0 {
				return nil, err
			}
		}
		calls[phase] = recorded
	}
	return calls, nil
}

func (e *exploration[O]) record(ctx context.Context, phase Phase) ([]Call, error) {
	var runs [][]Call
	for range recordings {
		result, err := e.runCase(ctx, Case{Phase: phase})
		if err != nil {
			return nil, fmt.Errorf("recording %s: %w", phase, err)
		}
		if len(result.Violations) > 0 {
			e.add(result)
			return nil, nil
		}
		runs = append(runs, result.Calls)
	}
	return stableCalls(runs), nil
}

func (e *exploration[O]) selected(cases []Case) []Case {
	return slices.DeleteFunc(cases, func(c Case) bool { return !strings.Contains(c.String(), e.options.Filter) })
}

func (e *exploration[O]) runCases(ctx context.Context, cases []Case) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(e.options.Parallel)
	for _, c := range cases {
		group.Go(func() error {
			if ctx.Err() != nil || e.tooManyFailures() {
				return ctx.Err()
			}
			result, err := e.runCaseUntilReached(ctx, c)
			if err != nil {
				return fmt.Errorf("running %s: %w", c, err)
			}
			e.add(result)
			return nil
		})
	}
	return group.Wait()
}

// runCaseUntilReached tries again if the call of a case was not made. A case with faults in many calls is not tried again: one fault may change the path to
// the next call.
func (e *exploration[O]) runCaseUntilReached(ctx context.Context, c Case) (Result, error) {
	var result Result
	for range attempts {
		var err error
		result, err = e.runCase(ctx, c)
		if err != nil || result.Reached || len(result.Violations) > 0 || c.Fault.All != nil {
			return result, err
		}
	}
	return result, nil
}

func (e *exploration[O]) add(result Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.report.add(result)
}

func (e *exploration[O]) tooManyFailures() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.report.Failures) >= e.options.MaxFailures
}
