package queue_test

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/internal/queue"
)

// metricsOf returns the metrics of a queue, of histograms the number and the sum, in seconds.
func metricsOf(t *testing.T, name string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			isOfQueue := false
			for _, label := range metric.GetLabel() {
				isOfQueue = isOfQueue || label.GetName() == "name" && label.GetValue() == name
			}
			if !isOfQueue {
				continue
			}
			switch {
			case metric.GetHistogram() != nil:
				values[family.GetName()+"_count"] = float64(metric.GetHistogram().GetSampleCount())
				values[family.GetName()+"_sum"] = metric.GetHistogram().GetSampleSum()
			default:
				values[family.GetName()] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
			}
		}
	}
	return values
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, ok := queue.New("measured", workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](10*time.Second, time.Minute)).(priorityqueue.PriorityQueue[reconcile.Request])
		require.True(t, ok)
		defer q.ShutDown()
		q.Add(request("now"))
		q.AddAfter(request("later"), time.Hour)
		q.AddAfter(request("later"), time.Minute) // the earlier time counts
		q.AddRateLimited(request("failed"))       // in 10 s
		time.Sleep(2 * time.Second)
		want := map[string]float64{
			"workqueue_adds_total": 0, "workqueue_retries_total": 3, "workqueue_depth": 1,
			"workqueue_unfinished_work_seconds": 0, "workqueue_longest_running_processor_seconds": 0,
			"workqueue_queue_duration_seconds_count": 0, "workqueue_queue_duration_seconds_sum": 0,
			"workqueue_work_duration_seconds_count": 0, "workqueue_work_duration_seconds_sum": 0,
		}
		assert.Equal(t, want, metricsOf(t, "measured"), "one item is ready")

		first, _ := q.Get()
		time.Sleep(9 * time.Second)
		second, _ := q.Get()
		time.Sleep(time.Second)
		maps.Copy(want, map[string]float64{
			"workqueue_adds_total": 2, "workqueue_depth": 0,
			"workqueue_unfinished_work_seconds": 11, "workqueue_longest_running_processor_seconds": 10,
			"workqueue_queue_duration_seconds_count": 2, "workqueue_queue_duration_seconds_sum": 3,
		})
		assert.Equal(t, want, metricsOf(t, "measured"), "workers are working on two, one of which has waited for 2 s and one for 1 s")

		q.Done(first)
		q.Done(second)
		maps.Copy(want, map[string]float64{
			"workqueue_unfinished_work_seconds": 0, "workqueue_longest_running_processor_seconds": 0,
			"workqueue_work_duration_seconds_count": 2, "workqueue_work_duration_seconds_sum": 11,
		})
		assert.Equal(t, want, metricsOf(t, "measured"), "the work is done")

		third, _ := q.Get()
		assert.Equal(t, request("later"), third)
		q.Done(third)
		assert.InDelta(t, 3, metricsOf(t, "measured")["workqueue_queue_duration_seconds_sum"], 0.001, "a worker was waiting for the item")
		q.ShutDown()
		assert.NotContains(t, metricsOf(t, "measured"), "workqueue_depth")
	})
}
