package controlplane

import (
	"context"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/managedresource"
)

// removal is one reconciliation that removes a control plane. It does not need the configuration, which may be invalid by now.
type removal struct {
	rec       *reconciliation
	resources managedresource.Store
	secrets   secrets
}

func newRemoval(rec *reconciliation) *removal {
	return &removal{
		rec:       rec,
		resources: newStore(rec),
		secrets:   secrets{client: rec.Client, namespace: rec.Object.Namespace, owner: rec.Object.Name},
	}
}

// keptOnMigration lists the ManagedResources whose objects stay in the shoot when it is migrated.
func keptOnMigration() []string {
	return []string{resourceStorageClasses, resourceShootCRDs, resourceShoot}
}

// inShoot lists the ManagedResources whose objects are in the shoot. gardenlet would wait for one that is left without end.
func inShoot() []string { return append(keptOnMigration(), resourceShootWebhooks) }

func inSeed() []string { return []string{resourceSeed, resourceUpstreamConfiguration} }

// Delete first removes the objects in the shoot, while the controllers in the seed can still clean up: storage classes and snapshots, then the drivers;
// then the controllers; finally their configuration and certificates.
func (a *actuator) Delete(ctx context.Context, rec *reconciliation) error {
	r := newRemoval(rec)
	graph := contract.NewGraph("deleting control plane")
	classes := graph.Add(contract.Task{Name: "deleting storage classes", Do: r.removeTask(resourceStorageClasses)})
	crds := graph.Add(contract.Task{
		Name: "deleting custom resource definitions", Do: r.removeTask(resourceShootCRDs), After: []contract.TaskID{classes},
	})
	shoot := graph.Add(contract.Task{
		Name: "deleting components in the shoot", Do: r.removeTask(resourceShoot, resourceShootWebhooks), After: []contract.TaskID{crds},
	})
	seed := graph.Add(contract.Task{
		Name: "deleting components in the seed", Do: r.removeTask(inSeed()...), After: []contract.TaskID{shoot},
	})
	configs := graph.Add(contract.Task{Name: "deleting configuration", Do: r.secrets.removeAll, After: []contract.TaskID{seed}})
	graph.Add(contract.Task{Name: "deleting certificates", Do: r.deleteCertificates, After: []contract.TaskID{configs}})
	return rec.StateRecorder.Run(ctx, graph)
}

// Migrate stops the components in the seed, and keeps the objects in the shoot except webhooks, whose servers are in the seed. The CA stays, too: it is
// persisted already, and is deleted with the namespace.
func (a *actuator) Migrate(ctx context.Context, rec *reconciliation) error {
	r := newRemoval(rec)
	graph := contract.NewGraph("migrating control plane")
	kept := graph.Add(contract.Task{Name: "letting go of what is in the shoot", Do: func(ctx context.Context) error {
		for _, name := range keptOnMigration() {
			if err := r.resources.KeepObjects(ctx, name); err != nil {
				return err
			}
		}
		return nil
	}})
	shoot := graph.Add(contract.Task{
		Name: "forgetting about the shoot", Do: r.removeTask(inShoot()...), After: []contract.TaskID{kept},
	})
	seed := graph.Add(contract.Task{
		Name: "deleting components in the seed", Do: r.removeTask(inSeed()...), After: []contract.TaskID{shoot},
	})
	graph.Add(contract.Task{Name: "deleting configuration", Do: r.secrets.removeAll, After: []contract.TaskID{seed}})
	return rec.StateRecorder.Run(ctx, graph)
}

// ForceDelete deletes everything without waiting: the shoot, and programs that act on it, may be gone.
func (a *actuator) ForceDelete(ctx context.Context, rec *reconciliation) error {
	r := newRemoval(rec)
	for _, name := range append(inShoot(), inSeed()...) {
		if err := r.resources.Delete(ctx, name); err != nil {
			return err
		}
	}
	if err := r.secrets.deleteAll(ctx); err != nil {
		return err
	}
	return r.deleteCertificates(ctx)
}

// removeTask returns a task that removes ManagedResources concurrently.
func (r *removal) removeTask(names ...string) func(context.Context) error {
	return func(ctx context.Context) error { return r.resources.Remove(ctx, names...) }
}

// deleteCertificates issues none, so that all earlier ones are removed.
func (r *removal) deleteCertificates(ctx context.Context) error {
	authority, err := newAuthority(ctx, r.rec)
	if err != nil {
		return err
	}
	return authority.Cleanup(ctx)
}
