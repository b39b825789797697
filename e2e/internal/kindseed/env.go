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
	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/kindcluster"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// SeedName is the name of the Seed in the garden.
const SeedName = "kind"

// Options say what a world is made from.
type Options struct {
	// Dir is an existing, empty folder for everything that is written. The caller removes it after Stop.
	Dir string
	// NodeImage is a node image in kind's form, see package kindcluster.
	NodeImage string
	// Cluster is the name of the kind cluster; trellis unless given.
	Cluster string
	// Nodes is the number of nodes; 1 unless given.
	Nodes int
	// Versions are those of our binaries for which there are images from the beginning. Build makes others.
	Versions []string
	// Progress gets a line for each thing done. Nil is nowhere.
	Progress io.Writer
}

// Env is a seed that runs, with the garden that it belongs to and the cloud that its shoots are in.
type Env struct {
	*kindcluster.Cluster
	// Client is an administrator's of the seed and does not cache.
	Client client.Client
	// Garden is where controllers are registered, and Gardenlet plays what gardenlet does for shoots.
	Garden    *garden.Garden
	Gardenlet *gardenlet.Gardenlet
	// Cloud is the stand-in in its pod, and Dials what goes wrong with it.
	Cloud  *openstack.Cloud
	Remote *openstack.Remote
	// Programs is the folder of the programs that are not ours, Gateway the address at which pods reach processes of this machine.
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

// Start brings a world up: all but our controllers, which Install installs, and shoots. When that fails nothing of it is left.
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

// phase does something and tells how long it took.
func (env *Env) phase(ctx context.Context, name string, do func(context.Context) error) error {
	start := time.Now()
	if err := do(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, _ = fmt.Fprintf(env.options.Progress, "%6.1f s  %s\n", time.Since(start).Seconds(), name)
	return nil
}

// begin creates the cluster, which waits more than it works. What takes no cluster is done meanwhile.
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

// startDependencies runs what must run before anything of ours, while the images of that are loaded.
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

// Audit is what the seed's API server has been asked for by pods.
func (env *Env) Audit() audit.Log { return audit.Log(env.AuditLog()) }

// Stop ends everything that still runs, shoots first.
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

// folder makes a new folder for files of this world.
func (env *Env) folder(name string) (string, error) {
	dir := filepath.Join(env.options.Dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating a folder of the world: %w", err)
	}
	return dir, nil
}
