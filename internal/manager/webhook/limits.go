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

// limits bound what callers make the process do at once. Beyond them a request is answered with 429 and Retry-After: API servers wait as long as that
// says and ask again by themselves, as often as the webhook's timeout allows, so that users see a slow write instead of a failed one.
type limits struct {
	// bodyTimeout is how long a caller may take to send a request.
	bodyTimeout time.Duration
	// wait is how long a request waits for its turn before it is answered with 429, and retryAfter what the answer says, in whole seconds.
	wait, retryAfter time.Duration
	// memory has room for the bodies of all requests, from their first byte until they are handled. A slow caller takes as little of it as it sends.
	memory *memory
	// handling has room for as many requests as are handled at once.
	handling semaphore
}

// defaultLimits have room for the burst of a landscape that is restarted: handling takes milliseconds, a request some 100 KiB.
func defaultLimits() *limits {
	return &limits{
		bodyTimeout: 10 * time.Second, wait: 2 * time.Second, retryAfter: time.Second,
		memory: newMemory(256 << 20), handling: make(semaphore, 16),
	}
}

// maxBody is one more byte than controller-runtime takes, which answers what is too long.
const maxBody = 7<<20 + 1

// semaphore has room for as many as may do something at once.
type semaphore chan struct{}

// acquire reports whether there is room before the time is over. Then give has to follow.
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

// wrap applies the limits to a handler. unhandled is told why a request does not get to it.
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

// errBusy is the error of each request that comes, or has waited, while there is no room for it.
var errBusy = errors.New("too many requests at once: try again")

// read takes the whole body before the request is handled, so that a slow caller takes no turn of the others.
func (l *limits) read(w http.ResponseWriter, request *http.Request, body *requestBody) error {
	connection := http.NewResponseController(w)
	if err := connection.SetReadDeadline(time.Now().Add(l.bodyTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("limiting the time for the request's body: %w", err)
	}
	complete, err := body.read(request.Body)
	if !complete {
		// net/http may read on after the answer, which the limit of time has to end.
		w.Header().Set("Connection", "close")
		return err
	}
	// Otherwise the time would go on for whatever the connection is used for next.
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
