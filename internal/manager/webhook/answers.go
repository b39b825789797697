package webhook

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// What a webhook may answer. controller-runtime's own metric does not tell: over HTTP, each of these is a success.
const (
	answerAllowed = "allowed"
	answerChanged = "patched"
	answerRefused = "denied" // the object has a mistake
	answerFailed  = "failed"  // it could not be judged or changed
	answerBusy    = "busy"    // there was no room for the request: API servers send it again
)

// answers counts what webhooks say.
type answers struct{ counter *prometheus.CounterVec }

// newAnswers registers the counter, unless an earlier one of the process is registered: then that goes on counting.
func newAnswers(registerer prometheus.Registerer) (answers, error) {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trellis_webhook_requests_total",
		Help: "Admission requests by webhook and result: allowed, patched, denied, failed, or busy (the API server retries).",
	}, []string{"webhook", "result"})
	err := registerer.Register(counter)
	if known, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		return answers{counter: known.ExistingCollector.(*prometheus.CounterVec)}, nil //nolint:forcetypeassert // equal descriptions have one type
	}
	if err != nil {
		return answers{}, fmt.Errorf("registering the metric of webhooks: %w", err)
	}
	return answers{counter: counter}, nil
}

// announce makes a webhook visible before its first request.
func (a answers) announce(webhook string) {
	for _, answer := range []string{answerAllowed, answerChanged, answerRefused, answerFailed, answerBusy} {
		a.counter.WithLabelValues(webhook, answer)
	}
}

func (a answers) count(webhook string, response admission.Response) {
	a.counter.WithLabelValues(webhook, answerOf(response)).Inc()
}

// countUnhandled counts a request that got to no handler.
func (a answers) countUnhandled(webhook string, err error) {
	answer := answerFailed
	if errors.Is(err, errBusy) {
		answer = answerBusy
	}
	a.counter.WithLabelValues(webhook, answer).Inc()
}

func answerOf(response admission.Response) string {
	switch {
	case response.Allowed && len(response.Patch)+len(response.Patches) > 0:
		return answerChanged
	case response.Allowed:
		return answerAllowed
	case response.Result != nil && (response.Result.Code >= http.StatusInternalServerError || response.Result.Code == http.StatusBadRequest):
		// An API server does not send what is no object, so a bad request is between it and this process.
		return answerFailed
	default:
		return answerRefused
	}
}
