package landscape

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// ServerTime is how long the cloud takes to create or delete a server.
const ServerTime = 500 * time.Millisecond

// StartMachines enables machines for the shoot of StartCluster, if its cloud profile offers some: machine-controller-manager runs once gardenlet
// deploys it, with our machine controller, and machines' Nodes are simulated.
func (l *Landscape) StartMachines(ctx context.Context, options ...nodes.Option) error {
	return l.do(ctx, step{"machines", func(ctx context.Context, _ io.Writer) (string, error) {
		l.Place.Cloud.Fake.SetTransition(fake.ServerBuild, fake.Transition{After: ServerTime})
		l.Place.Cloud.Fake.SetTransition(fake.ServerDelete, fake.Transition{After: ServerTime})
		dir, err := l.folder("machines")
		if err != nil {
			return "", err
		}
		l.Machines = mcm.Start(ctx, l.Seed, mcm.Options{
			Manager: filepath.Join(l.Programs, mcm.Manager), MachineController: l.MachineController, Dir: dir,
		})
		l.nodes, err = nodes.Start(ctx, l.Cluster.Config, l.Place.Account.Servers(l.hosted, l.Place.Cloud.Region()), options...)
		return "simulated kubelets, no machine yet", err
	}})
}

// ReconcileWorker reconciles the hosted shoot's Worker with its present description, and waits for it, as gardenlet does.
func (l *Landscape) ReconcileWorker(ctx context.Context) error {
	if err := l.prepareMachines(ctx); err != nil {
		return err
	}
	return l.Gardenlet.ReconcileWorker(ctx, l.hosted)
}

// DestroyWorker deletes the hosted shoot's Worker, waits until it is gone, and removes machine-controller-manager, as gardenlet does.
func (l *Landscape) DestroyWorker(ctx context.Context) error {
	if err := l.prepareMachines(ctx); err != nil {
		return err
	}
	return l.Gardenlet.DestroyWorker(ctx, l.hosted)
}

func (l *Landscape) prepareMachines(ctx context.Context) error {
	return l.Gardenlet.PrepareMachines(ctx, l.hosted, gardenlet.APIServer{URL: l.Cluster.URL(), CA: l.Cluster.CA})
}

// StopMachines kills machine-controller-manager and the machine controller, if they run, and stops the simulation of Nodes.
func (l *Landscape) StopMachines() error {
	if l.nodes != nil {
		l.nodes.Stop()
	}
	if l.Machines == nil {
		return nil
	}
	machines := l.Machines
	l.nodes, l.Machines = nil, nil
	return machines.Stop()
}
