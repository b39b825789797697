// Package queue provides the work queue of all controllers: controller-runtime's priority queue, with a shutdown that never blocks, and with metrics that cost
// nothing at rest. It must not know any controller.
package queue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// New returns the queue of a controller. It is the NewQueue of controller.Options.
//
// The priority queue of controller-runtime 0.24 may deadlock when it is shut down (https://github.com/kubernetes-sigs/controller-runtime/issues/3538):
// workers then never return, and the process ends with an error after its grace period. Version 0.25 corrects that.
func New(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	inner := priorityqueue.New("", func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter }) // without a name it measures nothing
	created := &queue{PriorityQueue: inner, limiter: limiter, measured: newMeasurement(name, inner.Len), gauges: sharedGauges(), stopped: make(chan struct{})}
	created.gauges.add(created.measured)
	return created
}

// Observed returns a New that passes each queue to observe, which can ask for its length.
func Observed(
	observe func(created interface{ Len() int }),
) func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		created := New(name, limiter)
		observe(created)
		return created
	}
}

// queue returns from calls that may block, at the latest when it is shut down. What the calls would have returned is lost then, which does no harm: no
// worker asks again.
type queue struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	limiter  workqueue.TypedRateLimiter[reconcile.Request]
	measured *measurement
	gauges   *gauges

	stop    sync.Once
	stopped chan struct{}
}

// AddWithOpts implements priorityqueue.PriorityQueue. It computes the delay itself, to know when an item is ready.
func (q *queue) AddWithOpts(options priorityqueue.AddOpts, items ...reconcile.Request) {
	for _, item := range items {
		after := options.After
		if options.RateLimited {
			if limited := q.limiter.When(item); after == 0 || limited < after {
				after = limited
			}
		}
		q.measured.added(item, after)
		q.PriorityQueue.AddWithOpts(priorityqueue.AddOpts{After: after, Priority: options.Priority}, item)
	}
}

// Add implements workqueue.TypedInterface.
func (q *queue) Add(item reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, item) }

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *queue) AddAfter(item reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, item)
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *queue) AddRateLimited(item reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, item)
}

// GetWithPriority implements priorityqueue.PriorityQueue.
func (q *queue) GetWithPriority() (item reconcile.Request, priority int, shutdown bool) {
	type result struct {
		item     reconcile.Request
		priority int
		shutdown bool
	}
	results := make(chan result, 1)
	go func() {
		item, priority, shutdown := q.PriorityQueue.GetWithPriority()
		results <- result{item, priority, shutdown}
	}()
	select {
	case r := <-results:
		if !r.shutdown {
			q.measured.got(r.item)
		}
		return r.item, r.priority, r.shutdown
	case <-q.stopped:
		return reconcile.Request{}, 0, true
	}
}

// Get implements workqueue.TypedInterface.
func (q *queue) Get() (item reconcile.Request, shutdown bool) {
	item, _, shutdown = q.GetWithPriority()
	return item, shutdown
}

// Done implements workqueue.TypedInterface.
func (q *queue) Done(item reconcile.Request) {
	q.measured.done(item)
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.PriorityQueue.Done(item)
	}()
	select {
	case <-done:
	case <-q.stopped:
	}
}

// ShutDown implements workqueue.TypedInterface.
func (q *queue) ShutDown() {
	q.stop.Do(func() {
		q.gauges.remove(q.measured) // before the queue may deadlock: nobody asks for its length any more
		close(q.stopped)
		q.PriorityQueue.ShutDown()
	})
}

// ShutDownWithDrain implements workqueue.TypedInterface. Like controller-runtime's queue, it does not wait.
func (q *queue) ShutDownWithDrain() { q.ShutDown() }
