package openstack

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests and logins. All caches of a process that are given the same registerer share one set.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	logins   *prometheus.CounterVec
}

// newMetrics returns metrics that are registered if there is a registerer. It panics when the registerer has something
// else under one of the names, which only a change of the program can mend.
func newMetrics(registerer prometheus.Registerer) *metrics {
	return &metrics{
		requests: register(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "trellis_openstack_requests_total",
			Help: `Requests to OpenStack, each attempt counted; the code is "none" when there was no answer.`,
		}, []string{"service", "method", "code"})),
		duration: register(registerer, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "trellis_openstack_request_duration_seconds",
			Help:    "Time from sending a request to OpenStack to the end of its answer.",
			Buckets: []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"service", "method"})),
		logins: register(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "trellis_openstack_logins_total",
			Help: "Logins at Keystone by result (success or failure).",
		}, []string{"result"})),
	}
}

func register[C prometheus.Collector](registerer prometheus.Registerer, collector C) C {
	if registerer == nil {
		return collector
	}
	err := registerer.Register(collector)
	if err == nil {
		return collector
	}
	if known, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := known.ExistingCollector.(C); ok {
			return existing
		}
	}
	panic(fmt.Errorf("registering the metrics of OpenStack sessions: %w", err)) //nolint:forbidigo // a mistake of the program, seen at its first start
}

func (m *metrics) request(service, method, code string, took time.Duration) {
	m.requests.WithLabelValues(service, method, code).Inc()
	m.duration.WithLabelValues(service, method).Observe(took.Seconds())
}

func (m *metrics) login(err error) {
	result := "success"
	if err != nil {
		result = "failure"
	}
	m.logins.WithLabelValues(result).Inc()
}
