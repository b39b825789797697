// Package landscape starts everything around our controllers for the demo and the benchmark: a seed, a fake OpenStack, the controllers'
// processes, and gardenlet; optionally the cluster of a shoot, and its machines. Each step is printed on a screen. Tests use packages testenv and
// clusters.
package landscape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
	"github.com/trellis-garden/trellis/e2e/internal/shoot"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// stopTimeout bounds the end of the controllers.
const stopTimeout = 30 * time.Second

// Options configure a Landscape.
type Options struct {
	// Latency is the duration of each request to the cloud.
	Latency time.Duration
	// Clusters adds the controllers of contracts that write to shoots' clusters, and a seed that hosts those.
	Clusters bool
	// Machines adds the worker-controller and the machine controller, and such a seed.
	Machines bool
}

// host reports whether the seed hosts clusters of shoots.
func (o Options) host() bool { return o.Clusters || o.Machines }

// Landscape is everything that was started.
type Landscape struct {
	Seed      *seed.Seed
	Place     Place
	Gardenlet *gardenlet.Gardenlet
	// Infrastructure, ControlPlane, Network and Worker are our controllers. ControlPlane and Network are nil without Options.Clusters, Worker
	// without Options.Machines.
	Infrastructure, ControlPlane, Network, Worker *Controller
	// MachineController is the path of the machine controller. It runs after StartMachines.
	MachineController string
	// Machines are the processes of machine-controller-manager and of the machine controller.
	Machines *mcm.Pods
	// Cluster is the cluster of StartCluster.
	Cluster *shoot.Cluster
	// Programs is the folder of other projects' programs, Dir the one of this run. It is removed at the end.
	Programs, Dir string

	options Options
	screen  *terminal.Screen
	hosting *clusters.Seed // nothing without clusters
	hosted  *gardenlet.Shoot
	nodes   *nodes.Nodes
}

// Place is an account in a cloud for shoots.
type Place struct {
	Cloud   *openstack.Cloud
	Account *openstack.Account
}

// accountName is unused in a new cloud.
const accountName = "trellis"

// Start starts everything. If something fails, what has been started is stopped.
func Start(ctx context.Context, screen *terminal.Screen, options Options) (*Landscape, error) {
	logf.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "trellis-")
	if err != nil {
		return nil, fmt.Errorf("creating a folder for this run: %w", err)
	}
	l := &Landscape{Dir: dir, options: options, screen: screen}
	for _, step := range []step{
		{"programs", l.ensurePrograms},
		{"controllers", l.buildControllers},
		{"cloud", l.startCloud},
		{"seed", l.startSeed},
		{"processes", l.startControllers},
	} {
		if err := l.do(ctx, step); err != nil {
			return nil, errors.Join(err, l.Stop())
		}
	}
	return l, nil
}

// step is a step on the screen: it writes lines to progress, and returns a line at the end.
type step struct {
	name string
	do   func(ctx context.Context, progress io.Writer) (string, error)
}

func (l *Landscape) do(ctx context.Context, s step) error {
	return l.screen.Step(s.name, func(progress io.Writer) (string, error) { return s.do(ctx, progress) })
}

func (l *Landscape) ensurePrograms(ctx context.Context, progress io.Writer) (detail string, err error) {
	names := assets.APIServer()
	switch {
	case l.options.Machines:
		names = assets.Machines()
	case l.options.Clusters:
		names = assets.ControlPlane()
	}
	if l.Programs, err = assets.Ensure(ctx, progress, names...); err != nil {
		return "", err
	}
	var all []string
	for _, name := range names {
		version, err := assets.Version(name)
		if err != nil {
			return "", err
		}
		all = append(all, name+" "+version)
	}
	return strings.Join(all, ", "), nil
}

func (l *Landscape) startCloud(ctx context.Context, _ io.Writer) (detail string, err error) {
	if l.Place.Cloud, err = openstack.NewFake(); err != nil {
		return "", err
	}
	l.Place.Cloud.SetLatency(l.options.Latency)
	if l.Place.Account, err = l.Place.Cloud.NewAccount(ctx, accountName); err != nil {
		return "", err
	}
	return fmt.Sprintf("fake OpenStack at %s, %d ms per call", l.Place.Cloud.AuthURL(), l.options.Latency.Milliseconds()), nil
}

func (l *Landscape) startSeed(ctx context.Context, _ io.Writer) (detail string, err error) {
	dir, err := l.folder("seed")
	if err != nil {
		return "", err
	}
	if !l.options.host() {
		if l.Seed, err = seed.Start(ctx, l.Programs, dir); err != nil {
			return "", err
		}
		l.Gardenlet = gardenlet.New(l.Seed.Client)
		return "API server with Gardener's CRDs", nil
	}
	if l.hosting, err = clusters.StartSeed(ctx, l.Programs, dir); err != nil {
		return "", err
	}
	l.Seed, l.Gardenlet = l.hosting.Seed, l.hosting.Gardenlet
	return "API server with Gardener's CRDs, kube-controller-manager, gardener-resource-manager", nil
}

// NewShoot prepares a shoot in a place, for which all resources are created.
func (l *Landscape) NewShoot(ctx context.Context, name string, where Place) (*gardenlet.Shoot, error) {
	shoot := openstack.NewShoot(name, where.Cloud, where.Account)
	return shoot, l.Gardenlet.Prepare(ctx, shoot)
}

// folder creates a folder for files of this run.
func (l *Landscape) folder(name string) (string, error) {
	dir := filepath.Join(l.Dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating a folder of this run: %w", err)
	}
	return dir, nil
}

// Stop stops everything and removes its files.
func (l *Landscape) Stop() error {
	failures := []error{l.stopControllers(), l.StopMachines(), l.StopCluster()}
	if l.Place.Cloud != nil {
		failures = append(failures, l.Place.Cloud.Close())
	}
	switch {
	case l.hosting != nil:
		failures = append(failures, l.hosting.Stop())
	case l.Seed != nil:
		failures = append(failures, l.Seed.Stop())
	}
	failures = append(failures, os.RemoveAll(l.Dir))
	return errors.Join(failures...)
}
