// Package clusters starts what shoots need: a cloud, seeds, each with its gardener-resource-manager and a simulated gardenlet, a garden, a shoot's
// cluster, and the shoot's machines. Our controllers may be started in the seeds. Tests, demo and benchmark of any contract and provider use it.
// The package must not depend on a controller, a provider or a test.
package clusters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
	"github.com/trellis-garden/trellis/e2e/internal/shoot"
)

// Options configure Clusters.
type Options struct {
	// Dir is an empty folder for all files. The caller removes it after Close.
	Dir string
	// Cloud starts the cloud of the shoots, which Close closes. Without one, the caller has clouds of its own.
	Cloud func() (cloud.Cloud, error)
	// Account is the name of the account in the cloud; default "shoot".
	Account string
	// Bare seeds are API servers with Gardener's CRDs. Otherwise seeds host control planes, see StartSeed.
	Bare bool
	// HostLater starts seeds without what hosts control planes, and needs no program for that. HostControlPlanes does both.
	HostLater bool
	// Seeds is the number of seeds; default 1. Shoots can be migrated from the first to the second.
	Seeds int
	// Seed are further options of the seeds.
	Seed []seed.Option
	// Garden starts a garden beside the seeds, see garden.Beside. It is stopped after the processes in the seeds.
	Garden func(ctx context.Context, programs, dir string) (stop func() error, err error)
	// Machines provides the programs of StartMachines, Programs are others that the caller needs.
	Machines bool
	Programs []string
	// Step runs each step, e.g. prints it; do writes two lines to progress for each program that must be built first, and returns a description
	// of the result. By default steps run silently.
	Step func(name string, do func(progress io.Writer) (detail string, err error)) error
}

// Clusters are a cloud with an account, and seeds that host no shoots yet.
type Clusters struct {
	// Programs is the folder of other projects' programs.
	Programs string
	// Cloud and Account are nil without Options.Cloud.
	Cloud   cloud.Cloud
	Account cloud.Account
	// Seeds are the seeds; Source is the first, which hosts the shoots. Destination is the second, if any, which does after a call of Host.
	Seeds               []*Seed
	Source, Destination *Seed
	// Cluster is the cluster of StartCluster, Shoot the shoot.
	Cluster *shoot.Cluster
	Shoot   *gardenlet.Shoot

	// Nodes simulates what runs on the shoot's machines, once StartMachines has been called.
	Nodes *nodes.Nodes

	options    Options
	stopGarden func() error // nil without a garden
}

