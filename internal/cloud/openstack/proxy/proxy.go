package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// callTimeout is how long a service may take for one call, and Close for the calls under way.
const callTimeout = 2 * time.Minute

// Proxy is an HTTP server in front of one OpenStack. All methods are safe for concurrent use.
type Proxy struct {
	*wire.Tap

	version   string // of Keystone, as in "/v3"
	routes    routes
	transport *http.Transport

	server   *http.Server
	listener net.Listener

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup // handlers under way; none is added once closed
}

type config struct {
	tlsConfig *tls.Config
}

// Option configures a new proxy.
type Option func(*config)

// WithTLS says how to speak to the cloud, such as which certificates to trust instead of the system's. The configuration is
// not changed.
func WithTLS(tlsConfig *tls.Config) Option { return func(c *config) { c.tlsConfig = tlsConfig } }

// New returns a proxy for the cloud with that Keystone, which is asked nothing yet. It does not listen until Start.
func New(authURL string, opts ...Option) (*Proxy, error) {
	c := config{tlsConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	for _, opt := range opts {
		opt(&c)
	}
	p := &Proxy{
		Tap: new(wire.Tap),
		transport: &http.Transport{
			Proxy:           http.ProxyFromEnvironment,
			TLSClientConfig: c.tlsConfig.Clone(),
			// A connection that the service closes while it is used again would look like a fault of the cloud.
			DisableKeepAlives: true,
			// Bodies are read here, so nobody but us may ask for another encoding.
			DisableCompression: true,
		},
	}
	_, version, err := p.routes.add(services.Keystone, authURL)
	if err != nil {
		return nil, fmt.Errorf("reading the address of Keystone: %w", err)
	}
	p.version = cmp.Or(strings.TrimRight(version, "/"), "/v3")
	return p, nil
}

// Start listens on the address, such as "127.0.0.1:0", and serves until Close.
func (p *Proxy) Start(addr string) error {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return fmt.Errorf("listening for the proxy of OpenStack: %w", err)
	}
	p.listener = listener
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		// Serve always returns an error; after Close it is ErrServerClosed, and before that the test that uses the
		// proxy sees its connections refused.
		_ = p.server.Serve(listener)
	}()
	return nil
}

// URL is where a started proxy listens, such as "http://127.0.0.1:40001".
func (p *Proxy) URL() string {
	if p.listener == nil {
		return ""
	}
	return "http://" + p.listener.Addr().String()
}

// AuthURL is the Keystone endpoint of a started proxy, with version.
func (p *Proxy) AuthURL() string { return p.URL() + prefixOf(services.Keystone) + p.version }

// Close stops serving, cuts all connections, and returns when the calls that were let through have had their effect. It
// is safe to call twice, and on a proxy that was not started.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	if p.server != nil {
		if err := p.server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("closing the proxy of OpenStack: %w", err)
		}
	}
	ended := make(chan struct{})
	go func() {
		p.calls.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(callTimeout):
		return fmt.Errorf("closing the proxy of OpenStack: calls are still in flight after %s", callTimeout)
	}
}

// beginCall reports whether a call may begin. If so, leave must follow.
func (p *Proxy) beginCall() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.calls.Add(1)
	}
	return !p.closed
}

func (p *Proxy) endCall() { p.calls.Done() }
