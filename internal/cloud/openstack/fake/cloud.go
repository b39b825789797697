package fake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/cinder"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/glance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/keystone"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/manila"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/nova"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/octavia"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Cloud is one OpenStack. All methods are safe for concurrent use.
type Cloud struct {
	*wire.Tap // the log of its calls, and its faults

	core     *core.Cloud
	keystone *keystone.Service
	neutron  *neutron.Service
	nova     *nova.Service
	glance   *glance.Service
	octavia  *octavia.Service
	manila   *manila.Service
	cinder   *cinder.Service

	server   *http.Server
	listener net.Listener
}

// New returns a cloud with its default content (see the package comment). It does not listen yet: call Start, or serve its Handler.
func New(opts ...Option) *Cloud {
	settings := defaultConfig()
	for _, opt := range opts {
		opt(&settings)
	}
	shared := core.New(settings)
	c := &Cloud{Tap: shared.Tap, core: shared}
	c.SetLatency(settings.Latency)
	c.neutron = neutron.New(shared)
	c.keystone = keystone.New(shared, func(projectID string) { c.neutron.EnsureDefaultGroup(projectID) })
	c.glance = glance.New(shared)
	c.cinder = cinder.New(shared, c.glance)
	c.nova = nova.New(shared, c.neutron, c.glance, c.cinder)
	c.octavia = octavia.New(shared, c.neutron)
	c.manila = manila.New(shared, c.neutron)
	c.registerQuotas()
	c.registerAdmin()
	c.addDefaultContent()
	return c
}

// Start listens on the address, such as "127.0.0.1:0", and serves until Close.
func (c *Cloud) Start(addr string) error {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return fmt.Errorf("listening for the fake OpenStack: %w", err)
	}
	c.listener = listener
	c.server = &http.Server{Handler: c.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		// Serve always returns an error: ErrServerClosed after Close; otherwise the clients' connections are refused.
		_ = c.server.Serve(listener)
	}()
	return nil
}

// Handler serves all services, each below its own path. URLs in responses have the scheme and host of the request.
func (c *Cloud) Handler() http.Handler { return c.core.Mux }

// URL is the address of a started cloud, such as "http://127.0.0.1:40001".
func (c *Cloud) URL() string {
	if c.listener == nil {
		return ""
	}
	return "http://" + c.listener.Addr().String()
}

// AuthURL is the Keystone endpoint of a started cloud, with version.
func (c *Cloud) AuthURL() string { return c.URL() + core.KeystonePrefix + "/v3" }

// Close stops serving and closes all connections. It may be called twice, and on a cloud that was not started.
func (c *Cloud) Close() error {
	if c.server == nil {
		return nil
	}
	if err := c.server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing the fake OpenStack: %w", err)
	}
	return nil
}
