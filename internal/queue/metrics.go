package queue

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// measurement is what the metrics of one queue are computed from. The metrics are those of controller-runtime's queue, except for the priority, which is
// empty. That queue computes for how long its workers have been working twice a second, and a process at rest did little else; here it is computed when metrics
// are read.
type measurement struct {
	name           string
	length         func() int
	adds, retries  prometheus.Counter
	waited, worked prometheus.Observer

	mutex sync.Mutex
	// ready is when items that were added became or become ready, and started is when workers got theirs.
	ready, started map[reconcile.Request]time.Time
}

func newMeasurement(name string, length func() int) *measurement {
	return &measurement{
		name: name, length: length,
		adds: inCommon(counter(metrics.AddsKey, "Total number of adds handled by workqueue")).WithLabelValues(name, name),
		retries: inCommon(counter(metrics.RetriesKey,
			"Total number of items added to the workqueue with a non-zero delay (rate-limited requeues, explicit RequeueAfter or AddAfter calls)",
		)).WithLabelValues(name, name),
		waited: inCommon(histogram(metrics.QueueLatencyKey, "How long in seconds an item stays in workqueue before being requested")).WithLabelValues(name, name),
		worked: inCommon(histogram(metrics.WorkDurationKey, "How long in seconds processing an item from workqueue takes.")).WithLabelValues(name, name),
		ready:  map[reconcile.Request]time.Time{}, started: map[reconcile.Request]time.Time{},
	}
}

// added records that an item is ready after a while, unless it is earlier.
func (m *measurement) added(item reconcile.Request, after time.Duration) {
	if after > 0 {
		m.retries.Inc()
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	ready := time.Now().Add(after)
	if known, found := m.ready[item]; !found || ready.Before(known) {
		m.ready[item] = ready
	}
}

// got records that a worker has begun to work on an item.
func (m *measurement) got(item reconcile.Request) {
	m.adds.Inc()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	now := time.Now()
	if ready, found := m.ready[item]; found {
		m.waited.Observe(max(now.Sub(ready), 0).Seconds())
		delete(m.ready, item)
	}
	m.started[item] = now
}

// done records that a worker has ended its work on an item.
func (m *measurement) done(item reconcile.Request) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if started, found := m.started[item]; found {
		m.worked.Observe(time.Since(started).Seconds())
		delete(m.started, item)
	}
}

// working returns for how long all workers together, and the one that has begun first, have been working.
func (m *measurement) working() (sum, longest time.Duration) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, started := range m.started {
		took := time.Since(started)
		sum, longest = sum+took, max(longest, took)
	}
	return sum, longest
}

// gauges are the metrics that are computed when they are read, of all queues of a process.
type gauges struct {
	depth, unfinished, longest *prometheus.Desc

	mutex  sync.Mutex
	queues map[*measurement]struct{}
}

// sharedGauges returns the gauges of the process. The first call registers them instead of controller-runtime's.
func sharedGauges() *gauges {
	depth := gauge(metrics.DepthKey, "Current depth of workqueue by workqueue and priority", "name", "controller", "priority")
	unfinished := gauge(metrics.UnfinishedWorkKey, "How many seconds of work has been done that is in progress and hasn't been observed by work_duration. "+
		"Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.", "name", "controller")
	longest := gauge(metrics.LongestRunningProcessorKey, "How many seconds has the longest running processor for workqueue been running.", "name", "controller")
	own := &gauges{depth: descriptionOf(depth), unfinished: descriptionOf(unfinished), longest: descriptionOf(longest), queues: map[*measurement]struct{}{}}
	for range 3 { // more than once if another queue is created at the same time
		err := metrics.Registry.Register(own)
		if err == nil {
			return own
		}
		if known, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
			if shared, ok := known.ExistingCollector.(*gauges); ok {
				return shared
			}
		}
		for _, replaced := range []prometheus.Collector{depth, unfinished, longest} {
			metrics.Registry.Unregister(replaced)
		}
	}
	return own // which nobody reads
}

func (g *gauges) add(queue *measurement) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.queues[queue] = struct{}{}
}

func (g *gauges) remove(queue *measurement) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	delete(g.queues, queue)
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(descriptions chan<- *prometheus.Desc) {
	for _, description := range []*prometheus.Desc{g.depth, g.unfinished, g.longest} {
		descriptions <- description
	}
}

// Collect implements prometheus.Collector. Queues of one name, of which only tests have several, are one.
func (g *gauges) Collect(values chan<- prometheus.Metric) {
	type sum struct {
		depth               int
		unfinished, longest time.Duration
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	sums := map[string]sum{}
	for queue := range g.queues {
		unfinished, longest := queue.working()
		known := sums[queue.name]
		sums[queue.name] = sum{known.depth + queue.length(), known.unfinished + unfinished, max(known.longest, longest)}
	}
	for name, of := range sums {
		values <- prometheus.MustNewConstMetric(g.depth, prometheus.GaugeValue, float64(of.depth), name, name, "")
		values <- prometheus.MustNewConstMetric(g.unfinished, prometheus.GaugeValue, of.unfinished.Seconds(), name, name)
		values <- prometheus.MustNewConstMetric(g.longest, prometheus.GaugeValue, of.longest.Seconds(), name, name)
	}
}

// inCommon returns the registered metric that is described in the same words: controller-runtime's. Were its words others, nobody would read the metric.
func inCommon[C prometheus.Collector](wanted C) C {
	if known, ok := errors.AsType[prometheus.AlreadyRegisteredError](metrics.Registry.Register(wanted)); ok {
		if registered, ok := known.ExistingCollector.(C); ok {
			return registered
		}
	}
	return wanted
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help}, labels)
}

func counter(name, help string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help}, []string{"name", "controller"})
}

func histogram(name, help string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help}, []string{"name", "controller"})
}

func descriptionOf(metric prometheus.Collector) *prometheus.Desc {
	descriptions := make(chan *prometheus.Desc, 1)
	metric.Describe(descriptions)
	return <-descriptions
}
