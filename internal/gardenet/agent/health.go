package agent

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// livenessTimeout is how long the loop may take for one turn.
const livenessTimeout = 60 * time.Second

// health answers the probes of kubelet.
type health struct {
	mutex sync.Mutex
	// turned is when the loop has turned last.
	turned time.Time
	// missing are the resources that have not been read yet.
	missing []Resource
	// waiting says what keeps the agent from an application; failure is the error of the last one; applied is true after the first success.
	waiting string
	failure error
	applied bool
}

func newHealth() *health { return &health{turned: time.Now()} }

func (h *health) beat() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.turned = time.Now()
}

func (h *health) setMissing(resources []Resource) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.missing = resources
}

// setResult stores the result of an application. waiting, if not empty, says why there was none.
func (h *health) setResult(waiting string, err error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.waiting, h.failure = waiting, err
	h.applied = h.applied || waiting == "" && err == nil
}

// live returns an error if the loop does not turn.
func (h *health) live() error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if since := time.Since(h.turned); since > livenessTimeout {
		return fmt.Errorf("the loop has not turned for %s", since.Round(time.Second))
	}
	return nil
}

// ready returns an error if the node is not as it has to be, as far as the agent knows.
func (h *health) ready() error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	switch {
	case len(h.missing) > 0:
		return fmt.Errorf("waiting for caches: %v", h.missing)
	case h.waiting != "":
		return errors.New(h.waiting)
	case h.failure != nil:
		return fmt.Errorf("the last application failed: %w", h.failure)
	case !h.applied:
		return errors.New("nothing has been applied yet")
	}
	return nil
}

// Handler serves /healthz and /readyz.
func (a *Agent) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", probe(a.health.live))
	mux.HandleFunc("/readyz", probe(a.health.ready))
	return mux
}

func probe(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err := check(); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, err)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}
