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

	"github.com/trellis-garden/trellis/internal/queue"
)

// defaultHealthInterval is that of Gardener's own library.
const defaultHealthInterval = 30 * time.Second

// Health declares which conditions the objects of one contract have, and how to check them. Name, New, Types and Check are required.
//
// gardenlet copies to the Shoot conditions of the types ControlPlaneHealthy, SystemComponentsHealthy, EveryNodeReady and
// ObservabilityComponentsHealthy. Others stay in the object.
type Health[O Object] struct {
	// Name is the kind in lower case, as in the Contract.
	Name string
	// New returns an empty object.
	New func() O
	// Types are the condition types that are written. A condition type has one writer.
	Types []gardencorev1beta1.ConditionType
	// Check evaluates the health.
	Check Check[O]
	// Watches are what the Check reads by CheckInput.Watched. They differ in their kinds or names.
	Watches []Watch
	// Retired are condition types that earlier versions wrote. They are removed: Gardener does not remove them.
	Retired []gardencorev1beta1.ConditionType
}

// Check evaluates the health of an object and returns a finding for each of the Health's Types.
//
// It is called for different objects concurrently and keeps nothing between calls. It is called for every object again and again: an object that is
// healthy should cost no request. It must not read the Cluster, which is large.
//
// An error means that the health is unknown for each type without a finding; findings are still used for their types. Errors that carry a kind (package cloud) bring their code into the condition.
type Check[O Object] func(ctx context.Context, input CheckInput[O]) (Findings, error)

// CheckInput is the input of one check of one object.
type CheckInput[O Object] struct {
	// Object is a copy that belongs to this check. It has what the contract's CacheTransform leaves.
	Object O
	// Watched reads the objects of Health.Watches from memory. They may be a moment old: a change starts another check.
	Watched client.Reader
	// Reader reads from the API server, never from a cache.
	Reader client.Reader
	// Now is the time of the check.
	Now time.Time
}

// Findings are the results of a check, by condition type.
type Findings map[gardencorev1beta1.ConditionType]Finding

// Finding is the result of a check for one condition type. The zero value is unhealthy.
type Finding struct {
	// Healthy makes the condition True.
	Healthy bool
	// Message is a sentence for users, shown as it is. It should not change while nothing else does (no durations, no
	// counters): every change is a write. Empty stands for a general sentence.
	Message string
	// Codes are set if it is not healthy. They come from typed errors, never from a pattern in a text.
	Codes []gardencorev1beta1.ErrorCode
	// Grace is how long a condition that was True stays Progressing before it becomes False. Zero means not at all.
	Grace time.Duration
}

// AddHealth adds a second controller for a contract's objects: it checks each of them after changes of the objects of Health.Watches, and again and
// again. The time between two checks is as long as the conditions are unchanged, from one to ten times options.HealthInterval. It writes the
// conditions, of which the contract's own controller writes none, and nothing if nothing has changed.
// Objects that are being deleted or migrated, and those that were never reconciled, are skipped.
func AddHealth[O Object](mgr manager.Manager, health Health[O], options Options) error {
	if len(options.Types) == 0 {
		return errors.New("no types were given")
	}
	for _, retired := range health.Retired {
		if slices.Contains(health.Types, retired) {
			return fmt.Errorf("condition type %s of contract %s cannot be both written and retired", retired, health.Name)
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
	changes, err := l.watch(mgr, claimed)
	if err != nil {
		return fmt.Errorf("adding the health controller of contract %s: %w", health.Name, err)
	}
	wiring := builder.ControllerManagedBy(mgr).
		Named(health.Name+"-health").
		Watches(health.New(), l.eventHandler(), builder.WithPredicates(claimed...)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.MaxConcurrentReconciles,
			// After failures the interval stays the same: once the API server is back, changes must not wait for minutes.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
				min(time.Second, l.interval), l.interval),
			NewQueue: queue.New,
		})
	for _, change := range changes {
		wiring.WatchesRawSource(change)
	}
	if err := wiring.Complete(truncateErrors(l)); err != nil {
		return fmt.Errorf("adding the health controller of contract %s: %w", health.Name, err)
	}
	return nil
}
