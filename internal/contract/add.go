package contract

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/controllerutils/predicate"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/queue"
)

// Options say which objects a contract's controller reconciles, and how.
type Options struct {
	// Types are the values of spec.type to reconcile, e.g. "openstack". Required: a controller reconciles only the
	// types of its registration.
	Types []string
	// Classes are the extension classes to reconcile; empty means shoot, the only class that is supported: objects of other classes have no Cluster.
	Classes []extensionsv1alpha1.ExtensionClass
	// MaxConcurrentReconciles is how many objects are reconciled at the same time; 0 means 5.
	MaxConcurrentReconciles int
	// IgnoreOperationAnnotation also reacts to changes of the spec. For development only.
	IgnoreOperationAnnotation bool
	// Retry is the backoff after failures.
	Retry Retry
	// Registerer takes the contract's metrics; nil means none.
	Registerer prometheus.Registerer
	// Tracker is told what the controller does; nil for nobody.
	Tracker *Tracker
	// Clock is the real one when nil.
	Clock clock.WithTicker
	// HealthInterval is the shortest time between two checks of AddHealth's controller; 0 means half a minute.
	HealthInterval time.Duration
}

// Add adds the contract's controller to a manager. The manager's client must not cache Secrets and Clusters.
func Add[O Object](mgr manager.Manager, c Contract[O], options Options) error {
	if len(options.Types) == 0 {
		return errors.New("no types were given")
	}
	for _, class := range options.Classes {
		if class != extensionsv1alpha1.ExtensionClassShoot {
			return fmt.Errorf("extension class %q cannot be served, objects of contract %s belong to shoots: use the class %q only",
				class, c.Name, extensionsv1alpha1.ExtensionClassShoot)
		}
	}
	options = options.withDefaults()
	metrics, err := newMetrics(options.Registerer, c.Name)
	if err != nil {
		return fmt.Errorf("registering metrics of contract %s: %w", c.Name, err)
	}
	tracker := options.Tracker.add(c.Name, options.Clock)
	kind, err := apiutil.GVKForObject(c.New(), mgr.GetScheme())
	if err != nil {
		return fmt.Errorf("finding the kind of contract %s: %w", c.Name, err)
	}
	r := &reconciler[O]{
		contract:    c,
		kind:        kind,
		options:     options,
		client:      mgr.GetClient(),
		reader:      mgr.GetAPIReader(),
		events:      mgr.GetEventRecorder(c.Name + "-controller"),
		metrics:     metrics,
		rateLimiter: newRateLimiter(options.Retry, tracker.retryIn),
		tracker:     tracker,
	}
	claimed := predicate.AddTypeAndClassPredicates(nil, options.Classes, options.Types...)
	claimed = append(claimed, operationPredicate(c, options.IgnoreOperationAnnotation))
	err = builder.ControllerManagedBy(mgr).
		Named(c.Name).
		For(c.New(), builder.WithPredicates(claimed...)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.MaxConcurrentReconciles,
			RateLimiter:             r.rateLimiter,
			NewQueue:                queue.Observed(tracker.setQueue),
		}).
		Complete(truncateErrors(r))
	if err != nil {
		return fmt.Errorf("adding the controller of contract %s: %w", c.Name, err)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.MaxConcurrentReconciles == 0 {
		o.MaxConcurrentReconciles = 5
	}
	o.Retry = o.Retry.withDefaults()
	o.HealthInterval = cmp.Or(o.HealthInterval, defaultHealthInterval)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o
}
