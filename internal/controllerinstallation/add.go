package controllerinstallation

import (
	"fmt"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/chart"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/installationcontroller"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/registered"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rolloutcontroller"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
	"github.com/trellis-garden/trellis/internal/queue"
)

const (
	// reconcileTimeout bounds one reconciliation, whatever does not answer.
	reconcileTimeout = 2 * time.Minute
	// pullTimeout bounds what a registry may take of it.
	pullTimeout = 30 * time.Second
	// gardenTimeout bounds how long the process waits for the garden when it starts. A restart would not help.
	gardenTimeout = 30 * 24 * time.Hour
	// initialBackoff and maxBackoff are the shortest and the longest time between retries.
	initialBackoff, maxBackoff = time.Second, time.Minute
)

// Garden is how the operator reaches the garden.
type Garden struct {
	Config *rest.Config
	// Client reads from the API server, never from a cache.
	Client client.Client
}

// Add adds the operator to a manager. access connects to the seeds that it serves. The program must begin with rendering.RunIfChild.
func Add(mgr manager.Manager, garden Garden, access seeds.Access, options Options) error {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	gardenCluster, err := newGardenCluster(garden.Config, mgr, options)
	if err != nil {
		return err
	}
	if err := mgr.Add(gardenCluster); err != nil {
		return fmt.Errorf("adding the cache of the garden: %w", err)
	}
	charts := registered.Charts{Puller: &chart.Puller{Timeout: pullTimeout}, Secrets: garden.Client, Namespace: v1beta1constants.GardenNamespace}
	if options.inSeed() {
		charts.Namespace = workload.GardenNamespace(options.SeedName)
	}
	store, events := state.New(), gardenCluster.GetEventRecorder("controllerinstallation-controller")
	if !options.inSeed() {
		err := rolloutcontroller.Add(mgr, rolloutcontroller.Options{
			SeedSelector: options.SeedSelector, SyncPeriod: options.SyncPeriod,
			Client: garden.Client, Cache: gardenCluster.GetCache(), Events: events, Charts: charts, State: store,
			Controller: controllerOptions(options.MaxConcurrentReconciles), Registerer: options.Registerer, Clock: options.Clock,
		})
		if err != nil {
			return err
		}
	}
	return installationcontroller.Add(mgr, installationcontroller.Options{
		SeedName: options.SeedName, SeedSelector: options.SeedSelector, SyncPeriod: options.SyncPeriod, Garden: options.Garden,
		Client: garden.Client, Cache: gardenCluster.GetCache(), Events: events, Access: access, Charts: charts,
		Revisions: revision.Store{Client: garden.Client}, State: store,
		Controller: controllerOptions(options.MaxConcurrentReconciles), Registerer: options.Registerer, Clock: options.Clock,
	})
}

// controllerOptions returns options with a rate limiter of their own, which must not be shared.
func controllerOptions(concurrent int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: concurrent,
		ReconciliationTimeout:   reconcileTimeout,
		CacheSyncTimeout:        gardenTimeout,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](initialBackoff, maxBackoff),
		NewQueue:                queue.New,
	}
}
