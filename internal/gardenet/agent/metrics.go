package agent

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/desired"
)

// The parts of a synchronization whose time is measured.
const (
	partFacts   = "facts"
	partCompute = "compute"
	partApply   = "apply"
	partVerify  = "verify"
	partReport  = "report"
)

// metrics are the agent's own.
type metrics struct {
	duration                                               *prometheus.HistogramVec
	errors, repairs                                        prometheus.Counter
	generation, lastSuccess, policies, elements, unreached prometheus.Gauge
	free                                                   *prometheus.GaugeVec
}

// newMetrics registers the metrics. dropped reads how many packets rules have dropped.
func newMetrics(registerer prometheus.Registerer, dropped func() (map[string]uint64, error), log logr.Logger) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	m := &metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "gardenet_sync_duration_seconds",
			Help:    "Time of the parts of a synchronization: facts, compute, apply, verify and report.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30},
		}, []string{"part"}),
		errors:      counter("gardenet_sync_errors_total", "Synchronizations that failed and are tried again."),
		repairs:     counter("gardenet_repairs_total", "Differences between the node and what was applied to it that were found and repaired."),
		generation:  gauge("gardenet_generation", "Number of the rules for NetworkPolicies, 1 to 255. It changes when the rules become narrower."),
		lastSuccess: gauge("gardenet_last_success_timestamp_seconds", "Unix time of the last application that succeeded or had nothing to do."),
		policies:    gauge("gardenet_policies", "NetworkPolicies of the cluster, if they are enforced."),
		elements:    gauge("gardenet_set_elements", "Elements of all sets of the node's table of nftables."),
		unreached:   gauge("gardenet_unreachable_nodes", "Nodes whose pods the pods of this node cannot reach."),
		free: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "gardenet_pod_addresses_free",
			Help: "Addresses of the node's pod range, by family (IPv4 or IPv6), that no pod in the API server has. Without enforcement of NetworkPolicies it is absent.",
		}, []string{"family"}),
	}
	var errs []error
	for _, collector := range []prometheus.Collector{
		m.duration, m.errors, m.repairs, m.generation, m.lastSuccess, m.policies, m.elements, m.unreached, m.free, newDroppedPackets(dropped, log),
	} {
		errs = append(errs, registerer.Register(collector))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return m, nil
}

// observe returns a function that records the time since the call as that of a part.
func (m *metrics) observe(part string) (done func()) {
	started := time.Now()
	return func() { m.duration.WithLabelValues(part).Observe(time.Since(started).Seconds()) }
}

// setState records what was applied.
func (m *metrics) setState(state desired.State, generation uint8, policies int) {
	elements := 0
	for _, set := range state.Table.Sets {
		elements += len(set.Elements)
	}
	m.elements.Set(float64(elements))
	m.unreached.Set(float64(len(state.Unreachable)))
	m.generation.Set(float64(generation))
	m.policies.Set(float64(policies))
	m.lastSuccess.SetToCurrentTime()
}

// setFree records how many addresses of each range the pods leave.
func (m *metrics) setFree(ranges []netip.Prefix, node string, pods []*corev1.Pod) {
	for _, r := range ranges {
		used := 0
		for _, pod := range pods {
			if pod.Spec.NodeName != node || pod.Spec.HostNetwork {
				continue
			}
			for _, ip := range pod.Status.PodIPs {
				if address, err := netip.ParseAddr(ip.IP); err == nil && r.Contains(address) {
					used++
				}
			}
		}
		m.free.WithLabelValues(family(r)).Set(max(0, usable(r)-float64(used)))
	}
}

func family(r netip.Prefix) string {
	if r.Addr().Is4() {
		return string(corev1.IPv4Protocol)
	}
	return string(corev1.IPv6Protocol)
}

// usable is how many addresses of a range pods can have: host-local leaves out the first one, the gateway, and IPv4's broadcast address.
func usable(r netip.Prefix) float64 {
	reserved := 2.0
	if r.Addr().Is4() {
		reserved = 3
	}
	return max(0, math.Exp2(float64(r.Addr().BitLen()-r.Bits()))-reserved)
}

// RegisterMetrics registers the metrics of an agent that does not run, for a list of them.
func RegisterMetrics(registerer prometheus.Registerer) error {
	none := func() (map[string]uint64, error) { return map[string]uint64{}, nil }
	_, err := newMetrics(registerer, none, logr.Discard())
	return err
}
