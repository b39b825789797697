package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

// limits bound the concurrent work and the memory for callers. Beyond them the response to a request is 429 with Retry-After: API servers wait for
// that time and try again, as often as the webhook's timeout allows, so that users see a slow write instead of a failed one.
type limits struct {
	// bodyTimeout is how long a caller may take to send a request.
	bodyTimeout time.Duration
	// wait is how long a request waits for a slot before the response 429; retryAfter is the value of that response's header, in whole seconds.
	wait, retryAfter time.Duration
	// memory bounds the bodies of all requests, from their first byte until they are handled. A slow caller takes only as much of it as it has sent.
	memory *memory
	// handling bounds how many requests are handled at once.
	handling semaphore
}

// defaultLimits are large enough for the burst when a landscape restarts: handling takes milliseconds, a request some 100 KiB.
func defaultLimits() *limits {
	return &limits{
		bodyTimeout: 10 * time.Second, wait: 2 * time.Second, retryAfter: time.Second,
		memory: newMemory(256 << 20), handling: make(semaphore, 16),
	}
}

// shootLimits are those for the kube-apiservers of all shoots together, with small objects. They share nothing with the others: a user of a shoot who makes
// its API server call all the time delays users of other shoots at most.
func shootLimits() *limits {
	l := defaultLimits()
	l.memory, l.handling = newMemory(64<<20), make(semaphore, 8)
	return l
}

// maxBody is one byte more than controller-runtime accepts, so that it rejects a body that is too long.
const maxBody = 7<<20 + 1

// semaphore is a counting semaphore; its capacity is the channel's.
type semaphore chan struct{}

// acquire reports whether it got a slot within the timeout. The caller then has to call release.
func (t semaphore) acquire(ctx context.Context, wait time.Duration) bool {
	select {
	case t <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case t <- struct{}{}:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

func (t semaphore) release() { <-t }

// wrap applies the limits to a handler. unhandled is called with the reason if a request does not reach the handler.
func (l *limits) wrap(next http.Handler, unhandled func(error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body := &requestBody{memory: l.memory, address: remoteAddress(request)}
		defer body.free()
		err := l.read(w, request, body)
		if err == nil && !l.handling.acquire(request.Context(), l.wait) {
			err = errBusy
		}
		if err != nil {
			unhandled(err)
			l.writeError(w, err)
			return
		}
		defer l.handling.release()
		request.Body = io.NopCloser(&body.chunks)
		next.ServeHTTP(w, request)
	})
}

// errBusy is the error of a request that exceeds a limit.
var errBusy = errors.New("too many requests at once: try again")

// read reads the whole body before the request is handled, so that a slow caller occupies no slot.
func (l *limits) read(w http.ResponseWriter, request *http.Request, body *requestBody) error {
	connection := http.NewResponseController(w)
	if err := connection.SetReadDeadline(time.Now().Add(l.bodyTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("limiting the time for the request's body: %w", err)
	}
	complete, err := body.read(request.Body)
	if !complete {
		// net/http may go on reading after the response; the deadline ends that.
		w.Header().Set("Connection", "close")
		return err
	}
	// Otherwise the deadline would apply to the next request of the connection.
	if liftErr := connection.SetReadDeadline(time.Time{}); liftErr != nil && !errors.Is(liftErr, http.ErrNotSupported) {
		return fmt.Errorf("lifting the limit of time: %w", liftErr)
	}
	return err
}

func (l *limits) writeError(w http.ResponseWriter, err error) {
	code := http.StatusBadRequest
	switch {
	case errors.Is(err, errBusy):
		code = http.StatusTooManyRequests
		w.Header().Set("Retry-After", strconv.Itoa(int(l.retryAfter.Seconds())))
	case errors.Is(err, os.ErrDeadlineExceeded):
		code = http.StatusRequestTimeout
	}
	http.Error(w, err.Error(), code)
}
