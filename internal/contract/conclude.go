package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// succeed writes the final status and then removes the finalizer or the operation annotation. Each step can be repeated.
// The finalizer of a migrated object is removed first: gardenlet deletes the object as soon as its status says Succeeded.
func (x *run[O]) succeed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), concludeTimeout)
	defer cancel()
	steps := []func(context.Context) error{x.reportSuccess, x.release}
	if x.decision.action == actionMigrate {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	x.metrics.observe(x.decision.operation, resultSucceeded, x.options.Clock.Since(x.started))
	if x.decision.operation != gardencorev1beta1.LastOperationTypeReconcile || !sameOutput(x.initial, x.writer.known, x.contract.ClearVolatile) {
		x.log.Info("Operation succeeded")
		x.events.Eventf(x.rec.Object, nil, corev1.EventTypeNormal, "Succeeded", string(x.decision.operation), "%s", truncate.Text(x.successMessage(), truncate.MaxEvent))
	} else {
		x.log.V(1).Info("Operation succeeded without changes")
	}
	return nil
}

func (x *run[O]) reportSuccess(ctx context.Context) error {
	return x.report(ctx, gardencorev1beta1.LastOperationStateSucceeded, x.successMessage(), nil)
}

func (x *run[O]) successMessage() string {
	sentence := fmt.Sprintf("%s of %s succeeded", x.decision.operation, x.contract.Name)
	if len(x.rec.Messages) > 0 {
		sentence += "; " + strings.Join(x.rec.Messages, "; ")
	}
	return truncate.Text(sentence, truncate.MaxStatus)
}

// fail writes the error with its codes and returns it, with a text that is truncated for the status and for the log. Texts of others
// may be of any length, and the API server rejects an object of more than a megabyte: the error would never be reported.
func (x *run[O]) fail(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), concludeTimeout)
	defer cancel()
	x.metrics.observe(x.decision.operation, resultFailed, x.options.Clock.Since(x.started))
	cause = truncate.Error(cause, truncate.MaxStatus)
	lastError := &gardencorev1beta1.LastError{
		Description:    cause.Error(),
		Codes:          Codes(cause),
		LastUpdateTime: new(metav1.NewTime(x.options.Clock.Now())),
	}
	if err := x.report(ctx, gardencorev1beta1.LastOperationStateError, cause.Error(), lastError); err != nil {
		return errors.Join(cause, err)
	}
	x.events.Eventf(x.rec.Object, nil, corev1.EventTypeWarning, "Failed", string(x.decision.operation), "%s", truncate.Text(cause.Error(), truncate.MaxEvent))
	return cause
}

// interrupt reports why the operation was interrupted: the next leader resumes it, or a newer operation replaces it.
func (x *run[O]) interrupt(ctx context.Context, reason string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), concludeTimeout)
	defer cancel()
	x.metrics.observe(x.decision.operation, resultInterrupted, x.options.Clock.Since(x.started))
	_, err := x.writer.write(ctx, func(known O) O {
		known = x.recorder.withProgress(x.withOutput(known))
		known.GetExtensionStatus().GetLastOperation().Description = reason
		return known
	})
	x.log.Info("Operation interrupted", "reason", reason)
	return err
}

// report writes the result of the reconciliation in one patch.
func (x *run[O]) report(
	ctx context.Context, state gardencorev1beta1.LastOperationState, description string, lastError *gardencorev1beta1.LastError,
) error {
	progress := int32(100)
	if lastError != nil {
		progress, _ = x.recorder.activity.Snapshot()
	}
	_, err := x.writer.write(ctx, func(known O) O {
		next := x.withOutput(known)
		status := next.GetExtensionStatus()
		status.SetLastOperation(&gardencorev1beta1.LastOperation{
			Type:           x.decision.operation,
			State:          state,
			Progress:       progress,
			Description:    description,
			LastUpdateTime: x.completionTime(),
		})
		status.SetLastError(lastError)
		status.SetObservedGeneration(known.GetGeneration())
		return next
	})
	return client.IgnoreNotFound(err)
}

// completionTime is now, but never before the time of the request: gardenlet compares the two, and its clock may be ahead.
func (x *run[O]) completionTime() metav1.Time {
	now := x.options.Clock.Now()
	if requested := requestedAt(x.rec.Object); requested.After(now) {
		return metav1.NewTime(requested)
	}
	return metav1.NewTime(now)
}

// release removes the finalizer of a deleted or migrated object, and the annotation of a migrate or restore. gardenlet
// considers a restore done only when its annotation is removed.
func (x *run[O]) release(ctx context.Context) error {
	switch {
	case x.decision.action == actionDelete, x.decision.action == actionForceDelete:
		return x.changeMetadata(ctx, func(object client.Object) bool {
			return controllerutil.RemoveFinalizer(object, x.contract.Finalizer)
		})
	case x.decision.action == actionMigrate:
		return x.changeMetadata(ctx, func(object client.Object) bool {
			released := controllerutil.RemoveFinalizer(object, x.contract.Finalizer)
			return removeOperationAnnotation(object, v1beta1constants.GardenerOperationMigrate) || released
		})
	case x.decision.operation == gardencorev1beta1.LastOperationTypeRestore:
		return x.changeMetadata(ctx, func(object client.Object) bool {
			return x.isCurrentRequest(object) && removeOperationAnnotation(object, v1beta1constants.GardenerOperationRestore)
		})
	default:
		return nil
	}
}

// isCurrentRequest returns false for a newer request, which another reconciliation will accept.
func (x *run[O]) isCurrentRequest(object client.Object) bool {
	oldAnnotations, newAnnotations := x.rec.Object.GetAnnotations(), object.GetAnnotations()
	return newAnnotations[v1beta1constants.GardenerTimestamp] == oldAnnotations[v1beta1constants.GardenerTimestamp] &&
		object.GetGeneration() == x.rec.Object.GetGeneration()
}

// changeMetadata patches the live object's metadata under an optimistic lock until change has been applied.
func (x *run[O]) changeMetadata(ctx context.Context, change func(client.Object) bool) error {
	key := client.ObjectKeyFromObject(x.rec.Object)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object := metadataOf(x.kind, x.rec.Object)
		if err := x.reader.Get(ctx, key, object); err != nil {
			return err
		}
		before := clone(object)
		if !change(object) {
			return nil
		}
		_, err := x.patchMetadata(ctx, before, object)
		return err
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("concluding %s: %w", x.decision.operation, err)
	}
	return nil
}
