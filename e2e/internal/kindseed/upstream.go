package kindseed

import (
	"context"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
)

// StandInImage is the image of a program that accepts any arguments and does nothing. All nodes have it.
const StandInImage = standInImage

// InstallRegistrations registers other controllers than ours, which must serve all kinds that a seed and a shoot of type openstack need: the
// landscape before the move. It does not wait.
func (env *Env) InstallRegistrations(ctx context.Context, registrations ...garden.Registration) error {
	return env.phase(ctx, "registrations of others", func(ctx context.Context) error {
		for _, registration := range append(registrations, otherResources()) {
			if err := env.Garden.Register(ctx, registration); err != nil {
				return err
			}
		}
		return env.addSeed(ctx)
	})
}

func otherResources() garden.Registration {
	return garden.Registration{Name: others, Resources: append(
		garden.Primary(garden.DNS, "DNSRecord"), garden.Primary(garden.MachineImage, "OperatingSystemConfig")...,
	)}
}

// PrepareMachines prepares the creation of machines as gardenlet does before it creates a Worker, for tests that create machines without our
// controller. From now on servers become nodes, without a cloud-controller-manager.
func (s *Shoot) PrepareMachines(ctx context.Context) error {
	if err := s.prepareMachines(ctx); err != nil {
		return err
	}
	var err error
	s.nodes, err = nodes.Start(ctx, s.Cluster.Config, s.Account.Servers(s.Shoot))
	return err
}
