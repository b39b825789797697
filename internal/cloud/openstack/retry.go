package openstack

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// RetryPolicy says how often and after which pauses a request is repeated. Zero values mean the defaults.
type RetryPolicy struct {
	// Attempts is how often a request is sent at most; default 4, and 1 means never again.
	Attempts int
	// FirstPause is the pause before the second attempt; it doubles with each further one. A random half of each is cut
	// off. Default 250 ms.
	FirstPause time.Duration
	// LongestPause bounds each pause; default 10 s. A cloud that asks for a longer one gets it from the caller, who finds
	// it in the error (cloud.RetryAfter).
	LongestPause time.Duration
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	return RetryPolicy{
		Attempts:     orDefault(p.Attempts, 4),
		FirstPause:   orDefault(p.FirstPause, 250*time.Millisecond),
		LongestPause: orDefault(p.LongestPause, 10*time.Second),
	}
}

// orDefault returns value, or fallback when value is zero.
func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// pause returns how long to wait before the given attempt (the second is 2).
func (p RetryPolicy) pause(attempt int) time.Duration {
	full := p.FirstPause << (attempt - 2)
	if full <= 0 || full > p.LongestPause {
		full = p.LongestPause
	}
	return full/2 + rand.N(full/2+1) //nolint:gosec // jitter keeps no secret
}

// retrying repeats requests that failed through no fault of theirs, as long as a repetition cannot do any harm.
type retrying struct {
	next   http.RoundTripper
	policy RetryPolicy
}

// RoundTrip implements http.RoundTripper.
func (t *retrying) RoundTrip(req *http.Request) (*http.Response, error) {
	defer closeBody(req)
	for attempt := 1; ; attempt++ {
		clone, err := cloneRequest(req)
		if err != nil {
			return nil, err
		}
		response, err := t.next.RoundTrip(clone)
		if attempt >= t.policy.Attempts || !shouldRetry(req, response, err) {
			return response, err
		}
		pause := t.policy.pause(attempt + 1)
		if response != nil {
			pause = max(pause, retryAfter(response.Header))
		}
		if pause > t.policy.LongestPause || !fitsDeadline(req.Context(), pause) {
			return response, err
		}
		if err := sleep(req.Context(), pause); err != nil {
			return nil, err
		}
	}
}

// fitsDeadline reports whether the context's deadline leaves room for a pause.
func fitsDeadline(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || pause < time.Until(deadline)
}

// sleep waits, or returns the context's error when that ends first.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cloneRequest returns the request with a body of its own, so that it can be sent several times.
func cloneRequest(req *http.Request) (*http.Request, error) {
	clone := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		clone.Body = body
	}
	return clone, nil
}

// shouldRetry decides by what may have happened to the request: nothing (it never left, or was turned away), something
// that a repetition does not make worse, or something that it does.
func shouldRetry(req *http.Request, response *http.Response, err error) bool {
	if err != nil {
		return req.Context().Err() == nil && isTransient(err) && (neverSent(err) || isIdempotent(req))
	}
	switch response.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusServiceUnavailable:
		return isIdempotent(req) || response.Header.Get("Retry-After") != ""
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return isIdempotent(req)
	default:
		return false
	}
}

// isTransient reports whether a request without an answer may fare better next time. What has been classified has been
// dealt with; a certificate stays what it is, and so, for now, does an answer that cannot be used.
func isTransient(err error) bool {
	_, classified := errors.AsType[*cloud.Error](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, invalid := errors.AsType[*invalidResponseError](err)
	return !classified && !certificate && !invalid
}

// neverSent reports whether not even the connection came about.
func neverSent(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "dial"
}

func isIdempotent(req *http.Request) bool {
	switch requestInfoOf(req.Context()).retry {
	case retryAlways:
		return true
	case retryNever:
		return false
	default:
		return req.Method != http.MethodPost && req.Method != http.MethodPatch && req.Header.Get(ifMatch) == ""
	}
}

// retryAfter returns how long an answer asks to stay away, or zero. Given as a date, it counts from the answer's own.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	then, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, then.Sub(now))
}
