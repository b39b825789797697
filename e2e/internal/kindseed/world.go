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

// World is a seed that runs, with the garden that it belongs to and the cloud that its shoots are in.
type World struct {
	*kindcluster.Cluster
	// Client is an administrator's of the seed and does not cache.
	Client client.Client
	// Garden is where controllers are registered, and Gardenlet plays what gardenlet does for shoots.
	Garden    *garden.Garden
	Gardenlet *gardenlet.Gardenlet
	// Cloud is the stand-in in its pod, and Dials what goes wrong with it.
	Cloud *openstack.Cloud
	Dials *openstack.Remote
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
func Start(ctx context.Context, options Options) (*World, error) {
	logf.SetLogger(logr.Discard()) // Gardener's packages say nothing that an error does not say better
	if options.Progress == nil {
		options.Progress = io.Discard
	}
	if options.Cluster == "" {
		options.Cluster = "trellis"
	}
	w := &World{options: options}
	for _, phase := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"cluster; beside it binaries, images, garden", w.begin},
		{"images of what is not ours", w.loadSurroundings},
		{"kinds and priority classes", w.define},
		{"gardener-resource-manager; beside it images of ours", w.fill},
		{"cloud", w.startCloud},
	} {
		if err := w.phase(ctx, phase.name, phase.do); err != nil {
			return nil, errors.Join(err, w.Stop())
		}
	}
	return w, nil
}

// phase does something and tells how long it took.
func (w *World) phase(ctx context.Context, name string, do func(context.Context) error) error {
	start := time.Now()
	if err := do(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, _ = fmt.Fprintf(w.options.Progress, "%6.1f s  %s\n", time.Since(start).Seconds(), name)
	return nil
}

// begin creates the cluster, which waits more than it works. What takes no cluster is done meanwhile.
func (w *World) begin(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return w.createCluster(ctx) })
	all.Go(func() error {
		for _, do := range []func(context.Context) error{w.ensurePrograms, w.startGarden, w.packSurroundings, w.packVersions} {
			if err := do(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	return all.Wait()
}

// fill runs what must run before anything of ours, while the images of that are loaded.
func (w *World) fill(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return w.loadVersions(ctx) })
	all.Go(func() error {
		if err := w.deployResourceManager(ctx); err != nil {
			return err
		}
		return w.startPolicies(ctx)
	})
	return all.Wait()
}

func (w *World) ensurePrograms(ctx context.Context) (err error) {
	if w.Programs, err = assets.Ensure(ctx, w.options.Progress, assets.Machines()...); err != nil {
		return err
	}
	w.binaries, err = newBinaries()
	return err
}

func (w *World) createCluster(ctx context.Context) error {
	dir, err := w.folder("cluster")
	if err != nil {
		return err
	}
	if w.Cluster, err = kindcluster.Start(ctx, kindcluster.Options{
		Name: w.options.Cluster, Image: w.options.NodeImage, Dir: dir, Nodes: w.options.Nodes, Progress: w.options.Progress,
	}); err != nil {
		return err
	}
	if w.Gateway, err = w.Cluster.Gateway(ctx); err != nil {
		return err
	}
	if w.Client, err = client.New(w.Config, client.Options{Scheme: kubernetes.SeedScheme}); err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	w.Gardenlet = gardenlet.New(w.Client)
	w.Gardenlet.APIServer = w.standInForAPIServer
	return nil
}

// Audit is what the seed's API server has been asked for by pods.
func (w *World) Audit() audit.Log { return audit.Log(w.AuditLog()) }

// Stop ends everything that still runs, shoots first.
func (w *World) Stop() error {
	var failures []error
	for _, shoot := range w.hosted() {
		failures = append(failures, shoot.end())
	}
	if w.Garden != nil {
		failures = append(failures, w.Garden.Stop())
	}
	if w.policies != nil {
		failures = append(failures, w.policies.stop())
	}
	if w.etcd != nil {
		failures = append(failures, w.etcd.Stop())
	}
	if w.Cluster != nil {
		failures = append(failures, w.Cluster.Delete())
	}
	return errors.Join(failures...)
}

// folder makes a new folder for files of this world.
func (w *World) folder(name string) (string, error) {
	dir := filepath.Join(w.options.Dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating a folder of the world: %w", err)
	}
	return dir, nil
}
