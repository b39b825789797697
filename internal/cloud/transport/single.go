package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// changeGracePeriod is how long the response to a change is awaited after its caller was canceled. It leaves a process that terminates,
// for which it has 25 seconds, the time to save the result.
const changeGracePeriod = 15 * time.Second

// Single sends a request once and returns with the whole response read, so that nothing can fail or block later.
type Single struct {
	// Base is usually an http.Transport.
	Base http.RoundTripper
	// Limiter is the client's token bucket.
	Limiter *rate.Limiter
	// Timeout bounds a request with its response, without the wait for the token bucket.
	Timeout time.Duration
	Metrics *cloud.Metrics
}

// NewLimiter returns a token bucket. A negative rate means no limit.
func NewLimiter(qps float64, burst int) *rate.Limiter {
	if qps < 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(qps), burst)
}

// RoundTrip implements http.RoundTripper.
func (t *Single) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.waitForRateLimit(req.Context()); err != nil {
		CloseBody(req)
		return nil, err
	}
	started := time.Now()
	response, err := t.send(req)
	code := "none"
	if err == nil {
		code = strconv.Itoa(response.StatusCode)
	}
	t.Metrics.Request(InfoOf(req.Context()).Service, req.Method, code, time.Since(started))
	return response, err
}

// waitForRateLimit waits for the token bucket. If that would take longer than the deadline, it fails at once.
func (t *Single) waitForRateLimit(ctx context.Context) error {
	reservation := t.Limiter.Reserve()
	wait := reservation.Delay()
	if wait > 0 && !fitsDeadline(ctx, wait) {
		reservation.Cancel()
		return &cloud.Error{
			Kind: cloud.RateLimited, RetryAfter: wait,
			Err: errors.New("the session's own limit of requests leaves no turn before the deadline"),
		}
	}
	if wait <= 0 {
		return nil
	}
	if err := sleep(ctx, wait); err != nil {
		reservation.Cancel()
		return err
	}
	return nil
}

func (t *Single) send(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		CloseBody(req)
		return nil, err
	}
	ctx, cancel := t.lifetime(req)
	defer cancel()
	response, err := t.Base.RoundTrip(req.WithContext(ctx))
	if err == nil {
		err = readBody(response, InfoOf(req.Context()).Limits)
	}
	switch {
	case err == nil:
		return response, nil
	case req.Context().Err() != nil:
		return nil, req.Context().Err()
	case ctx.Err() != nil:
		return nil, &timeoutError{after: t.Timeout}
	default:
		return nil, err
	}
}

// lifetime returns the context of a request. A read ends with its caller. A change takes effect even if its caller does not wait, so
// its response is awaited for a while longer: a process that terminates then knows what it has created, and the next one does not create it again.
func (t *Single) lifetime(req *http.Request) (context.Context, context.CancelFunc) {
	caller := req.Context()
	if isRead(req) {
		return context.WithTimeout(caller, t.Timeout)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), t.Timeout)
	stop := context.AfterFunc(caller, func() {
		if sleep(ctx, changeGracePeriod) == nil {
			cancel()
		}
	})
	return ctx, func() { stop(); cancel() }
}

func isRead(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead || InfoOf(req.Context()).Reads
}

// timeoutError means that a single request took too long. It is not context.DeadlineExceeded: the caller's context has not ended.
type timeoutError struct{ after time.Duration }

// Error implements error.
func (e *timeoutError) Error() string { return fmt.Sprintf("no answer within %s", e.after) }
