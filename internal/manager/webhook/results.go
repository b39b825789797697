package webhook

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Results of a webhook. controller-runtime's own metric does not distinguish them: over HTTP, each of these is a success.
const (
	resultAllowed = "allowed"
	resultChanged = "patched"
	resultRefused = "denied" // the object has an error
	resultFailed  = "failed" // it could not be validated or changed
	resultBusy    = "busy"   // there was no room for the request: API servers send it again
)

// results counts the results of webhooks.
type results struct{ counter *prometheus.CounterVec }

// newResults registers the counter, or returns the one that is registered already.
func newResults(registerer prometheus.Registerer) (results, error) {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trellis_webhook_requests_total",
		Help: "Admission requests by webhook and result: allowed, patched, denied, failed, or busy (the API server retries).",
	}, []string{"webhook", "result"})
	err := registerer.Register(counter)
	if known, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		return results{counter: known.ExistingCollector.(*prometheus.CounterVec)}, nil //nolint:forcetypeassert // equal descriptions have one type
	}
	if err != nil {
		return results{}, fmt.Errorf("registering the metric of webhooks: %w", err)
	}
	return results{counter: counter}, nil
}

// initialize adds the series of a webhook before its first request.
func (a results) initialize(webhook string) {
	for _, result := range []string{resultAllowed, resultChanged, resultRefused, resultFailed, resultBusy} {
		a.counter.WithLabelValues(webhook, result)
	}
}

func (a results) count(webhook string, response admission.Response) {
	a.counter.WithLabelValues(webhook, resultOf(response)).Inc()
}

// countUnhandled counts a request that reached no handler.
func (a results) countUnhandled(webhook string, err error) {
	result := resultFailed
	if errors.Is(err, errBusy) {
		result = resultBusy
	}
	a.counter.WithLabelValues(webhook, result).Inc()
}

func resultOf(response admission.Response) string {
	switch {
	case response.Allowed && len(response.Patch)+len(response.Patches) > 0:
		return resultChanged
	case response.Allowed:
		return resultAllowed
	case response.Result != nil && (response.Result.Code >= http.StatusInternalServerError || response.Result.Code == http.StatusBadRequest):
		// API servers only send valid objects, so a bad request is a fault of the connection, not of the user.
		return resultFailed
	default:
		return resultRefused
	}
}
