package observer

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/queue"
)

// observeTimeout bounds one observation with its reads of the cloud.
const observeTimeout = 5 * time.Minute

// reportedFailures is how many times in a row an observation must fail before its condition becomes Unknown.
const reportedFailures = 3

// observerController observes the objects of one contract, each by one observation at a time.
type observerController[O contract.Object] struct {
	observer Observer[O]
	options  Options
	wanted   Names
	// objects is the cache that the controller's events come from. It may hold metadata, type, class, last operation and conditions of objects only.
	objects client.Reader
	reader  client.Reader
	client  client.Client
	events  events.EventRecorder
	metrics *metrics
	// failures counts how many times in a row an observation of an object has failed.
	failures *failureCounts
	// inactive is true when the controller is being uninstalled. Observations write while they hold the lock for reading.
	activity sync.RWMutex
	inactive bool
}

// Reconcile observes the object once, and again after the interval.
func (c *observerController[O]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	log := logf.FromContext(ctx)
	again := reconcile.Result{RequeueAfter: queue.AfterTurn(request.String(), c.options.Clock.Now(), c.options.Interval)}
	if !c.isActive() {
		return again, nil
	}
	object, reason, err := c.readObservable(ctx, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if reason != "" {
		log.V(1).Info("Skipping the observation", "reason", reason)
		return reconcile.Result{}, nil
	}
	cluster, err := contract.ReadCluster(ctx, c.reader, object.GetNamespace())
	if err != nil {
		return reconcile.Result{}, err
	}
	if reason := whyShootNotObserved(cluster.Shoot); reason != "" {
		log.V(1).Info("Skipping the observation", "reason", reason)
		c.metrics.forget(request.NamespacedName)
		return again, nil
	}
	input := Input[O]{
		Object: clone(object), Cluster: cluster, Reader: c.reader, Wanted: c.wanted,
		Since: lastSuccess(object), Now: c.options.Clock.Now(), Log: log,
	}
	result, err := c.observe(ctx, input)
	if tooEarly, ok := errors.AsType[*TooEarlyError](err); ok {
		log.V(1).Info("Postponing the observation", "until", tooEarly.RetryAt)
		return reconcile.Result{RequeueAfter: max(tooEarly.RetryAt.Sub(c.options.Clock.Now()), time.Millisecond)}, nil
	}
	if interrupted(ctx) {
		return reconcile.Result{}, nil
	}
	outcomes := c.outcomes(request.NamespacedName, result, err)
	asOf := result.AsOf
	if asOf.IsZero() {
		asOf = input.Now
	}
	return again, c.report(ctx, object, outcomes, asOf)
}

// readObservable returns the object as the API server has it, or why it is not observed now. The cache only decides whether to read it: it may hold no more
// of an object than that takes.
func (c *observerController[O]) readObservable(ctx context.Context, key client.ObjectKey) (object O, reason string, err error) {
	object = c.observer.New()
	if err := c.objects.Get(ctx, key, object); err != nil {
		return object, "", err
	}
	if reason := whyNotObservable(object); reason != "" {
		return object, reason, nil
	}
	object = c.observer.New()
	if err := c.reader.Get(ctx, key, object); err != nil {
		return object, "", err
	}
	return object, whyNotObservable(object), nil
}

func (c *observerController[O]) isActive() bool {
	c.activity.RLock()
	defer c.activity.RUnlock()
	return !c.inactive
}

// setActive returns when no observation writes any more that began before.
func (c *observerController[O]) setActive(active bool) {
	c.activity.Lock()
	defer c.activity.Unlock()
	c.inactive = !active
}

// observe calls Observe with a deadline and recovers its panics.
func (c *observerController[O]) observe(ctx context.Context, input Input[O]) (result Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, observeTimeout)
	defer cancel()
	defer func() {
		if recovered := recover(); recovered != nil {
			input.Log.Error(fmt.Errorf("panic: %v", recovered), "Panic contained", "stack", string(debug.Stack()))
			result, err = Result{}, errors.New("an internal error occurred, see the controller's log")
		}
	}()
	return c.observer.Observe(ctx, input)
}

// outcomes returns what is known of each observation that is switched on.
func (c *observerController[O]) outcomes(key client.ObjectKey, result Result, failure error) map[string]outcome {
	outcomes := map[string]outcome{}
	for name := range c.wanted {
		finding, found := result.Findings[name]
		err := finding.Err
		if !found {
			err = failure
		}
		switch {
		case err != nil:
			c.metrics.failed(name)
			outcomes[name] = outcome{}
			if c.failures.add(key, name) >= reportedFailures {
				outcomes[name] = outcome{failure: err}
			}
		case found:
			c.failures.reset(key, name)
			outcomes[name] = outcome{finding: &finding}
		default:
			c.failures.reset(key, name)
			outcomes[name] = outcome{doesNotApply: true}
		}
	}
	return outcomes
}

// forget removes what is kept of an object that does not exist any more.
func (c *observerController[O]) forget(key client.ObjectKey) {
	c.metrics.forget(key)
	c.failures.forget(key)
}

// failureCounts counts failures in a row by object and observation. It is safe for concurrent use.
type failureCounts struct {
	mutex  sync.Mutex
	counts map[client.ObjectKey]map[string]int
}

func newFailureCounts() *failureCounts {
	return &failureCounts{counts: map[client.ObjectKey]map[string]int{}}
}

// add counts one more failure and returns the new count.
func (f *failureCounts) add(key client.ObjectKey, name string) int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.counts[key] == nil {
		f.counts[key] = map[string]int{}
	}
	f.counts[key][name]++
	return f.counts[key][name]
}

func (f *failureCounts) reset(key client.ObjectKey, name string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	delete(f.counts[key], name)
	if len(f.counts[key]) == 0 {
		delete(f.counts, key)
	}
}

func (f *failureCounts) forget(key client.ObjectKey) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	delete(f.counts, key)
}

// interrupted reports whether the process is ending.
func interrupted(ctx context.Context) bool { return ctx.Err() != nil }

func clone[O contract.Object](object O) O {
	//nolint:forcetypeassert // a deep copy has the type of its original
	return object.DeepCopyObject().(O)
}
