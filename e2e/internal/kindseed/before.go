package kindseed

import (
	"context"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
)

// StandInImage is that of a program that takes any argument and does nothing. All nodes have it.
const StandInImage = standInImage

// InstallOthers does what Install does for ours with registrations of somebody else, who must serve all that a seed and a shoot of type openstack need:
// the landscape before anybody has heard of ours. It does not wait.
func (w *World) InstallOthers(ctx context.Context, registrations ...garden.Registration) error {
	return w.phase(ctx, "registrations of others", func(ctx context.Context) error {
		for _, registration := range append(registrations, otherNeeds()) {
			if err := w.Garden.Register(ctx, registration); err != nil {
				return err
			}
		}
		return w.addSeed(ctx)
	})
}

func otherNeeds() garden.Registration {
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
	s.nodes, err = nodes.Start(ctx, s.Cluster.Config, s.Account.Servers(s.Shoot, s.world.Cloud.Region()))
	return err
}
