package webhook

import (
	"bytes"
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
	// reading and handling have room for as many requests as are read and handled at once.
	reading, handling turns
}

// defaultLimits have room for the burst of a landscape that is restarted: handling takes milliseconds, a request some 100 KiB.
func defaultLimits() *limits {
	return &limits{
		bodyTimeout: 10 * time.Second, wait: 2 * time.Second, retryAfter: time.Second,
		reading: make(turns, 64), handling: make(turns, 16),
	}
}

// maxBody is one more byte than controller-runtime takes, which answers what is too long.
const maxBody = 7<<20 + 1

// turns has room for as many as may do something at once.
type turns chan struct{}

// take reports whether there is room before the time is over. Then give has to follow.
func (t turns) take(ctx context.Context, wait time.Duration) bool {
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

func (t turns) give() { <-t }

// around applies the limits to a handler. failed is told of each request that does not get to it.
func (l *limits) around(next http.Handler, failed func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := l.read(w, request)
		if err == nil && !l.handling.take(request.Context(), l.wait) {
			err = errBusy
		}
		if err != nil {
			failed()
			l.refuse(w, err)
			return
		}
		defer l.handling.give()
		request.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, request)
	})
}

var errBusy = errors.New("too many requests at once: try again")

// read takes the whole body before the request is handled, so that a slow caller takes no turn of the others.
func (l *limits) read(w http.ResponseWriter, request *http.Request) ([]byte, error) {
	if !l.reading.take(request.Context(), l.wait) {
		return nil, errBusy
	}
	defer l.reading.give()
	connection := http.NewResponseController(w)
	if err := connection.SetReadDeadline(time.Now().Add(l.bodyTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, fmt.Errorf("limiting the time for the request's body: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(request.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("reading the request's body: %w", err)
	}
	// Otherwise the time would go on for whatever the connection is used for next.
	if err := connection.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, fmt.Errorf("lifting the limit of time: %w", err)
	}
	return body, nil
}

func (l *limits) refuse(w http.ResponseWriter, err error) {
	code := http.StatusBadRequest
	switch {
	case errors.Is(err, errBusy):
		code = http.StatusTooManyRequests
		w.Header().Set("Retry-After", strconv.Itoa(int(l.retryAfter.Seconds())))
	case errors.Is(err, os.ErrDeadlineExceeded):
		code = http.StatusRequestTimeout
		w.Header().Set("Connection", "close")
	}
	http.Error(w, err.Error(), code)
}
