package aws

import (
	"context"

	"golang.org/x/time/rate"

	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// client is the part of a session that the driver uses.
type client interface {
	instanceClient
	initializeClient
}

type instanceClient interface {
	ListInstances(ctx context.Context, filter cloudaws.InstanceFilter) ([]cloudaws.Instance, error)
	CreateInstance(ctx context.Context, wanted cloudaws.InstanceCreate) (cloudaws.Instance, error)
	TerminateInstance(ctx context.Context, id string) error
	GetImage(ctx context.Context, id string) (cloudaws.Image, error)
}

type initializeClient interface {
	DisableSourceDestCheck(ctx context.Context, interfaceID string) error
	AssignIPv6Prefixes(ctx context.Context, interfaceID string, count int32) ([]string, error)
}

// gatedClient is a client whose changes pass a gate, and whose creations are not faster than EC2 accepts them.
type gatedClient struct {
	client
	gate     *machineprocess.Gate
	launches *rate.Limiter
}

// CreateInstance implements instanceClient.
func (g gatedClient) CreateInstance(ctx context.Context, wanted cloudaws.InstanceCreate) (instance cloudaws.Instance, err error) {
	if err := g.launches.Wait(ctx); err != nil {
		return instance, err
	}
	err = g.gate.Run(ctx, func() error {
		instance, err = g.client.CreateInstance(ctx, wanted)
		return err
	})
	return instance, err
}

// TerminateInstance implements instanceClient.
func (g gatedClient) TerminateInstance(ctx context.Context, id string) error {
	return g.gate.Run(ctx, func() error { return g.client.TerminateInstance(ctx, id) })
}

// DisableSourceDestCheck implements initializeClient.
func (g gatedClient) DisableSourceDestCheck(ctx context.Context, interfaceID string) error {
	return g.gate.Run(ctx, func() error { return g.client.DisableSourceDestCheck(ctx, interfaceID) })
}

// AssignIPv6Prefixes implements initializeClient.
func (g gatedClient) AssignIPv6Prefixes(ctx context.Context, interfaceID string, count int32) (prefixes []string, err error) {
	err = g.gate.Run(ctx, func() error {
		prefixes, err = g.client.AssignIPv6Prefixes(ctx, interfaceID, count)
		return err
	})
	return prefixes, err
}
