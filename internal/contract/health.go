package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllerutils/predicate"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// defaultHealthInterval is the pace of Gardener's own library.
const defaultHealthInterval = 30 * time.Second

// Health declares which conditions are kept on the objects of one contract, and how to find out about them. All fields but
// the last are required.
//
// gardenlet makes conditions of the Shoot of the types ControlPlaneHealthy, SystemComponentsHealthy, EveryNodeReady and
// ObservabilityComponentsHealthy. Others stay where they are.
type Health[O Object] struct {
	// Name is the kind in lower case, as in the Contract.
	Name string
	// New returns an empty object.
	New func() O
	// Types are the condition types that are kept. A condition type has one writer: nobody else keeps any of these.
	Types []gardencorev1beta1.ConditionType
	// Check finds out.
	Check Check[O]
	// Retired are condition types that earlier versions kept. They are removed, or they would stand there for ever.
	Retired []gardencorev1beta1.ConditionType
}

// Check finds out how an object's world is and returns a finding for each of the Health's Types.
//
// It is called for different objects at the same time and keeps nothing from one call to the next. It is called for every
// object in every interval: it reads little, and never the Cluster, which is large.
//
// An error says that it could not find out: it counts for each type without a finding, while what was found still counts
// for its own type. Errors that carry a kind (package cloud) bring their code into the condition.
type Check[O Object] func(ctx context.Context, input CheckInput[O]) (Findings, error)

// CheckInput is one look at one object.
type CheckInput[O Object] struct {
	// Object is this look's own copy.
	Object O
	// Reader reads from the API server, never from a cache.
	Reader client.Reader
	// Now is the time of the look.
	Now time.Time
}

// Findings are what a look has found, by condition type.
type Findings map[gardencorev1beta1.ConditionType]Finding

// Finding is what a look has found about one condition type. The zero value is bad news.
type Finding struct {
	// Healthy makes the condition True.
	Healthy bool
	// Message is a sentence for users, shown as it is. It should not change while nothing else does (no durations, no
	// counters): every change is a write. Empty stands for a general sentence.
	Message string
	// Codes are for what is not healthy. They come from typed signals, never from a pattern over a text.
	Codes []gardencorev1beta1.ErrorCode
	// Grace is how long a condition that was True stays Progressing before it becomes False. Zero means not at all.
	Grace time.Duration
}

// AddHealth adds a second controller for a contract's objects: it looks at each of them every options.HealthInterval and
// keeps their conditions, of which the contract's own controller writes none. It writes nothing when nothing has changed.
// Objects that are being deleted or moved, and those that have never been brought into being, are left alone.
func AddHealth[O Object](mgr manager.Manager, health Health[O], options Options) error {
	if len(options.Types) == 0 {
		return errors.New("no types to claim were given")
	}
	for _, retired := range health.Retired {
		if slices.Contains(health.Types, retired) {
			return fmt.Errorf("condition type %s of contract %s cannot be kept and retired", retired, health.Name)
		}
	}
	options = options.withDefaults()
	l := &healthChecker[O]{
		health:   health,
		clock:    options.Clock,
		interval: options.HealthInterval,
		objects:  mgr.GetCache(),
		reader:   mgr.GetAPIReader(),
		client:   mgr.GetClient(),
	}
	claimed := predicate.AddTypeAndClassPredicates(nil, options.Classes, options.Types...)
	err := builder.ControllerManagedBy(mgr).
		Named(health.Name+"-health").
		Watches(health.New(), l.eventHandler(), builder.WithPredicates(claimed...)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.MaxConcurrentReconciles,
			// After failures it goes on at its usual pace: once the API server is back, news must not wait for minutes.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
				min(time.Second, l.interval), l.interval),
		}).
		Complete(truncateErrors(l))
	if err != nil {
		return fmt.Errorf("adding the health controller of contract %s: %w", health.Name, err)
	}
	return nil
}
