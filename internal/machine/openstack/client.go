package openstack

import (
	"context"
	"fmt"
	"sync"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// client is the part of a session that the driver uses.
type client interface {
	serverClient
	portClient
	volumeClient
	lookupClient
}

type serverClient interface {
	ListServers(ctx context.Context, filter cloudopenstack.ServerFilter) ([]cloudopenstack.Server, error)
	GetServer(ctx context.Context, id string) (cloudopenstack.Server, error)
	CreateServer(ctx context.Context, create cloudopenstack.ServerCreate) (cloudopenstack.Server, error)
	DeleteServer(ctx context.Context, id string) error
}

type portClient interface {
	ListPorts(ctx context.Context, filter cloudopenstack.PortFilter) ([]cloudopenstack.Port, error)
	CreatePort(ctx context.Context, create cloudopenstack.PortCreate) (cloudopenstack.Port, error)
	DeletePort(ctx context.Context, id string) error
}

type volumeClient interface {
	ListVolumes(ctx context.Context, filter cloudopenstack.VolumeFilter) ([]cloudopenstack.Volume, error)
	DeleteVolume(ctx context.Context, id string) error
}

type lookupClient interface {
	ListFlavors(ctx context.Context) ([]cloudopenstack.Flavor, error)
	ListImages(ctx context.Context, filter cloudopenstack.ImageFilter) ([]cloudopenstack.Image, error)
	ListNetworks(ctx context.Context, filter cloudopenstack.NetworkFilter) ([]cloudopenstack.Network, error)
	ListSecurityGroups(ctx context.Context, filter cloudopenstack.SecurityGroupFilter) ([]cloudopenstack.SecurityGroup, error)
}

// gate permits changes until it is closed. Later ones block until the end of the process: an error would be written
// to Machines as their failure.
type gate struct {
	mu       sync.Mutex
	inFlight int           // running changes
	closed   chan struct{} // nil while the gate is open; closed itself after the last change
}

func (g *gate) run(ctx context.Context, change func() error) error {
	if !g.enter() {
		<-ctx.Done()
		return ctx.Err()
	}
	defer g.leave()
	return change()
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		return false
	}
	g.inFlight++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	if g.closed != nil && g.inFlight == 0 {
		close(g.closed)
	}
}

// close prevents further changes, and returns when running ones have responses.
func (g *gate) close(ctx context.Context) error {
	g.mu.Lock()
	if g.closed == nil {
		g.closed = make(chan struct{})
		if g.inFlight == 0 {
			close(g.closed)
		}
	}
	closed := g.closed
	g.mu.Unlock()
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for changes under way: %w", ctx.Err())
	}
}

// gatedClient is a client whose changes pass a gate.
type gatedClient struct {
	client
	gate *gate
}

// CreateServer implements line.
func (g gatedClient) CreateServer(ctx context.Context, create cloudopenstack.ServerCreate) (server cloudopenstack.Server, err error) {
	err = g.gate.run(ctx, func() error {
		server, err = g.client.CreateServer(ctx, create)
		return err
	})
	return server, err
}

// DeleteServer implements line.
func (g gatedClient) DeleteServer(ctx context.Context, id string) error {
	return g.gate.run(ctx, func() error { return g.client.DeleteServer(ctx, id) })
}

// CreatePort implements line.
func (g gatedClient) CreatePort(ctx context.Context, create cloudopenstack.PortCreate) (port cloudopenstack.Port, err error) {
	err = g.gate.run(ctx, func() error {
		port, err = g.client.CreatePort(ctx, create)
		return err
	})
	return port, err
}

// DeletePort implements line.
func (g gatedClient) DeletePort(ctx context.Context, id string) error {
	return g.gate.run(ctx, func() error { return g.client.DeletePort(ctx, id) })
}

// DeleteVolume implements line.
func (g gatedClient) DeleteVolume(ctx context.Context, id string) error {
	return g.gate.run(ctx, func() error { return g.client.DeleteVolume(ctx, id) })
}
