package agent

import (
	"sync"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

// droppedPackets are the kernel's counters of dropped packets. They are read when metrics are, since reading them runs a process.
type droppedPackets struct {
	*prometheus.CounterVec
	read func() (map[string]uint64, error)
	log  logr.Logger

	mutex sync.Mutex
	// last are the values that have been added.
	last map[string]uint64
}

func newDroppedPackets(read func() (map[string]uint64, error), log logr.Logger) *droppedPackets {
	d := &droppedPackets{
		CounterVec: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gardenet_dropped_packets_total",
			Help: "Packets of pods that were dropped, by reason: what NetworkPolicies forbid to be received (ingress) or sent (egress), or a pod that the agent did not know (unknown).",
		}, []string{"reason"}),
		read: read, log: log, last: map[string]uint64{},
	}
	for _, reason := range reasons() {
		d.WithLabelValues(reason)
	}
	return d
}

// reasons are values of the label, by the name of the counter.
func reasons() map[string]string {
	return map[string]string{policy.CounterIngress: "ingress", policy.CounterEgress: "egress", policy.CounterUnknown: "unknown"}
}

// Collect implements prometheus.Collector.
func (d *droppedPackets) Collect(metrics chan<- prometheus.Metric) {
	d.update()
	d.CounterVec.Collect(metrics)
}

// update adds what has been dropped since the last time. Counters of a new table begin at zero.
func (d *droppedPackets) update() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	values, err := d.read()
	if err != nil {
		d.log.Error(err, "Reading the counters of dropped packets failed")
		return
	}
	for counter, reason := range reasons() {
		value, last := values[counter], d.last[counter]
		if value < last {
			last = 0
		}
		d.WithLabelValues(reason).Add(float64(value - last))
		d.last[counter] = value
	}
}
