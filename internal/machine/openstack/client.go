package openstack

import (
	"context"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
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

// gatedClient is a client whose changes pass a gate.
type gatedClient struct {
	client
	gate *machineprocess.Gate
}

// CreateServer implements line.
func (g gatedClient) CreateServer(ctx context.Context, create cloudopenstack.ServerCreate) (server cloudopenstack.Server, err error) {
	err = g.gate.Run(ctx, func() error {
		server, err = g.client.CreateServer(ctx, create)
		return err
	})
	return server, err
}

// DeleteServer implements line.
func (g gatedClient) DeleteServer(ctx context.Context, id string) error {
	return g.gate.Run(ctx, func() error { return g.client.DeleteServer(ctx, id) })
}

// CreatePort implements line.
func (g gatedClient) CreatePort(ctx context.Context, create cloudopenstack.PortCreate) (port cloudopenstack.Port, err error) {
	err = g.gate.Run(ctx, func() error {
		port, err = g.client.CreatePort(ctx, create)
		return err
	})
	return port, err
}

// DeletePort implements line.
func (g gatedClient) DeletePort(ctx context.Context, id string) error {
	return g.gate.Run(ctx, func() error { return g.client.DeletePort(ctx, id) })
}

// DeleteVolume implements line.
func (g gatedClient) DeleteVolume(ctx context.Context, id string) error {
	return g.gate.Run(ctx, func() error { return g.client.DeleteVolume(ctx, id) })
}
