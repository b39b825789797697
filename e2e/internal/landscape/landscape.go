// Package landscape brings up everything around our controllers for programs that show something: a seed, an OpenStack
// stand-in, the controllers' processes, and gardenlet; on demand also the cluster of a shoot, and its machines. Each step is told on a screen.
// Tests stand on packages rig and ground.
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

// stopTimeout bounds how long the controllers have to end.
const stopTimeout = 30 * time.Second

// Options say what is brought up.
type Options struct {
	// Latency is how long every call to the cloud takes.
	Latency time.Duration
	// Clusters adds the controllers of contracts that act in shoots' clusters, and a seed that hosts those.
	Clusters bool
	// Machines adds the worker-controller and the machine controller, and such a seed as well.
	Machines bool
}

// host tells whether there are clusters of shoots.
func (o Options) host() bool { return o.Clusters || o.Machines }

// Landscape is what has been brought up.
type Landscape struct {
	Seed      *seed.Seed
	Place     Place
	Gardenlet *gardenlet.Gardenlet
	// Infrastructure, ControlPlane, Network and Worker are our controllers. Without clusters there is no ControlPlane and no Network,
	// without machines no Worker.
	Infrastructure, ControlPlane, Network, Worker *Controller
	// MachineController is the path of the machine controller. It runs once StartMachines was called.
	MachineController string
	// Machines are the processes of machine-controller-manager and of the machine controller.
	Machines *mcm.Pods
	// Cluster is that of the shoot that StartCluster was called for.
	Cluster *shoot.Cluster
	// Programs is the folder of the programs that are not ours, Dir the one of this run. It is removed at the end.
	Programs, Dir string

	options Options
	screen  *terminal.Screen
	hosting *clusters.Seed // nothing without clusters
	hosted  *gardenlet.Shoot
	nodes   *nodes.Nodes
}

// Place is where shoots live: an account in a cloud.
type Place struct {
	Cloud   *openstack.Cloud
	Account *openstack.Account
}

// accountName is free in a new cloud.
const accountName = "trellis"

// Start brings everything up. What has been started is stopped again when something fails.
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

// step is something that is told on the screen: it writes lines to progress, and returns a line at the end.
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
	return fmt.Sprintf("OpenStack stand-in at %s, %d ms per call", l.Place.Cloud.AuthURL(), l.options.Latency.Milliseconds()), nil
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

// NewShoot prepares a shoot that has everything made for it in a place.
func (l *Landscape) NewShoot(ctx context.Context, name string, where Place) (*gardenlet.Shoot, error) {
	shoot := openstack.NewShoot(name, where.Cloud, where.Account)
	return shoot, l.Gardenlet.Prepare(ctx, shoot)
}

// folder makes a new folder for files of this run.
func (l *Landscape) folder(name string) (string, error) {
	dir := filepath.Join(l.Dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating a folder of this run: %w", err)
	}
	return dir, nil
}

// Stop ends everything and removes its files.
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
