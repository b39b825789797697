package openstack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// A request passes, from the caller to the network:
//
//	readOnly       refuses what is not a look (only if asked for)
//	authenticated  adds the token, and replaces it once when it is rejected
//	retrying       repeats what is safe to repeat
//	single         sends it once: in its turn, within the timeout, measured
//	http.Transport shared by all sessions that trust the same certificates
//
// A login takes the same way without the first two.

const (
	// maxHeader bounds the header of an answer, in bytes. The largest tokens have 16 KiB.
	maxHeader = 64 << 10
	// changeGracePeriod is how long the answer to a change is still waited for when its caller has given up. It leaves an orderly
	// end of the process, which may take 25 seconds, the time to save what came of it.
	changeGracePeriod = 15 * time.Second
)

// requestInfo is what a transport knows of a request besides what is in it.
type requestInfo struct {
	service service
	retry   retryMode
	expects responseKind
}

// retryMode says whether a request may be repeated when the effect of the first is unknown.
type retryMode int

const (
	retryByMethod retryMode = iota
	retryNever
	retryAlways
)

type requestInfoKey struct{}

func withRequestInfo(ctx context.Context, info requestInfo) context.Context {
	return context.WithValue(ctx, requestInfoKey{}, info)
}

func requestInfoOf(ctx context.Context) requestInfo {
	info, _ := ctx.Value(requestInfoKey{}).(requestInfo)
	return info
}

// newTransport returns the transport for everybody who trusts what the credentials trust.
func newTransport(c Credentials) *http.Transport {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.Insecure} //nolint:gosec // asked for by the user
	if c.CACert != "" {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM([]byte(c.CACert))
	}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       config,
		TLSHandshakeTimeout:   10 * time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          100,
		MaxIdleConnsPerHost:   32,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		// A compressed answer may be a thousand times as long as what came over the wire, and what is worth it has a few KiB.
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		// A connection that is dead but was never closed is found out by a ping, not by one timeout after the other.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// readOnly turns away everything but looks.
type readOnly struct{ next http.RoundTripper }

// ErrReadOnly is why a read-only session refuses a call. It is of the kind cloud.Unauthorized.
var ErrReadOnly = errors.New("this session may only read")

// RoundTrip implements http.RoundTripper.
func (t *readOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if isRead(req) {
		return t.next.RoundTrip(req)
	}
	closeBody(req)
	return nil, cloud.Errorf(cloud.Unauthorized, "%s %s: %w", req.Method, req.URL.Path, ErrReadOnly)
}

// authenticated adds the token to each request.
type authenticated struct {
	next   http.RoundTripper
	tokens *tokenSource
}

// RoundTrip implements http.RoundTripper.
func (t *authenticated) RoundTrip(req *http.Request) (*http.Response, error) {
	defer closeBody(req)
	current, err := t.tokens.valid(req.Context())
	if err != nil {
		return nil, err
	}
	response, err := t.withToken(current, req)
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		return response, err
	}
	fresh, err := t.tokens.replace(req.Context(), current)
	if err != nil {
		return nil, err
	}
	if fresh == current {
		return response, nil
	}
	return t.withToken(fresh, req)
}

func (t *authenticated) withToken(l *login, req *http.Request) (*http.Response, error) {
	signed, err := cloneRequest(req)
	if err != nil {
		return nil, err
	}
	signed.Header.Set("X-Auth-Token", l.token)
	response, err := t.next.RoundTrip(signed)
	if err == nil && response.StatusCode != http.StatusUnauthorized && response.StatusCode < 500 {
		l.accepted.Store(true)
	}
	return response, err
}

// singleRequest sends a request once and returns with the whole answer read, so that nothing is left to fail or to hang.
type singleRequest struct {
	base    http.RoundTripper
	limiter *rate.Limiter
	timeout time.Duration
	metrics *cloud.Metrics
}

// RoundTrip implements http.RoundTripper.
func (t *singleRequest) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.waitForRateLimit(req.Context()); err != nil {
		closeBody(req)
		return nil, err
	}
	started := time.Now()
	response, err := t.send(req)
	code := "none"
	if err == nil {
		code = strconv.Itoa(response.StatusCode)
	}
	t.metrics.Request(requestInfoOf(req.Context()).service.String(), req.Method, code, time.Since(started))
	return response, err
}

// waitForRateLimit waits for the token bucket. When the turn would come after the deadline it fails at once.
func (t *singleRequest) waitForRateLimit(ctx context.Context) error {
	reservation := t.limiter.Reserve()
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

func (t *singleRequest) send(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		closeBody(req)
		return nil, err
	}
	ctx, cancel := t.lifetime(req)
	defer cancel()
	response, err := t.base.RoundTrip(req.WithContext(ctx))
	if err == nil {
		err = readResponse(response, requestInfoOf(req.Context()).expects)
	}
	switch {
	case err == nil:
		return response, nil
	case req.Context().Err() != nil:
		return nil, req.Context().Err()
	case ctx.Err() != nil:
		return nil, &timeoutError{after: t.timeout}
	default:
		return nil, err
	}
}

// lifetime returns the context in which a request is sent. A look ends with its caller. What changes something takes effect
// whether or not anybody waits for it, so that its answer is waited for a while longer: a process that ends in good order then
// knows what it has made, and its successor does not make it again.
func (t *singleRequest) lifetime(req *http.Request) (context.Context, context.CancelFunc) {
	caller := req.Context()
	if isRead(req) {
		return context.WithTimeout(caller, t.timeout)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), t.timeout)
	stop := context.AfterFunc(caller, func() {
		if sleep(ctx, changeGracePeriod) == nil {
			cancel()
		}
	})
	return ctx, func() { stop(); cancel() }
}

func isRead(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead
}

// timeoutError says that a single request took too long. It is not context.DeadlineExceeded: the caller's context goes on.
type timeoutError struct{ after time.Duration }

// Error implements error.
func (e *timeoutError) Error() string { return fmt.Sprintf("no answer within %s", e.after) }

// closeBody does what http.RoundTripper asks of those who don't send a request.
func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}
