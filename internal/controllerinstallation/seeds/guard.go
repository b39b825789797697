package seeds

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// callerTimeoutThreshold is how long a request must have been without a response to count against the seed if its caller cancels it.
const callerTimeoutThreshold = 5 * time.Second

// maxStatusSize is how much is read of a response that may be an error page of a proxy. Responses of API servers with these codes are shorter.
const maxStatusSize = 64 << 10

// Limits of a response. Objects have at most 1.5 MiB, and lists are read in pages, in smaller ones (see Paged) if objects are large. Elements are the
// values that a decoder creates, each of which may take a hundred times the memory of its text.
const (
	maxResponseSize = 4 << 20
	maxElements     = 150_000
)

// guard passes requests to a seed while its breaker permits it, gives them a deadline, and records whether there is a response. It wraps the
// transport directly, so it sees every retry.
type guard struct {
	next    http.RoundTripper
	breaker *breaker
	timeout time.Duration
	// refused becomes true when the credentials are rejected.
	refused *atomic.Bool
}

var _ utilnet.RoundTripperWrapper = (*guard)(nil)

// RoundTrip implements http.RoundTripper. Without a response, the error is an Unreachable.
func (g *guard) RoundTrip(request *http.Request) (*http.Response, error) {
	permit, failure := g.breaker.acquire()
	if failure != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, failure
	}
	ctx, cancel := context.WithTimeout(request.Context(), g.timeout)
	a := &attempt{guard: g, permit: permit, caller: request.Context(), sent: time.Now(), cancel: cancel}
	response, err := g.next.RoundTrip(request.WithContext(ctx))
	if err == nil {
		err = checkGatewayError(response)
	}
	if err != nil {
		cancel()
		return nil, a.failed(err)
	}
	if response.StatusCode == http.StatusUnauthorized {
		g.refused.Store(true)
	}
	dropLongWarnings(response.Header)
	response.Body = &responseBody{ReadCloser: response.Body, attempt: a}
	return response, nil
}

// dropLongWarnings removes long warnings, which clients would write to the log.
func dropLongWarnings(header http.Header) {
	size := 0
	for _, warning := range header.Values("Warning") {
		size += len(warning)
	}
	if size > truncate.MaxStatus {
		header.Del("Warning")
	}
}

// WrappedRoundTripper implements net.RoundTripperWrapper.
func (g *guard) WrappedRoundTripper() http.RoundTripper { return g.next }

// checkGatewayError returns an error if the response is that of a proxy without an API server behind it. API servers use the same codes, e.g. for an
// unavailable extension API, but they give each request an audit ID, and describe errors by a Status.
func checkGatewayError(response *http.Response) error {
	switch response.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return nil
	}
	if response.Header.Get("Audit-Id") != "" {
		return nil
	}
	page, err := io.ReadAll(io.LimitReader(response.Body, maxStatusSize))
	if err != nil {
		_ = response.Body.Close()
		return err
	}
	status := metav1.TypeMeta{}
	if json.Unmarshal(page, &status) == nil && status.Kind == "Status" {
		rest := io.MultiReader(bytes.NewReader(page), response.Body)
		response.Body = &bodyWithPrefix{Reader: rest, Closer: response.Body}
		return nil
	}
	_ = response.Body.Close()
	return fmt.Errorf("what is in front of its API server answers %d (%s)", response.StatusCode, http.StatusText(response.StatusCode))
}

type bodyWithPrefix struct {
	io.Reader
	io.Closer
}

// attempt is a pending request.
type attempt struct {
	guard  *guard
	permit *permit
	caller context.Context //nolint:containedctx // shows whether the caller has cancelled
	sent   time.Time
	cancel context.CancelFunc
}

// failed returns the error that the caller gets.
func (a *attempt) failed(err error) error {
	waited := time.Since(a.sent)
	callerErr := a.caller.Err()
	switch {
	case callerErr == nil && errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("no answer within %s", a.guard.timeout)
	case callerErr == nil:
		if isCertificateError(err) {
			a.guard.refused.Store(true)
		}
		err = stableError(err)
	case errors.Is(callerErr, context.DeadlineExceeded) && waited >= min(callerTimeoutThreshold, a.guard.timeout/2):
		err = errors.New("no answer in time")
	default:
		a.permit.abandoned()
		return err
	}
	return a.permit.unanswered(err)
}

// tooLarge returns the error that the caller gets for a response that exceeds the limits.
func (a *attempt) tooLarge(reason error) error {
	if isPaged(a.caller) {
		a.permit.abandoned()
		return &ResponseTooLarge{Seed: a.permit.breaker.seed, Err: reason}
	}
	return a.permit.tooLarge(reason)
}

// responseBody is the body of a response. A seed may stop in the middle of it, and a compromised one may send more than fits into memory, so the
// response is recorded only once it is complete.
type responseBody struct {
	io.ReadCloser

	attempt        *attempt
	size, elements int
	failure        error
	done           bool
}

// Read implements io.Reader.
func (b *responseBody) Read(into []byte) (int, error) {
	if b.failure != nil {
		return 0, b.failure
	}
	n, err := b.ReadCloser.Read(into)
	if failure := b.count(into[:n]); failure != nil {
		b.failure = b.attempt.tooLarge(failure)
		b.done = true
		return 0, b.failure
	}
	switch {
	case errors.Is(err, io.EOF): // io.ErrUnexpectedEOF is another
		b.complete()
	case err != nil:
		b.failure = b.attempt.failed(err)
		b.done = true
		err = b.failure
	}
	return n, err
}

// count counts the bytes and elements read, after decompression.
func (b *responseBody) count(content []byte) error {
	b.size += len(content)
	for _, c := range content {
		if c == ',' || c == '{' || c == '[' {
			b.elements++
		}
	}
	switch {
	case b.size > maxResponseSize:
		return fmt.Errorf("its API server gives an answer of more than %d MiB", maxResponseSize>>20)
	case b.elements > maxElements:
		return fmt.Errorf("its API server gives an answer with more than %d elements", maxElements)
	}
	return nil
}

func (b *responseBody) complete() {
	if !b.done {
		b.done = true
		b.attempt.permit.answered()
	}
}

// Close implements io.Closer. A response that the caller does not read to its end does not count against the seed.
func (b *responseBody) Close() error {
	defer b.attempt.cancel()
	b.complete()
	return b.ReadCloser.Close()
}
