package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

const (
	// gatherTime is how long changes of the API server are gathered before one application.
	gatherTime = 50 * time.Millisecond
	// A failed application is tried again after firstRetry, then after twice the time, up to maxRetry.
	firstRetry, maxRetry = time.Second, 30 * time.Second
	// verifyInterval is how often the kernel's state is compared with what was applied.
	verifyInterval = 10 * time.Minute
	// applyTimeout bounds one application, so that a process that hangs is tried again before the liveness probe fails.
	applyTimeout = 30 * time.Second
	// requestTimeout bounds one write to the API server.
	requestTimeout = 5 * time.Second
	// readTimeout bounds the reading of the kernel's counters, during which a scrape of metrics waits.
	readTimeout = 5 * time.Second
	// beatInterval is how often a loop without work shows that it is alive.
	beatInterval = 10 * time.Second
	// syncPollInterval is how often a start looks whether all caches are synced.
	syncPollInterval = 100 * time.Millisecond
)

// Kernel is what the agent changes on its node. Nothing of it is withdrawn when the agent ends.
type Kernel interface {
	// Facts returns what only the node knows.
	Facts(ctx context.Context, own desired.Node, others []desired.Node) (desired.Facts, error)
	// Apply changes what differs from the state, and returns a description of each change, with an error, too. The CNI configuration is written last.
	Apply(ctx context.Context, state desired.State) (changes []string, err error)
	// Verify compares everything with the state and repairs what differs. It returns a description of each repair.
	Verify(ctx context.Context, state desired.State) (repairs []string, err error)
	// Rules returns the generation of the rules for NetworkPolicies that the kernel has, if it has any.
	Rules(ctx context.Context) (generation uint8, found bool, err error)
	// Dropped returns how many packets the rules have dropped, by the names of the counters, as the kernel counts them: it begins anew with a new table.
	Dropped(ctx context.Context) (map[string]uint64, error)
}

// Options are what an Agent needs.
type Options struct {
	// Node is the name of the own Node.
	Node   string
	Config config.Config
	Client Client
	// Compute is desired.Compute.
	Compute func(desired.Input) (desired.State, error)
	Kernel  Kernel
	// Denied reports packets that policies forbid until the context ends, as far as the rules log them.
	Denied func(ctx context.Context, report func(DeniedPacket)) error
	// Registerer gets the metrics.
	Registerer prometheus.Registerer
	Log        logr.Logger
}

// Agent keeps the network of one node. It runs once.
type Agent struct {
	Options

	caches  *caches
	metrics *metrics
	health  *health
	// changed has an element if something has changed since the last computation.
	changed    chan struct{}
	generation generation
	// memo is for the rules: of a large cluster, a change concerns a small part.
	memo      policy.Memo
	condition conditionReporter
	events    eventReporter
	// adopted is true when the generation has been read from the kernel.
	adopted bool
	// lack says what the own Node lacked at the last synchronization.
	lack string
}

// New returns an agent that does nothing yet.
func New(options Options) (*Agent, error) {
	if err := options.Config.Validate(); err != nil {
		return nil, fmt.Errorf("checking the configuration: %w", err)
	}
	metrics, err := newMetrics(options.Registerer, func() (map[string]uint64, error) {
		if options.Config.NetworkPolicy == nil {
			return map[string]uint64{}, nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
		defer cancel()
		return options.Kernel.Dropped(ctx)
	}, options.Log)
	if err != nil {
		return nil, err
	}
	a := &Agent{Options: options, metrics: metrics, health: newHealth(), changed: make(chan struct{}, 1)}
	a.caches = newCaches(options.Client, a.enforces(), options.Log, a.notify)
	a.generation = generation{number: firstGeneration, narrows: policy.Narrows}
	a.condition = conditionReporter{client: options.Client, log: options.Log}
	a.events = eventReporter{client: options.Client, node: options.Node}
	return a, nil
}

// enforces returns whether NetworkPolicies are enforced.
func (a *Agent) enforces() bool { return a.Config.NetworkPolicy != nil }

// notify wakes the loop. It does not block.
func (a *Agent) notify() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// forget takes back a notification.
func (a *Agent) forget() {
	select {
	case <-a.changed:
	default:
	}
}

// Run keeps the node's network until the context ends. An application that is running then is completed, and nothing is withdrawn.
func (a *Agent) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { a.caches.run(ctx) })
	if a.waitForCaches(ctx) {
		if a.logsDenied() {
			running.Go(func() { a.logDenied(ctx) })
		}
		a.loop(ctx)
	}
	cancel()
	running.Wait()
}

// waitForCaches returns true when everything has been read: with a part of it, rules and routes would be removed that are needed.
func (a *Agent) waitForCaches(ctx context.Context) bool {
	a.Log.Info("Waiting for caches", "resources", a.caches.missing())
	ticks := time.NewTicker(syncPollInterval)
	defer ticks.Stop()
	for {
		a.health.beat()
		missing := a.caches.missing()
		a.health.setMissing(missing)
		if len(missing) == 0 {
			a.Log.Info("Caches are synced", "nodes", len(a.caches.nodes.store.ListKeys()))
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-ticks.C:
		}
	}
}

// loop applies what changes. An error does not end it.
func (a *Agent) loop(ctx context.Context) {
	beats, verifications := time.NewTicker(beatInterval), time.NewTicker(verifyInterval)
	defer beats.Stop()
	defer verifications.Stop()
	var next appointment
	next.after(0)
	failures, verify := 0, false
	for {
		a.health.beat()
		select {
		case <-ctx.Done():
			return
		case <-beats.C:
			continue
		case <-a.changed:
			next.after(gatherTime)
			continue
		case <-verifications.C:
			verify = true
			next.after(0)
			continue
		case <-next.due:
		}
		if ctx.Err() != nil {
			return // both were ready
		}
		next.due = nil
		a.forget() // sync sees all that has changed until now
		if err := a.sync(ctx, verify); err != nil {
			failures++
			delay := retryDelay(failures)
			a.metrics.errors.Inc()
			a.Log.Error(err, "Synchronization failed", "retryAfter", delay.String())
			next.after(delay)
			continue
		}
		failures, verify = 0, false
	}
}

// appointment is when the next application begins.
type appointment struct{ due <-chan time.Time }

// after makes an appointment, unless there is one.
func (n *appointment) after(d time.Duration) {
	if n.due == nil {
		n.due = time.After(d)
	}
}

// retryDelay is how long to wait after some failures in a row.
func retryDelay(failures int) time.Duration {
	delay := firstRetry
	for range failures - 1 {
		if delay *= 2; delay >= maxRetry {
			return maxRetry
		}
	}
	return delay
}
