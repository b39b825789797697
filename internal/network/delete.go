package network

import (
	"context"

	"github.com/trellis-garden/trellis/internal/contract"
)

// Delete takes the plugin out of the shoot, and waits until gardener-resource-manager has. gardenlet has cleaned the shoot up
// before, while machines may still be there.
func (a *actuator) Delete(ctx context.Context, p *pass) error {
	resources := newStore(p)
	graph := contract.NewGraph("deleting network")
	graph.Add(contract.Task{Name: "deleting the network plugin in the shoot", Do: func(ctx context.Context) error {
		return resources.Remove(ctx, resourceShoot(p.Object.Spec.Type))
	}})
	graph.Add(contract.Task{Name: "deleting monitoring of the network in the seed", Do: func(ctx context.Context) error {
		return resources.Remove(ctx, resourceSeed(p.Object.Spec.Type))
	}})
	return p.Track.Run(ctx, graph)
}

// Migrate forgets about the shoot, where everything stays as it is, and takes away what is in the seed.
func (a *actuator) Migrate(ctx context.Context, p *pass) error {
	resources := newStore(p)
	graph := contract.NewGraph("migrating network")
	kept := graph.Add(contract.Task{Name: "letting go of what is in the shoot", Do: func(ctx context.Context) error {
		return resources.LetGo(ctx, resourceShoot(p.Object.Spec.Type))
	}})
	graph.Add(contract.Task{Name: "forgetting about the shoot", After: []contract.TaskID{kept}, Do: func(ctx context.Context) error {
		return resources.Remove(ctx, resourceShoot(p.Object.Spec.Type))
	}})
	graph.Add(contract.Task{Name: "deleting monitoring of the network in the seed", Do: func(ctx context.Context) error {
		return resources.Remove(ctx, resourceSeed(p.Object.Spec.Type))
	}})
	return p.Track.Run(ctx, graph)
}

// ForceDelete orders the deletion of everything and waits for nobody: the shoot, and whoever acts upon it, may be gone.
func (a *actuator) ForceDelete(ctx context.Context, p *pass) error {
	resources := newStore(p)
	for _, name := range []string{resourceShoot(p.Object.Spec.Type), resourceSeed(p.Object.Spec.Type)} {
		if _, _, err := resources.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
