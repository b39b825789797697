package chart

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"time"
)

const maxRedirects = 10

var errPlainHTTP = errors.New("redirected to plain HTTP")

// transportFor returns a transport that trusts the CA bundle of an artifact. It must not be used after release.
func (p *Puller) transportFor(artifact Artifact) (transport *http.Transport, release func(), err error) {
	if len(artifact.CABundle) == 0 {
		return p.system, func() {}, nil
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(artifact.CABundle) {
		return nil, nil, pullProblem(artifact.Reference, "the CA bundle holds no certificate in PEM")
	}
	// Bundles change, so a cached transport for each would have to be evicted. Pulls are rare enough for a new connection each.
	transport = newTransport(roots)
	return transport, transport.CloseIdleConnections, nil
}

func newTransport(roots *x509.CertPool) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		IdleConnTimeout:       30 * time.Second,
		MaxIdleConns:          16,
		ForceAttemptHTTP2:     true,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
	}
}

func onlyHTTPS(request *http.Request, via []*http.Request) error {
	if request.URL.Scheme != "https" {
		return errPlainHTTP
	}
	if len(via) >= maxRedirects {
		return errors.New("stopped after too many redirects")
	}
	return nil
}
