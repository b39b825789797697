package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// maxHeader bounds the header of a response, in bytes. The largest tokens have 16 KiB.
const maxHeader = 64 << 10

// Trust configures which servers a transport trusts.
type Trust struct {
	// CACert has the CA certificates, in PEM; empty means the system's.
	CACert string
	// Insecure disables the verification.
	Insecure bool
}

// New returns a transport for all sessions with the same trust.
func New(trust Trust) *http.Transport {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: trust.Insecure} //nolint:gosec // requested by the user
	if trust.CACert != "" {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM([]byte(trust.CACert))
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
		// A compressed response may be a thousand times as long after decompression, and useful ones have a few KiB.
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		// A dead connection that was not closed is detected by a ping, and not by one timeout after the other.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// ReadOnly rejects all requests except reads.
type ReadOnly struct{ Next http.RoundTripper }

// ErrReadOnly is the cause of ReadOnly's rejections. The error is of the kind cloud.Unauthorized.
var ErrReadOnly = errors.New("this session may only read")

// RoundTrip implements http.RoundTripper.
func (t *ReadOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if isRead(req) {
		return t.Next.RoundTrip(req)
	}
	CloseBody(req)
	return nil, cloud.Errorf(cloud.Unauthorized, "%s %s: %w", req.Method, req.URL.Path, ErrReadOnly)
}

// CloseBody closes the request's body, as http.RoundTripper requires of implementations that do not send it.
func CloseBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}
