// Package queue provides the work queue of all controllers: controller-runtime's priority queue, with a shutdown that never blocks. It must not know
// any controller.
package queue

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// New returns the queue of a controller. It is the NewQueue of controller.Options.
//
// The priority queue of controller-runtime 0.24 may deadlock when it is shut down (https://github.com/kubernetes-sigs/controller-runtime/issues/3538):
// workers then never return, and the process ends with an error after its grace period. Version 0.25 corrects that, and makes this package
// unnecessary.
func New(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	inner := priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter })
	return &queue{PriorityQueue: inner, stopped: make(chan struct{})}
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

	stop    sync.Once
	stopped chan struct{}
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
		close(q.stopped)
		q.PriorityQueue.ShutDown()
	})
}

// ShutDownWithDrain implements workqueue.TypedInterface. Like controller-runtime's queue, it does not wait.
func (q *queue) ShutDownWithDrain() { q.ShutDown() }
