package network

import (
	"context"

	"github.com/trellis-garden/trellis/internal/contract"
)

// Delete removes the plugin from the shoot and waits until gardener-resource-manager has deleted all objects. gardenlet has cleaned the shoot up before;
// machines may still exist.
func (a *actuator) Delete(ctx context.Context, rec *reconciliation) error {
	graph := contract.NewGraph("deleting network")
	addRemoval(graph, rec, "deleting the network plugin in the shoot")
	return rec.StateRecorder.Run(ctx, graph)
}

// Migrate releases the objects in the shoot, which are kept, and deletes those in the seed.
func (a *actuator) Migrate(ctx context.Context, rec *reconciliation) error {
	graph := contract.NewGraph("migrating network")
	kept := graph.Add(contract.Task{Name: "letting go of what is in the shoot", Do: func(ctx context.Context) error {
		return newStore(rec).KeepObjects(ctx, resourceShoot(rec.Object.Spec.Type))
	}})
	addRemoval(graph, rec, "forgetting about the shoot", kept)
	return rec.StateRecorder.Run(ctx, graph)
}

// addRemoval adds tasks that delete the ManagedResources, that of the shoot after the given tasks, and finally the Secrets with manifests. Some Secrets
// may have no ManagedResource, if a reconciliation ended before it created that.
func addRemoval(graph *contract.Graph, rec *reconciliation, shootTask string, before ...contract.TaskID) {
	resources := newStore(rec)
	shoot := graph.Add(contract.Task{Name: shootTask, After: before, Do: func(ctx context.Context) error {
		return resources.Remove(ctx, resourceShoot(rec.Object.Spec.Type))
	}})
	seed := graph.Add(contract.Task{Name: "deleting monitoring of the network in the seed", Do: func(ctx context.Context) error {
		return resources.Remove(ctx, resourceSeed(rec.Object.Spec.Type))
	}})
	graph.Add(contract.Task{Name: "deleting manifests", After: []contract.TaskID{shoot, seed}, Do: resources.DeleteSecrets})
}

// ForceDelete deletes everything without waiting: the shoot and its gardener-resource-manager may not exist any more.
func (a *actuator) ForceDelete(ctx context.Context, rec *reconciliation) error {
	resources := newStore(rec)
	for _, name := range []string{resourceShoot(rec.Object.Spec.Type), resourceSeed(rec.Object.Spec.Type)} {
		if err := resources.Delete(ctx, name); err != nil {
			return err
		}
	}
	return resources.DeleteSecrets(ctx)
}
