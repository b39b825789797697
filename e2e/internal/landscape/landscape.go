// Package landscape starts clusters with all our controllers for the demo and the benchmark. Each step is printed on a screen. Tests use package
// clusters.
package landscape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// Options configure a Landscape.
type Options struct {
	// Cloud starts the cloud.
	Cloud func() (cloud.Cloud, error)
	// Type is the provider type that the controllers of Clusters and Machines serve.
	Type string
	// Clusters adds the controllers of contracts that write to shoots' clusters, and a seed that hosts those.
	Clusters bool
	// Machines adds the worker-controller and the machine controller, and such a seed.
	Machines bool
	// InSteps starts with the cloud, the seed's API server and infrastructure-controller. All other programs are built meanwhile, and Complete starts
	// them.
	InSteps bool
}

// Landscape is everything that was started.
type Landscape struct {
	*clusters.Clusters
	// Infrastructure, ControlPlane, Network and Worker are our controllers. ControlPlane and Network are nil without Options.Clusters, Worker
	// without Options.Machines.
	Infrastructure, ControlPlane, Network, Worker *Controller
	// MachineController is the path of the machine controller. It runs after StartMachines.
	MachineController string
	// Dir is the folder of this run. It is removed at the end.
	Dir string

	options Options
	screen  *terminal.Screen
	builds  *builds // of Options.InSteps
}

// accountName is unused in a new cloud.
const accountName = "trellis"

// Start starts everything. If something fails, what has been started is stopped.
func Start(ctx context.Context, screen *terminal.Screen, options Options) (*Landscape, error) {
	dir, err := os.MkdirTemp("", "trellis-")
	if err != nil {
		return nil, fmt.Errorf("creating a folder for this run: %w", err)
	}
	l := &Landscape{Dir: dir, options: options, screen: screen}
	if err := l.start(ctx); err != nil {
		return nil, errors.Join(err, l.Stop())
	}
	return l, nil
}

func (l *Landscape) start(ctx context.Context) (err error) {
	l.newControllers()
	if err := l.screen.Step("controllers", func(progress io.Writer) (string, error) { return l.buildFirst(ctx, progress) }); err != nil {
		return err
	}
	options := clusters.Options{
		Dir: l.Dir, Step: l.screen.Step, Cloud: l.options.Cloud, Account: accountName,
		Bare: !l.options.Clusters && !l.options.Machines, Machines: l.options.Machines, HostLater: l.options.InSteps,
	}
	if l.Clusters, err = clusters.New(ctx, options); err != nil {
		return err
	}
	if err := l.do(ctx, "processes", func(ctx context.Context) (string, error) { return l.startControllers(ctx, l.first()) }); err != nil {
		return err
	}
	if l.options.InSteps {
		programs := slices.Concat(l.ours(l.rest()), []program{l.machineController()}, thirdParty(options.ProgramNames()...))
		l.builds = startBuilds(ctx, programs)
	}
	return nil
}

// Complete starts what Options.InSteps has left for later.
func (l *Landscape) Complete(ctx context.Context) error {
	if err := l.screen.Step("programs", func(progress io.Writer) (string, error) {
		if err := l.builds.wait(progress); err != nil {
			return "", err
		}
		return l.sizes()
	}); err != nil {
		return err
	}
	if err := l.do(ctx, "seed", func(ctx context.Context) (string, error) {
		return "kube-controller-manager, gardener-resource-manager", l.HostControlPlanes(ctx)
	}); err != nil {
		return err
	}
	return l.do(ctx, "processes", func(ctx context.Context) (string, error) { return l.startControllers(ctx, l.rest()) })
}

// do runs a step, which returns a description of its result, and prints it.
func (l *Landscape) do(ctx context.Context, name string, do func(context.Context) (string, error)) error {
	return l.screen.Step(name, func(io.Writer) (string, error) { return do(ctx) })
}

// StartCluster starts a shoot's cluster, and prepares the seed for the ControlPlane as gardenlet does: with the cluster's address and a
// gardener-resource-manager. There is one such shoot at a time.
func (l *Landscape) StartCluster(ctx context.Context, of *gardenlet.Shoot) error {
	return l.do(ctx, "cluster", func(ctx context.Context) (string, error) {
		if err := l.Clusters.StartCluster(ctx, of); err != nil {
			return "", err
		}
		return "the shoot's API server at " + l.Cluster.URL() + ", kube-controller-manager; gardener-resource-manager, kubeconfigs and tokens in the seed", nil
	})
}

// RetireCluster does what gardenlet does after the ControlPlane is gone, and stops the cluster.
func (l *Landscape) RetireCluster(ctx context.Context) error {
	return l.do(ctx, "cluster", func(ctx context.Context) (string, error) {
		if err := l.Source.Gardenlet.RemoveAccess(ctx, l.Shoot); err != nil {
			return "", err
		}
		return "the shoot's API server has ended", l.StopCluster()
	})
}

// StartMachines enables machines for the shoot of StartCluster, if its cloud profile offers some.
func (l *Landscape) StartMachines(ctx context.Context, options ...nodes.Option) error {
	return l.do(ctx, "machines", func(ctx context.Context) (string, error) {
		return "simulated kubelets, no machine yet", l.Clusters.StartMachines(ctx, clusters.MachineOptions{Controller: l.MachineController, Nodes: options})
	})
}

// ReconcileWorker reconciles the shoot's Worker with its present description, and waits for it, as gardenlet does.
func (l *Landscape) ReconcileWorker(ctx context.Context) error {
	if err := l.prepareMachines(ctx); err != nil {
		return err
	}
	return l.Source.Gardenlet.ReconcileWorker(ctx, l.Shoot)
}

// DestroyWorker deletes the shoot's Worker, waits until it is gone, and removes machine-controller-manager, as gardenlet does.
func (l *Landscape) DestroyWorker(ctx context.Context) error {
	if err := l.prepareMachines(ctx); err != nil {
		return err
	}
	return l.Source.Gardenlet.DestroyWorker(ctx, l.Shoot)
}

func (l *Landscape) prepareMachines(ctx context.Context) error {
	return l.Source.Gardenlet.PrepareMachines(ctx, l.Shoot, gardenlet.APIServer{URL: l.Cluster.URL(), CA: l.Cluster.CA})
}

// Stop stops everything and removes its files.
func (l *Landscape) Stop() error {
	if l.builds != nil {
		l.builds.stop()
	}
	var err error
	if l.Clusters != nil {
		err = l.Close()
	}
	return errors.Join(err, os.RemoveAll(l.Dir))
}
