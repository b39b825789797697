package kindseed

import (
	"context"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
)

// StandInImage is that of a program that takes any argument and does nothing. All nodes have it.
const StandInImage = standInImage

// InstallRegistrations does what Install does for ours with registrations of somebody else, who must serve all that a seed and a shoot of type openstack need:
// the landscape before anybody has heard of ours. It does not wait.
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

// PrepareMachines does what gardenlet does before it orders a Worker, for whoever makes machines without one of ours. Servers become nodes from now on, and
// need no cloud-controller-manager for that.
func (s *Shoot) PrepareMachines(ctx context.Context) error {
	if err := s.prepareMachines(ctx); err != nil {
		return err
	}
	var err error
	s.nodes, err = nodes.Start(ctx, s.Cluster.Config, s.Account.Servers(s.Shoot, s.env.Cloud.Region()))
	return err
}
