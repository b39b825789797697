package queue_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/internal/queue"
)

func newQueue(t *testing.T) priorityqueue.PriorityQueue[reconcile.Request] {
	t.Helper()
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Millisecond, time.Second)
	q, ok := queue.New(t.Name(), limiter).(priorityqueue.PriorityQueue[reconcile.Request])
	require.True(t, ok, "controller-runtime takes any other queue for one without priorities")
	t.Cleanup(q.ShutDown)
	return q
}

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

// With controller-runtime's queue of version 0.24.1, workers of one of the first rounds never return.
func TestShutDown_WorkersReturn(t *testing.T) {
	const rounds, workers = 200, 8
	for round := range rounds {
		q := newQueue(t)
		var running sync.WaitGroup
		for range workers {
			running.Go(func() {
				for {
					item, shutdown := q.Get()
					if shutdown {
						return
					}
					q.Done(item)
				}
			})
		}
		stop := make(chan struct{})
		running.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					q.Add(request(strconv.Itoa(i)))
				}
			}
		})
		time.Sleep(time.Millisecond)
		q.ShutDown()
		close(stop)
		returned := make(chan struct{})
		go func() {
			defer close(returned)
			running.Wait()
		}()
		select {
		case <-returned:
		case <-time.After(time.Minute):
			require.Failf(t, "a worker did not return", "round %d", round)
		}
	}
}

func TestGet_HigherPrioritiesFirst(t *testing.T) {
	q := newQueue(t)
	low, high := -1, 1
	q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, request("low"))
	q.AddWithOpts(priorityqueue.AddOpts{Priority: &high}, request("high"))
	item, priority, shutdown := q.GetWithPriority()
	assert.Equal(t, request("high"), item)
	assert.Equal(t, high, priority)
	assert.False(t, shutdown)
	item, shutdown = q.Get()
	assert.Equal(t, request("low"), item)
	assert.False(t, shutdown)
}

func TestGet_NotTheSameItemTwiceAtATime(t *testing.T) {
	q := newQueue(t)
	q.Add(request("a"))
	item, _ := q.Get()
	q.Add(request("a"))
	q.Add(request("b"))
	other, _ := q.Get()
	assert.Equal(t, request("b"), other)
	q.Done(item)
	again, _ := q.Get()
	assert.Equal(t, request("a"), again)
}

func TestShutDown_Twice(t *testing.T) {
	q := newQueue(t)
	q.ShutDown()
	q.ShutDownWithDrain()
	_, shutdown := q.Get()
	assert.True(t, shutdown)
}
