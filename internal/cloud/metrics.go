package cloud

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts requests and logins to one cloud. All clouds of a process that are given the same registerer share the metrics, which have the
// label "cloud".
type Metrics struct {
	requests *prometheus.CounterVec
	duration prometheus.ObserverVec
	logins   *prometheus.CounterVec
}

// NewMetrics returns the metrics of a cloud, such as "openstack". They are registered unless the registerer is nil. It panics if the registerer
// has other metrics with these names, which is an error in the program.
func NewMetrics(registerer prometheus.Registerer, cloud string) *Metrics {
	of := prometheus.Labels{"cloud": cloud}
	return &Metrics{
		requests: register(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "trellis_cloud_requests_total",
			Help: `Requests to a cloud's API; each attempt counts. The code is "none" when there was no response.`,
		}, []string{"cloud", "service", "method", "code"})).MustCurryWith(of),
		duration: register(registerer, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "trellis_cloud_request_duration_seconds",
			Help:    "Time from sending a request to a cloud's API to the end of its response.",
			Buckets: []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"cloud", "service", "method"})).MustCurryWith(of),
		logins: register(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "trellis_cloud_logins_total",
			Help: "Logins to a cloud by result (success or failure).",
		}, []string{"cloud", "result"})).MustCurryWith(of),
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
	if registered, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := registered.ExistingCollector.(C); ok {
			return existing
		}
	}
	panic(fmt.Errorf("registering the metrics of clouds: %w", err)) //nolint:forbidigo // an error in the program, which occurs at its first start
}

// Request counts a request and its duration. The code is the HTTP status code, or "none".
func (m *Metrics) Request(service, method, code string, took time.Duration) {
	m.requests.WithLabelValues(service, method, code).Inc()
	m.duration.WithLabelValues(service, method).Observe(took.Seconds())
}

// Login counts a login, which failed if there is an error.
func (m *Metrics) Login(err error) {
	result := "success"
	if err != nil {
		result = "failure"
	}
	m.logins.WithLabelValues(result).Inc()
}
