package transport

import (
	"cmp"
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

// RetryPolicy configures the number of attempts and the pauses between them. Zero values mean the defaults.
type RetryPolicy struct {
	// Attempts is the maximum number of attempts; default 4, and 1 disables retries.
	Attempts int
	// FirstPause is the pause before the second attempt; it doubles with each further one. A random part of up to half of each is subtracted.
	// Default 250 ms.
	FirstPause time.Duration
	// LongestPause bounds each pause; default 10 s. If a cloud requests a longer one, the caller gets the response, and finds the pause in the
	// error (cloud.RetryAfter).
	LongestPause time.Duration
}

// WithDefaults returns the policy with the defaults.
func (p RetryPolicy) WithDefaults() RetryPolicy {
	return RetryPolicy{
		Attempts:     cmp.Or(p.Attempts, 4),
		FirstPause:   cmp.Or(p.FirstPause, 250*time.Millisecond),
		LongestPause: cmp.Or(p.LongestPause, 10*time.Second),
	}
}

// pause returns how long to wait before the given attempt (the second is 2).
func (p RetryPolicy) pause(attempt int) time.Duration {
	full := p.FirstPause << (attempt - 2)
	if full <= 0 || full > p.LongestPause {
		full = p.LongestPause
	}
	return full/2 + rand.N(full/2+1) //nolint:gosec // jitter needs no secure randomness
}

// Retrying repeats requests that failed for a transient reason, if that is safe.
type Retrying struct {
	Next   http.RoundTripper
	Policy RetryPolicy
}

// RoundTrip implements http.RoundTripper.
func (t *Retrying) RoundTrip(req *http.Request) (*http.Response, error) {
	defer CloseBody(req)
	for attempt := 1; ; attempt++ {
		clone, err := CloneRequest(req)
		if err != nil {
			return nil, err
		}
		response, err := t.Next.RoundTrip(clone)
		if attempt >= t.Policy.Attempts || !shouldRetry(req, response, err) {
			return response, err
		}
		pause := t.Policy.pause(attempt + 1)
		if response != nil {
			pause = max(pause, RetryAfter(response.Header))
		}
		if pause > t.Policy.LongestPause || !fitsDeadline(req.Context(), pause) {
			return response, err
		}
		if err := sleep(req.Context(), pause); err != nil {
			return nil, err
		}
	}
}

// fitsDeadline reports whether a pause ends before the context's deadline.
func fitsDeadline(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || pause < time.Until(deadline)
}

// sleep waits, or returns the context's error if the context ends first.
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

// CloneRequest returns the request with a body of its own, so that it can be sent several times.
func CloneRequest(req *http.Request) (*http.Request, error) {
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

// shouldRetry decides by the possible effects of the request: none, because it was not sent or was rejected; effects that a repetition does not
// change; or others.
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

// isTransient reports whether a request without a response may succeed the next time. Classified errors have been handled already; an untrusted
// certificate and an invalid response will not change at once.
func isTransient(err error) bool {
	_, classified := errors.AsType[*cloud.Error](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, invalid := errors.AsType[*InvalidResponseError](err)
	return !classified && !certificate && !invalid
}

// neverSent reports whether there was no connection.
func neverSent(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "dial"
}

func isIdempotent(req *http.Request) bool {
	switch InfoOf(req.Context()).Retry {
	case RetryAlways:
		return true
	case RetryNever:
		return false
	default:
		return req.Method != http.MethodPost && req.Method != http.MethodPatch && req.Header.Get("If-Match") == ""
	}
}

// RetryAfter returns the pause that a response requests, or zero. A date is compared with the response's own.
func RetryAfter(header http.Header) time.Duration {
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
