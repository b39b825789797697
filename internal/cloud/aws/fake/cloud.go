package fake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/ec2"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/efs"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/elb"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/iam"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/sts"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Cloud is one AWS account in one region. All methods are safe for concurrent use.
type Cloud struct {
	*wire.Tap // the log of its calls, and its faults

	core *core.Cloud
	ec2  *ec2.Service
	efs  *efs.Service
	iam  *iam.Service
	sts  *sts.Service
	elb  *elb.Service

	server   *http.Server
	listener net.Listener
}

// New returns an empty account (see the package comment). It does not listen yet: call Start, or serve its Handler. An error is a defect of the fake.
func New(opts ...Option) (*Cloud, error) {
	settings := defaultConfig()
	for _, opt := range opts {
		opt(&settings)
	}
	shared, err := core.New(settings)
	if err != nil {
		return nil, err
	}
	c := &Cloud{Tap: shared.Tap, core: shared}
	c.SetLatency(settings.Latency)
	if c.iam, err = iam.New(shared); err != nil {
		return nil, err
	}
	if c.ec2, err = ec2.New(shared, c.iam); err != nil {
		return nil, err
	}
	if c.efs, err = efs.New(shared, c.ec2); err != nil {
		return nil, err
	}
	if c.sts, err = sts.New(shared); err != nil {
		return nil, err
	}
	if c.elb, err = elb.New(shared, c.ec2); err != nil {
		return nil, err
	}
	c.AddKey("gardener", DefaultKey())
	return c, nil
}

// Start listens on the address, such as "127.0.0.1:0", and serves until Close.
func (c *Cloud) Start(addr string) error {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return fmt.Errorf("listening for the fake AWS: %w", err)
	}
	c.listener = listener
	c.server = &http.Server{Handler: c.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		// Serve always returns an error: ErrServerClosed after Close; otherwise the clients' connections are refused.
		_ = c.server.Serve(listener)
	}()
	return nil
}

// Handler serves all services.
func (c *Cloud) Handler() http.Handler { return c.core }

// URL is the address of a started cloud, such as "http://127.0.0.1:40001".
func (c *Cloud) URL() string {
	if c.listener == nil {
		return ""
	}
	return "http://" + c.listener.Addr().String()
}

// Close stops serving and closes all connections. It may be called twice, and on a cloud that was not started.
func (c *Cloud) Close() error {
	if c.server == nil {
		return nil
	}
	if err := c.server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing the fake AWS: %w", err)
	}
	return nil
}
