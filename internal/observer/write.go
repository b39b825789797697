package observer

import (
	"context"
	"fmt"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/truncate"
)

const (
	// writeTimeout bounds one write with the read before it.
	writeTimeout = 10 * time.Second
	// writeAttempts is how often conditions are written over newer versions of an object before the observation is repeated.
	writeAttempts = 10
)

// write is a change of the conditions of an object that was written, or was not needed.
type write struct {
	before, after []gardencorev1beta1.Condition
}

// report writes the conditions of an object, records Events about those whose status has changed, and sets the metrics.
func (c *observerController[O]) report(ctx context.Context, object O, outcomes map[string]outcome, asOf time.Time) error {
	c.activity.RLock()
	defer c.activity.RUnlock()
	if c.inactive {
		return nil
	}
	written, err := c.writeConditions(ctx, object, func(current O) ([]gardencorev1beta1.Condition, bool) {
		if whyNotObservable(current) != "" {
			return nil, false
		}
		known := current.GetExtensionStatus().GetConditions()
		return conditionsAfter(known, c.observer.Observations, outcomes, asOf, c.options.Clock.Now()), true
	})
	if err != nil || written == nil {
		return err
	}
	for _, observation := range c.observer.Observations {
		after := v1beta1helper.GetCondition(written.after, observation.Condition)
		c.metrics.set(client.ObjectKeyFromObject(object), object.GetExtensionSpec().GetExtensionType(), observation.Name, after, asOf)
		c.recordEvent(ctx, object, observation, v1beta1helper.GetCondition(written.before, observation.Condition), after)
	}
	return nil
}

// writeConditions changes the conditions of an object under an optimistic lock, and again over a newer version as long as others write at the same time.
// change returns the new conditions of a version, or false if it is not to be changed; then writeConditions returns nil. For the API server, the list of
// conditions is one value, parts of which others write.
func (c *observerController[O]) writeConditions(
	ctx context.Context, object O, change func(O) ([]gardencorev1beta1.Condition, bool),
) (*write, error) {
	for attempt := range writeAttempts {
		if attempt > 0 {
			c.metrics.conflicts.Inc()
			current := c.observer.New()
			if err := c.read(ctx, object, current); err != nil {
				return nil, client.IgnoreNotFound(err)
			}
			if current.GetUID() != object.GetUID() {
				return nil, nil
			}
			object = current
		}
		next, wanted := change(object)
		if !wanted {
			return nil, nil
		}
		known := object.GetExtensionStatus().GetConditions()
		written := &write{before: known, after: next}
		if equality.Semantic.DeepEqual(known, next) {
			return written, nil
		}
		err := c.patch(ctx, object, next)
		switch {
		case err == nil:
			return written, nil
		case apierrors.IsNotFound(err):
			return nil, nil
		case !apierrors.IsConflict(err):
			return nil, err
		}
	}
	return nil, fmt.Errorf("writing conditions: the object was changed by others during each of %d attempts", writeAttempts)
}

func (c *observerController[O]) read(ctx context.Context, object, into O) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return c.reader.Get(ctx, client.ObjectKeyFromObject(object), into)
}

func (c *observerController[O]) patch(ctx context.Context, object O, conditions []gardencorev1beta1.Condition) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return contract.PatchConditions(ctx, c.client, object, conditions)
}

// recordEvent records an Event, in the shoot's namespace, and logs, if the status of a condition has changed. The first healthy one is no change.
func (c *observerController[O]) recordEvent(ctx context.Context, object O, observation Observation, before, after *gardencorev1beta1.Condition) {
	if after == nil || before != nil && before.Status == after.Status || before == nil && after.Status == gardencorev1beta1.ConditionTrue {
		return
	}
	eventType := corev1.EventTypeWarning
	if after.Status == gardencorev1beta1.ConditionTrue {
		eventType = corev1.EventTypeNormal
	}
	c.events.Eventf(object, nil, eventType, string(observation.Condition)+string(after.Status), "Observe",
		"%s", truncate.Text(after.Message, truncate.MaxEvent))
	logf.FromContext(ctx).Info("Observation changed", "observation", observation.Name, "condition", observation.Condition,
		"status", after.Status, "message", after.Message)
}
