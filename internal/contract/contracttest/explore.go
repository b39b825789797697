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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
)

// Subject is what an exploration explores: one contract with one driver.
type Subject[O contract.Object] struct {
	// New returns an empty object.
	New func() O
	// NewEnvironment makes a world in which nothing has happened yet. Each case has its own.
	NewEnvironment func() (Environment[O], error)
	// ErrorResponses are the errors with which the cloud may truthfully answer the call. A lie proves nothing: a driver that
	// believes "404" when the object is there does what it must.
	ErrorResponses func(Call) []ErrorResponse
}

// Environment is what a process under test meets besides the API server: one cloud, and what Gardener put into the namespace.
type Environment[O contract.Object] interface {
	// Objects returns what exists before, such as the Cluster and the Secret, and the extension object to ask for.
	Objects(namespace string) (before []client.Object, object O, err error)
	// Program is the process under test, see Program.
	Program(mgr manager.Manager, cloud Transport) error
	// Inspect holds the cloud against what must be there, and returns what is wrong as sentences: when the object is
	// ready, each resource exactly once; when it is gone, none; foreign resources unchanged in either case.
	Inspect(ready bool) []string
	// Close ends the cloud.
	Close() error
}

// WriteObserver is a World in which somebody else acts upon what the process writes to the API server.
type WriteObserver interface {
	// OnWrite is Host.Bystander.
	OnWrite(Call)
}

// SeedLossEnvironment is a World of which more than the extension object is lost with a seed.
type SeedLossEnvironment interface {
	// LoseSeed loses it: what the API server holds afterwards is what Gardener brings to another seed.
	LoseSeed(ctx context.Context) error
}

// SavedStateEnvironment is a Losable world of which Gardener saves what the object itself does not say.
type SavedStateEnvironment interface {
	// State is what Gardener puts into status.state of the object on another seed. It is asked after Lose.
	State() (*runtime.RawExtension, error)
}

// Phase is the operation during which the fault happens.
type Phase string

const (
	// Create is the first reconciliation.
	Create Phase = "create"
	// NoOp is a reconciliation that finds nothing to do.
	NoOp Phase = "no-op"
	// Restore is the first reconciliation on another seed. The one before was lost: nobody migrated, and nothing but the
	// state is left.
	Restore Phase = "restore"
	// Delete is the deletion of what is complete.
	Delete Phase = "delete"
	// Abandon is a creation whose process is killed; the object is deleted before the next life begins.
	Abandon Phase = "abandon"
)

// recordingPhase is the phase that shows what calls there are when nothing goes wrong.
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
	// Deadline bounds one case; 0 means five minutes, which only a case that fails takes, even on a busy machine. Explorations of drivers that are to
	// be rejected need not wait so long.
	Deadline time.Duration
	// MergeFaults takes a fifth of the time. What can go wrong happens to every call of a phase, once each, in one case: the process
	// comes to the next call only by starting over. But a call that is killed after its effect is a case of its own in the
	// phases that make and unmake things, for what has taken effect and is known to nobody is what gets lost. An abandoned
	// creation, which does not come to the next call, is killed after each of them alone.
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

// recordings is how often a clean run is recorded.
const recordings = 3

// attempts is how often a case is tried whose call does not come.
const attempts = 3

// Explore records what each phase calls when nothing goes wrong, and then lets every one of these calls go wrong in
// every way, one fault a case. An error means that it could not be explored; what was found is in the report.
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

// recordAll plays every phase a few times without a fault, one after the other, since what is slow makes other calls, and
// returns the calls. When that alone goes wrong, the report says so.
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
				return fmt.Errorf("playing %s: %w", c, err)
			}
			e.add(result)
			return nil
		})
	}
	return group.Wait()
}

// runCaseUntilReached tries again when the one call of a case did not come. Where many go wrong, one may change the way to the
// next.
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
