// Package clusters starts what tests and demos of control planes need: a shoot's cluster, a cloud, and one or two seeds that can host the
// shoot's control plane, each with its gardener-resource-managers and a simulated gardenlet. Controllers may be started in the seeds. The
// package must not depend on a controller or test.
package clusters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
	"github.com/trellis-garden/trellis/e2e/internal/shoot"
)

// Options configure Clusters.
type Options struct {
	// Dir is an empty folder for all files. The caller removes it after Close.
	Dir string
	// Progress gets two lines for each program that must be built first.
	Progress io.Writer
	// Destination adds a second seed, to which the shoot can be migrated.
	Destination bool
	// Seed are further options of the seeds, see StartSeed.
	Seed []seed.Option
}

// Clusters is a shoot without a ControlPlane, with a cloud of its own, hosted by the first seed.
type Clusters struct {
	// Programs is the folder of other projects' programs.
	Programs string
	Cloud    *openstack.Cloud
	Account  *openstack.Account
	// Source hosts the shoot; Destination does after a call of Host, and is nil unless Options.Destination is set.
	Source, Destination *Seed
	// Cluster is the shoot's cluster, Shoot its Gardener objects.
	Cluster *shoot.Cluster
	Shoot   *gardenlet.Shoot
}

// New starts everything. If something fails, what has been started is stopped.
func New(ctx context.Context, options Options) (*Clusters, error) {
	logf.SetLogger(logr.Discard()) // Gardener's packages say nothing that an error does not say better
	programs, err := assets.Ensure(ctx, options.Progress, assets.ControlPlane()...)
	if err != nil {
		return nil, err
	}
	c := &Clusters{Programs: programs}
	for _, step := range []func(context.Context, Options) error{c.startCloud, c.startSeeds, c.startCluster} {
		if err := step(ctx, options); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

func (c *Clusters) startCloud(ctx context.Context, _ Options) (err error) {
	if c.Cloud, err = openstack.NewFake(); err != nil {
		return err
	}
	if c.Account, err = c.Cloud.NewAccount(ctx, "shoot"); err != nil {
		return err
	}
	c.Shoot = openstack.NewShoot("one", c.Cloud, c.Account)
	return nil
}

func (c *Clusters) startSeeds(ctx context.Context, options Options) error {
	all, ctx := errgroup.WithContext(ctx)
	start := func(name string, started **Seed) {
		all.Go(func() (err error) {
			dir := filepath.Join(options.Dir, name)
			if err := os.Mkdir(dir, 0o700); err != nil {
				return fmt.Errorf("creating the folder of a seed: %w", err)
			}
			*started, err = StartSeed(ctx, c.Programs, dir, options.Seed...)
			return err
		})
	}
	start("source", &c.Source)
	if options.Destination {
		start("destination", &c.Destination)
	}
	return all.Wait()
}

func (c *Clusters) startCluster(ctx context.Context, options Options) (err error) {
	dir := filepath.Join(options.Dir, "cluster")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("creating the folder of the shoot: %w", err)
	}
	if c.Cluster, err = shoot.Start(ctx, c.Programs, dir, c.Source.Etcd()); err != nil {
		return err
	}
	return c.Source.Host(ctx, c.Shoot, c.Cluster)
}

// Seeds are the API servers of the seeds.
func (c *Clusters) Seeds() []*seed.Seed {
	var all []*seed.Seed
	for _, s := range []*Seed{c.Source, c.Destination} {
		if s != nil {
			all = append(all, s.Seed)
		}
	}
	return all
}

// Close stops everything.
func (c *Clusters) Close() error {
	var failures []error
	for _, seed := range []*Seed{c.Source, c.Destination} {
		if seed != nil {
			failures = append(failures, seed.endProcesses())
		}
	}
	if c.Cluster != nil {
		failures = append(failures, c.Cluster.Stop())
	}
	for _, seed := range []*Seed{c.Source, c.Destination} {
		if seed != nil {
			failures = append(failures, seed.Seed.Stop())
		}
	}
	if c.Cloud != nil {
		failures = append(failures, c.Cloud.Close())
	}
	return errors.Join(failures...)
}

// Errors returns the errors that the controllers have logged, except those that contain one of the expected texts.
func (c *Clusters) Errors(expected ...string) ([]string, error) {
	var all []string
	for _, seed := range []*Seed{c.Source, c.Destination} {
		if seed == nil {
			continue
		}
		for _, path := range seed.logs {
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
	for _, seed := range []*Seed{c.Source, c.Destination} {
		if seed == nil {
			continue
		}
		for _, path := range seed.outputs {
			fmt.Fprintf(&all, "--- %s\n%s\n", path, tail(path, lines))
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