// New starts everything. If something fails, what has been started is stopped.
func New(ctx context.Context, options Options) (*Clusters, error) {
	logf.SetLogger(logr.Discard()) // Gardener's packages say nothing that an error does not say better
	if options.Step == nil {
		options.Step = silently
	}
	c := &Clusters{options: options}
	for _, step := range []struct {
		name string
		do   func(context.Context, io.Writer) (string, error)
	}{{"programs", c.ensurePrograms}, {"cloud", c.startCloud}, {"seed", c.startAPIServers}} {
		if err := options.Step(step.name, func(progress io.Writer) (string, error) { return step.do(ctx, progress) }); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// silently runs a step. Programs that are built are announced, since that takes minutes.
func silently(_ string, do func(progress io.Writer) (string, error)) error {
	_, err := do(os.Stderr)
	return err
}

// ProgramNames lists the programs that Options name.
func (o Options) ProgramNames() []string {
	names := assets.ControlPlane()
	switch {
	case o.Machines:
		names = assets.Machines()
	case o.Bare:
		names = assets.APIServer()
	}
	return append(names, o.Programs...)
}

func (c *Clusters) ensurePrograms(ctx context.Context, progress io.Writer) (string, error) {
	names := c.options.ProgramNames()
	if c.options.HostLater {
		names = assets.APIServer()
	}
	var err error
	if c.Programs, err = assets.Ensure(ctx, progress, names...); err != nil {
		return "", err
	}
	var versions []string
	for _, name := range names {
		version, err := assets.Version(name)
		if err != nil {
			return "", err
		}
		versions = append(versions, name+" "+version)
	}
	return strings.Join(versions, ", "), nil
}

func (c *Clusters) startCloud(ctx context.Context, _ io.Writer) (detail string, err error) {
	if c.options.Cloud == nil {
		return "none", nil
	}
	if c.Cloud, err = c.options.Cloud(); err != nil {
		return "", err
	}
	c.Account, err = c.Cloud.OpenAccount(ctx, cmp.Or(c.options.Account, "shoot"))
	return c.Cloud.Name(), err
}

func (c *Clusters) startAPIServers(ctx context.Context, _ io.Writer) (string, error) {
	all := errgroup.Group{} // all are started even if one fails, so that Close stops them
	c.Seeds = make([]*Seed, max(c.options.Seeds, 1))
	for i := range c.Seeds {
		all.Go(func() error { return c.startSeed(ctx, i) })
	}
	detail := "API server with Gardener's CRDs"
	if !c.options.Bare && !c.options.HostLater {
		detail += ", kube-controller-manager, gardener-resource-manager"
	}
	if c.options.Garden != nil {
		detail += "; gardener-apiserver, gardener-controller-manager"
		all.Go(func() error {
			dir, err := c.Folder("garden")
			if err != nil {
				return err
			}
			c.stopGarden, err = c.options.Garden(ctx, c.Programs, dir)
			return err
		})
	}
	err := all.Wait()
	c.Seeds = slices.DeleteFunc(c.Seeds, func(s *Seed) bool { return s == nil })
	if err != nil {
		return "", err
	}
	c.Source = c.Seeds[0]
	if len(c.Seeds) > 1 {
		c.Destination = c.Seeds[1]
	}
	return detail, nil
}

func (c *Clusters) startSeed(ctx context.Context, i int) error {
	dir, err := c.Folder(fmt.Sprintf("seed-%d", i+1))
	if err != nil {
		return err
	}
	switch {
	case c.options.Bare:
		c.Seeds[i], err = StartBareSeed(ctx, c.Programs, dir, c.options.Seed...)
	case c.options.HostLater:
		c.Seeds[i], err = StartBareSeed(ctx, c.Programs, dir, slices.Concat(c.options.Seed, []seed.Option{seed.WithControlPlaneHostingLater()})...)
	default:
		c.Seeds[i], err = StartSeed(ctx, c.Programs, dir, c.options.Seed...)
	}
	return err
}

// HostControlPlanes lets seeds with Options.HostLater host control planes. All programs of Options.ProgramNames must be there.
func (c *Clusters) HostControlPlanes(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, s := range c.Seeds {
		all.Go(func() error { return s.startHosting(ctx) })
	}
	return all.Wait()
}

// Folder creates a folder for files of the caller.
func (c *Clusters) Folder(name string) (string, error) {
	dir := filepath.Join(c.options.Dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating a folder: %w", err)
	}
	return dir, nil
}

// StartCluster starts a shoot's cluster, hosted by the first seed. There is one such shoot at a time.
func (c *Clusters) StartCluster(ctx context.Context, of *gardenlet.Shoot) error {
	dir, err := c.Folder("cluster")
	if err != nil {
		return err
	}
	if c.Cluster, err = shoot.Start(ctx, c.Programs, dir, c.Source.Etcd()); err != nil {
		return err
	}
	c.Shoot = of
	return c.Source.Host(ctx, of, c.Cluster)
}

// StopCluster kills the shoot's cluster and its gardener-resource-managers, if there is one.
func (c *Clusters) StopCluster() error {
	if c.Cluster == nil {
		return nil
	}
	for _, s := range c.Seeds {
		s.StopShootManager(c.Shoot)
	}
	cluster := c.Cluster
	c.Cluster = nil
	return cluster.Stop()
}

// Close stops everything.
func (c *Clusters) Close() error {
	failures := []error{c.StopMachines()}
	for _, s := range c.Seeds {
		failures = append(failures, s.endProcesses())
	}
	if c.Cluster != nil {
		failures = append(failures, c.Cluster.Stop())
	}
	if c.stopGarden != nil {
		failures = append(failures, c.stopGarden())
	}
	for _, s := range c.Seeds {
		failures = append(failures, s.Seed.Stop())
	}
	if c.Cloud != nil {
		failures = append(failures, c.Cloud.Close())
	}
	return errors.Join(failures...)
}

// Errors returns the errors that the controllers have logged, except those that contain one of the expected texts.
func (c *Clusters) Errors(expected ...string) ([]string, error) {
	var all []string
	for _, s := range c.Seeds {
		for _, path := range s.logs {
			lines, err := controller.Errors(path, expected...)
			if err != nil {
				return nil, err
			}
			all = append(all, lines...)
		}
	}
	return all, nil
}

// Tails returns the last lines that each process has printed.
func (c *Clusters) Tails(lines int) string {
	var all strings.Builder
	for _, s := range c.Seeds {
		for _, path := range s.outputs {
			fmt.Fprintf(&all, "--- %s\n%s\n", path, tail(path, lines))
		}
		if s.Machines != nil {
			all.WriteString(s.Machines.Tails(lines))
		}
	}
	return all.String()
}

func tail(path string, most int) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
