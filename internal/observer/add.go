package observer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/controllerutils/predicate"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/queue"
)

// DefaultInterval is the time between two observations of an object.
const DefaultInterval = 10 * time.Minute

// settlePause is the time between a success of the primary and the observation that follows, in which others react to it.
const settlePause = 5 * time.Second

// Options say which objects a secondary controller observes, and how.
type Options struct {
	// Types are the values of spec.type to observe. Required.
	Types []string
	// Classes are the extension classes to observe; empty means shoot.
	Classes []extensionsv1alpha1.ExtensionClass
	// Observations are the names of those that are switched on; nil means all.
	Observations []string
	// Interval is the time between two observations of an object; 0 means DefaultInterval.
	Interval time.Duration
	// MaxConcurrentReconciles is how many objects are observed at the same time; 0 means 2: observers have time.
	MaxConcurrentReconciles int
	// Marker is a ConfigMap whose deletion makes the controller remove its conditions, see cleanup.go. Without a name, there is none.
	Marker client.ObjectKey
	// Registerer takes the metrics; nil means none.
	Registerer prometheus.Registerer
	// Clock is the real one when nil.
	Clock clock.PassiveClock
}

func (o Options) withDefaults() Options {
	o.Interval = cmp.Or(o.Interval, DefaultInterval)
	o.MaxConcurrentReconciles = cmp.Or(o.MaxConcurrentReconciles, 2)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o
}

// Add adds the controller that observes the objects of one contract to a manager.
func Add[O contract.Object](mgr manager.Manager, observer Observer[O], options Options) error {
	wanted, err := observer.check(options)
	if err != nil {
		return err
	}
	options = options.withDefaults()
	metrics, err := newMetrics(options.Registerer, observer.Name)
	if err != nil {
		return fmt.Errorf("registering metrics of observer %s: %w", observer.Name, err)
	}
	c := &observerController[O]{
		observer: observer,
		options:  options,
		wanted:   wanted,
		objects:  mgr.GetCache(),
		reader:   mgr.GetAPIReader(),
		client:   mgr.GetClient(),
		events:   mgr.GetEventRecorder(observer.Name + "-observer"),
		metrics:  metrics,
		failures: newFailureCounts(),
	}
	if options.Marker.Name != "" {
		if err := c.addCleanup(mgr); err != nil {
			return fmt.Errorf("adding the cleanup of observer %s: %w", observer.Name, err)
		}
	}
	claimed := predicate.AddTypeAndClassPredicates(nil, options.Classes, options.Types...)
	err = builder.ControllerManagedBy(mgr).
		Named(observer.Name+"-observer").
		Watches(observer.New(), c.eventHandler(), builder.WithPredicates(claimed...)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.MaxConcurrentReconciles,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, options.Interval),
			NewQueue:                queue.New,
		}).
		Complete(c)
	if err != nil {
		return fmt.Errorf("adding observer %s: %w", observer.Name, err)
	}
	return nil
}

// check returns the names of the observations that are switched on.
func (o Observer[O]) check(options Options) (Names, error) {
	if len(options.Types) == 0 {
		return nil, errors.New("no types were given")
	}
	for _, class := range options.Classes {
		if class != extensionsv1alpha1.ExtensionClassShoot {
			return nil, fmt.Errorf("extension class %q cannot be observed, objects of contract %s belong to shoots: use the class %q only",
				class, o.Name, extensionsv1alpha1.ExtensionClassShoot)
		}
	}
	known := Names{}
	for _, observation := range o.Observations {
		if slices.Contains(gardenerConditions(), observation.Condition) {
			return nil, fmt.Errorf("observation %s cannot report condition %s, which is the primary's", observation.Name, observation.Condition)
		}
		known[observation.Name] = true
	}
	if options.Observations == nil {
		return known, nil
	}
	wanted := Names{}
	for _, name := range options.Observations {
		if !known[name] {
			return nil, fmt.Errorf("there is no observation %q of contract %s; there are: %s", name, o.Name, strings.Join(NamesOf(o.Observations), ", "))
		}
		wanted[name] = true
	}
	return wanted, nil
}

// gardenerConditions are the types that gardenlet copies to the shoot (gardener/docs/extensions/resources).
func gardenerConditions() []gardencorev1beta1.ConditionType {
	return []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ShootControlPlaneHealthy, gardencorev1beta1.ShootEveryNodeReady,
		gardencorev1beta1.ShootSystemComponentsHealthy, gardencorev1beta1.ShootObservabilityComponentsHealthy,
	}
}

// eventHandler starts observations of an object when it is first seen, spread over the interval, and soon after the primary has succeeded.
func (c *observerController[O]) eventHandler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			pause := queue.UntilTurn(requestFor(e.Object).String(), c.options.Clock.Now(), c.options.Interval)
			if !e.IsInInitialList {
				pause = min(settlePause, c.options.Interval)
			}
			q.AddAfter(requestFor(e.Object), pause)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if e.ObjectOld.GetUID() != e.ObjectNew.GetUID() || becameObservable(e.ObjectOld, e.ObjectNew) {
				q.AddAfter(requestFor(e.ObjectNew), min(settlePause, c.options.Interval))
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			c.forget(client.ObjectKeyFromObject(e.Object))
		},
	}
}

// becameObservable reports whether the primary has succeeded between two versions of an object, or an operation annotation was removed.
func becameObservable(before, after client.Object) bool {
	oldObject, isOld := before.(contract.Object)
	newObject, isNew := after.(contract.Object)
	if !isOld || !isNew || whyNotObservable(newObject) != "" {
		return false
	}
	return whyNotObservable(oldObject) != "" || !lastSuccess(oldObject).Equal(lastSuccess(newObject))
}

func requestFor(object client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}
}
