package gardenlet

import "context"

// PrepareMachines does what gardenlet does before each flow of a Worker: it updates the namespace and the user data, and deploys
// machine-controller-manager.
func (g *Gardenlet) PrepareMachines(ctx context.Context, shoot *Shoot, server APIServer) error {
	if err := g.Prepare(ctx, shoot); err != nil {
		return err
	}
	if err := g.PrepareWorker(ctx, shoot); err != nil {
		return err
	}
	return g.DeployMachineControllerManager(ctx, shoot, server)
}

// ReconcileWorker reconciles the shoot's Worker after PrepareMachines, and waits for its status and its machines.
func (g *Gardenlet) ReconcileWorker(ctx context.Context, shoot *Shoot) error {
	component, err := g.Worker(shoot)
	if err != nil {
		return err
	}
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	if err := component.WaitUntilWorkerStatusMachineDeploymentsUpdated(ctx); err != nil {
		return err
	}
	return component.Wait(ctx)
}

// DestroyWorker deletes the shoot's Worker after PrepareMachines, waits until it is gone, and removes what PrepareMachines has deployed.
func (g *Gardenlet) DestroyWorker(ctx context.Context, shoot *Shoot) error {
	component, err := g.Worker(shoot)
	if err != nil {
		return err
	}
	if err := component.Destroy(ctx); err != nil {
		return err
	}
	if err := component.WaitCleanup(ctx); err != nil {
		return err
	}
	if err := g.RemoveMachineControllerManager(ctx, shoot); err != nil {
		return err
	}
	return g.RemoveUserData(ctx, shoot)
}
