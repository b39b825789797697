package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"golang.org/x/sync/errgroup"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

const (
	// shootsPerAccount is how many shoots share an account of the cloud, as those of a project do.
	shootsPerAccount = 50
	// preparing is how many shoots are prepared at the same time.
	preparing = 16
)

// Options configure a Fleet.
type Options struct {
	// Shoots is the number of shoots.
	Shoots int
	// Cloud starts the cloud of the shoots.
	Cloud func() (cloud.Cloud, error)
	// Workers are the pools of each shoot.
	Workers []gardencorev1beta1.Worker
	// Replicas is how many processes of each controller run; default one. Several elect a leader.
	Replicas int
	// Concurrency is the number of concurrent reconciliations of a controller; 0 is its default.
	Concurrency int
	// Profiles makes each process serve its profiles.
	Profiles bool
}

// Fleet is a seed with controllers and shoots.
type Fleet struct {
	// Cloud is the cloud of the shoots, Accounts those of its accounts that have shoots, Seed their seed.
	Cloud    cloud.Cloud
	Accounts []cloud.Account
	Seed     *clusters.Seed
	// Shoots are the shoots, which exist in the seed after Create.
	Shoots []*Shoot
	// Controllers are the controllers of the four contracts, and secondaries that were added. None runs before StartControllers.
	Controllers []*Controller

	options    Options
	dir        string
	clusters   *clusters.Clusters
	simulation *simulation
	log        *audit.Cursor
}

// New starts a seed and a cloud with prepared shoots, and builds the controllers. If something fails, what has been started is stopped.
func New(ctx context.Context, options Options, progress io.Writer) (*Fleet, error) {
	dir, err := os.MkdirTemp("", "trellis-")
	if err != nil {
		return nil, fmt.Errorf("creating a folder for this run: %w", err)
	}
	f := &Fleet{options: options, dir: dir, Controllers: controllers(max(options.Replicas, 1))}
	if err := f.start(ctx, progress); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Fleet) start(ctx context.Context, progress io.Writer) error {
	for _, c := range f.Controllers {
		if err := c.build(ctx); err != nil {
			return err
		}
	}
	var err error
	f.clusters, err = clusters.New(ctx, clusters.Options{
		Dir: f.dir, Cloud: f.options.Cloud, Account: accountName(0), Bare: true,
		Seed: []seed.Option{seed.WithControlPlaneKinds(), seed.WithAuditOfMetadata(), seed.WithRestarts()},
		Step: func(_ string, do func(io.Writer) (string, error)) error {
			_, err := do(progress)
			return err
		},
	})
	if err != nil {
		return err
	}
	f.Cloud, f.Seed, f.Accounts = f.clusters.Cloud, f.clusters.Source, []cloud.Account{f.clusters.Account}
	f.log = f.Seed.AuditLog().Cursor()
	if f.simulation, err = startSimulation(ctx, f.Seed.Config); err != nil {
		return err
	}
	return f.addShoots(ctx)
}

func accountName(i int) string { return fmt.Sprintf("project-%d", i) }

// addShoots describes the shoots, each in turn in an account.
func (f *Fleet) addShoots(ctx context.Context) error {
	for i := range f.options.Shoots {
		if i/shootsPerAccount >= len(f.Accounts) {
			account, err := f.Cloud.OpenAccount(ctx, accountName(len(f.Accounts)))
			if err != nil {
				return fmt.Errorf("opening an account for %d shoots: %w", shootsPerAccount, err)
			}
			f.Accounts = append(f.Accounts, account)
		}
		account, err := cloud.WithMachines(f.Accounts[i/shootsPerAccount])
		if err != nil {
			return err
		}
		shoot := account.NewShoot(fmt.Sprintf("s%d", i))
		account.OfferMachines(shoot)
		shoot.Workers = f.options.Workers
		f.Shoots = append(f.Shoots, newShoot(shoot, f.Seed, f.simulation.objects))
	}
	return nil
}

// Close stops everything, and removes all files.
func (f *Fleet) Close() error {
	var failures []error
	if f.simulation != nil {
		failures = append(failures, f.simulation.stop())
	}
	if f.clusters != nil {
		failures = append(failures, f.clusters.Close())
	}
	return errors.Join(append(failures, os.RemoveAll(f.dir))...)
}

// Prepare creates what gardenlet creates for each shoot before its extension objects.
func (f *Fleet) Prepare(ctx context.Context) error {
	return f.each(ctx, preparing, (*Shoot).prepare)
}

// Create creates the extension objects of all shoots at once as gardenlet does, that of the infrastructure before all others, and waits until they
// are healthy.
func (f *Fleet) Create(ctx context.Context) error { return f.each(ctx, -1, (*Shoot).Create) }

// Reconcile requests a reconciliation of all extension objects at once, and waits for them.
func (f *Fleet) Reconcile(ctx context.Context) error { return f.each(ctx, -1, (*Shoot).Reconcile) }

// Delete deletes all extension objects at once as gardenlet does, those of the infrastructures last, and waits until they are gone. What the
// controllers have left in a namespace of the seed is an error.
func (f *Fleet) Delete(ctx context.Context) error { return f.each(ctx, -1, (*Shoot).Delete) }

// Converged returns how many shoots have extension objects that are all healthy, and of one that is not, the reason.
func (f *Fleet) Converged(ctx context.Context) (converged int, reason string) {
	for _, shoot := range f.Shoots {
		if err := shoot.check(ctx); err != nil {
			reason = err.Error()
			continue
		}
		converged++
	}
	return converged, reason
}

// AwaitConverged waits until all shoots have extension objects that are all healthy, without any request.
func (f *Fleet) AwaitConverged(ctx context.Context) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		converged, reason := f.Converged(ctx)
		if converged == len(f.Shoots) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %d shoots, of which %d are healthy: %w; %s", len(f.Shoots), converged, context.Cause(ctx), reason)
		case <-tick.C:
		}
	}
}

// each calls a function for each shoot, for as many at the same time as limit, and returns all errors.
func (f *Fleet) each(ctx context.Context, limit int, do func(*Shoot, context.Context) error) error {
	failures := make([]error, len(f.Shoots))
	var all errgroup.Group
	all.SetLimit(limit)
	for i, shoot := range f.Shoots {
		all.Go(func() error {
			failures[i] = do(shoot, ctx)
			return nil
		})
	}
	_ = all.Wait()
	return errors.Join(failures...)
}

// Sleep waits, or fails when the context ends.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
