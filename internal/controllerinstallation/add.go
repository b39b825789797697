package controllerinstallation

import (
	"context"
	"fmt"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/chart"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rendering"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
)

const (
	// reconcileTimeout bounds one look at an installation, whatever hangs.
	reconcileTimeout = 2 * time.Minute
	// renderTimeout is how much of it a chart may take to be rendered, with the time in which it waits for others.
	renderTimeout = reconcileTimeout * 3 / 4
	// pullTimeout bounds what a registry may take of it.
	pullTimeout = 30 * time.Second
	// gardenTimeout bounds how long the garden may be away when the process starts, before that ends. To start again would help nobody.
	gardenTimeout = 30 * 24 * time.Hour
	// initialBackoff and maxBackoff are how long the work on an object rests after errors in a row.
	initialBackoff, maxBackoff = time.Second, time.Minute
	// eventBufferSize bounds how many installations may be waiting to hear of their deployment before the one who tells waits too.
	eventBufferSize = 1024
)

// Garden is the garden as the operator reaches it.
type Garden struct {
	// Config is how. Client reads from the API server, never from a cache.
	Config *rest.Config
	Client client.Client
}

// Add adds the operator to a manager. access leads into the seeds that it serves. The program must begin with rendering.RunIfChild.
func Add(mgr manager.Manager, garden Garden, access seeds.Access, options Options) error {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	metrics, err := newMetrics(options.Registerer)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	renderer, err := rendering.New(rendering.Limits{})
	if err != nil {
		return err
	}
	gardenCluster, err := newGardenCluster(garden.Config, mgr, options)
	if err != nil {
		return err
	}
	if err := mgr.Add(gardenCluster); err != nil {
		return fmt.Errorf("adding what watches the garden: %w", err)
	}
	charts := charts{puller: &chart.Puller{Timeout: pullTimeout}, secrets: garden.Client, namespace: v1beta1constants.GardenNamespace}
	reconciler := &installations{
		Options: options, garden: garden.Client, access: access, metrics: metrics, identity: newIdentity(garden.Client), observations: newObservations(),
		seedLimiter: newSeedLimiter(options.MaxConcurrentReconciles), renderer: renderer,
		events: gardenCluster.GetEventRecorder("controllerinstallation-controller"),
	}
	if options.inSeed() {
		charts.namespace = gardenNamespacePrefix + options.SeedName
		reconciler.assigner = newLatestAssigner(garden.Client, charts)
		reconciler.notifyDeployment = func(context.Context, string) {}
		return addInstallations(mgr, gardenCluster, reconciler, nil)
	}
	installationEvents, deploymentEvents := make(chan event.GenericEvent, eventBufferSize), make(chan event.GenericEvent, eventBufferSize)
	rolloutReconciler := &rollouts{
		Options: options, garden: garden.Client, cached: gardenCluster.GetCache(), charts: charts, metrics: metrics, events: reconciler.events,
		store: revision.Store{Client: garden.Client}, states: newStateStore(),
		observations: reconciler.observations,
		notifyInstallation: func(ctx context.Context, installation string) {
			enqueue(ctx, installationEvents, objectWithName(installation))
		},
	}
	reconciler.notifyDeployment = func(ctx context.Context, deployment string) {
		enqueue(ctx, deploymentEvents, objectWithName(deployment))
	}
	reconciler.assigner = newRolloutAssigner(rolloutReconciler.states, rolloutReconciler.store)
	if err := addRollouts(mgr, gardenCluster, rolloutReconciler, deploymentEvents); err != nil {
		return err
	}
	return addInstallations(mgr, gardenCluster, reconciler, installationEvents)
}

// enqueue asks the other controller to look at an object.
func enqueue(ctx context.Context, to chan<- event.GenericEvent, object client.Object) {
	select {
	case to <- event.GenericEvent{Object: object}:
	case <-ctx.Done():
	}
}

// objectWithName stands for an object without a namespace of which only the name matters.
func objectWithName(name string) client.Object {
	object := &metav1.PartialObjectMetadata{}
	object.Name = name
	return object
}

func addInstallations(mgr manager.Manager, garden cluster.Cluster, r *installations, installationEvents <-chan event.GenericEvent) error {
	controllerBuilder := builder.ControllerManagedBy(mgr).
		Named("controllerinstallation").
		WithOptions(controllerOptions(r.MaxConcurrentReconciles)).
		WatchesRawSource(source.Kind(garden.GetCache(), &gardencorev1beta1.ControllerInstallation{},
			&handler.TypedEnqueueRequestForObject[*gardencorev1beta1.ControllerInstallation]{}, installationPredicate()))
	if installationEvents != nil {
		controllerBuilder = controllerBuilder.WatchesRawSource(source.Channel(installationEvents, &handler.EnqueueRequestForObject{}))
	}
	if err := controllerBuilder.Complete(r); err != nil {
		return fmt.Errorf("adding the controller of installations: %w", err)
	}
	return nil
}

func addRollouts(mgr manager.Manager, garden cluster.Cluster, r *rollouts, deploymentEvents <-chan event.GenericEvent) error {
	err := builder.ControllerManagedBy(mgr).
		Named("controllerdeployment").
		WithOptions(controllerOptions(r.MaxConcurrentReconciles)).
		WatchesRawSource(source.Kind(garden.GetCache(), &gardencorev1.ControllerDeployment{},
			&handler.TypedEnqueueRequestForObject[*gardencorev1.ControllerDeployment]{})).
		WatchesRawSource(source.Kind(garden.GetCache(), &gardencorev1beta1.ControllerInstallation{},
			handler.TypedEnqueueRequestsFromMapFunc(deploymentOf), rolloutPredicate())).
		WatchesRawSource(source.Kind(garden.GetCache(), &gardencorev1beta1.Seed{},
			handler.TypedEnqueueRequestsFromMapFunc(r.allDeploymentRequests), labelsChanged())).
		WatchesRawSource(source.Channel(deploymentEvents, &handler.EnqueueRequestForObject{})).
		Complete(r)
	if err != nil {
		return fmt.Errorf("adding the controller of rollouts: %w", err)
	}
	return nil
}

func controllerOptions(concurrent int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: concurrent,
		ReconciliationTimeout:   reconcileTimeout,
		CacheSyncTimeout:        gardenTimeout,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](initialBackoff, maxBackoff),
	}
}

// allDeploymentRequests asks for all deployments of ours: a seed may belong to another wave now.
func (r *rollouts) allDeploymentRequests(context.Context, *gardencorev1beta1.Seed) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range r.states.ours() {
		requests = append(requests, request(name))
	}
	return requests
}
