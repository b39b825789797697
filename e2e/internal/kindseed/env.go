package kindseed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/example"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/kindcluster"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// SeedName is the name of the Seed in the garden.
const SeedName = "kind"

// Options configure an Env.
type Options struct {
	// Dir is an existing, empty folder for all files. The caller removes it after Stop.
	Dir string
	// NodeImage is a node image in kind's format, see package kindcluster.
	NodeImage string
	// Cluster is the name of the kind cluster; default trellis.
	Cluster string
	// Nodes is the number of nodes; default 1.
	Nodes int
	// Versions are those of our binaries for which images are built at the start. Build adds others.
	Versions []string
	// Progress gets a line for each completed step; nil discards them.
	Progress io.Writer
}

// Env is a running seed, with its garden and the cloud of its shoots.
type Env struct {
	*kindcluster.Cluster
	// Client is an administrator's client for the seed and does not cache.
	Client client.Client
	// Garden is where controllers are registered, and Gardenlet simulates gardenlet's flow of shoots.
	Garden    *garden.Garden
	Gardenlet *gardenlet.Gardenlet
	// Cloud is the fake OpenStack in its pod; Dials inject its faults.
	Cloud  *openstack.Cloud
	Remote *openstack.Remote
	// Example is the fake of the example cloud in the same pod.
	Example *example.Cloud
	// Programs is the folder of other projects' programs, Gateway the address at which pods reach processes of this machine.
	Programs, Gateway string

	options  Options
	binaries *binaries
	packed   []string // archives of what is not ours
	policies *policies
	etcd     *envtest.Etcd
	lock     sync.Mutex
	shoots   []*Shoot
	started  int
}

// Start starts everything except our controllers, which Install installs, and shoots. If it fails, all is stopped.
func Start(ctx context.Context, options Options) (*Env, error) {
	logf.SetLogger(logr.Discard()) // Gardener's packages say nothing that an error does not say better
	if options.Progress == nil {
		options.Progress = io.Discard
	}
	if options.Cluster == "" {
		options.Cluster = "trellis"
	}
	env := &Env{options: options}
	for _, phase := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"cluster; beside it binaries, images, garden", env.begin},
		{"images of what is not ours", env.loadDependencies},
		{"kinds and priority classes", env.define},
		{"gardener-resource-manager; beside it images of ours", env.startDependencies},
		{"cloud", env.startCloud},
	} {
		if err := env.phase(ctx, phase.name, phase.do); err != nil {
			return nil, errors.Join(err, env.Stop())
		}
	}
	return env, nil
}

// phase runs a function and prints how long it took.
func (env *Env) phase(ctx context.Context, name string, do func(context.Context) error) error {
	start := time.Now()
	if err := do(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, _ = fmt.Fprintf(env.options.Progress, "%6.1f s  %s\n", time.Since(start).Seconds(), name)
	return nil
}

// begin creates the cluster, which mostly waits, and meanwhile builds what needs no cluster.
func (env *Env) begin(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return env.createCluster(ctx) })
	all.Go(func() error {
		for _, do := range []func(context.Context) error{env.ensurePrograms, env.startGarden, env.packDependencies, env.packVersions} {
			if err := do(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	return all.Wait()
}

// startDependencies starts what must run before our controllers, while their images are loaded.
func (env *Env) startDependencies(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return env.loadVersions(ctx) })
	all.Go(func() error {
		if err := env.deployResourceManager(ctx); err != nil {
			return err
		}
		return env.startPolicies(ctx)
	})
	return all.Wait()
}

func (env *Env) ensurePrograms(ctx context.Context) (err error) {
	if env.Programs, err = assets.Ensure(ctx, env.options.Progress, assets.Machines()...); err != nil {
		return err
	}
	env.binaries, err = newBinaries()
	return err
}

func (env *Env) createCluster(ctx context.Context) error {
	dir, err := env.folder("cluster")
	if err != nil {
		return err
	}
	if env.Cluster, err = kindcluster.Start(ctx, kindcluster.Options{
		Name: env.options.Cluster, Image: env.options.NodeImage, Dir: dir, Nodes: env.options.Nodes, Progress: env.options.Progress,
	}); err != nil {
		return err
	}
	if env.Gateway, err = env.Cluster.Gateway(ctx); err != nil {
		return err
	}
	if env.Client, err = client.New(env.Config, client.Options{Scheme: kubernetes.SeedScheme}); err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	env.Gardenlet = gardenlet.New(env.Client)
	env.Gardenlet.APIServer = env.forwardAPIServer
	return nil
}

// Audit is the audit log of the seed's API server.
func (env *Env) Audit() audit.Log { return audit.Log(env.AuditLog()) }

// Stop stops everything that still runs, shoots first.
func (env *Env) Stop() error {
	var failures []error
	for _, shoot := range env.hosted() {
		failures = append(failures, shoot.end())
	}
	if env.Garden != nil {
		failures = append(failures, env.Garden.Stop())
	}
	if env.policies != nil {
		failures = append(failures, env.policies.stop())
	}
	if env.etcd != nil {
		failures = append(failures, env.etcd.Stop())
	}
	if env.Cluster != nil {
		failures = append(failures, env.Cluster.Delete())
	}
	return errors.Join(failures...)
}

// folder creates a folder for files.
func (env *Env) folder(name string) (string, error) {
	dir := filepath.Join(env.options.Dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating a folder of the world: %w", err)
	}
	return dir, nil
}
