package contract

import (
	"context"
	"errors"
	"fmt"
	"maps"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// errOperationChanged says that the object is not what the pass was decided upon any more.
var errOperationChanged = errors.New("the order changed")

// accept announces the operation where that is to be seen at once, and then takes the order: one metadata patch, under
// an optimistic lock so that a newer order is never taken unseen, removes the reconcile annotation and adds the finalizer.
// In this order, because an announced operation is resumed after a crash even when nothing else tells of it.
func (x *run[O]) accept(ctx context.Context) error {
	before := x.writer.known
	if x.mustReportProcessing(before) {
		if err := x.reportProcessing(ctx, before); err != nil {
			return err
		}
	}
	if x.decision.action != actionReconcile {
		return nil
	}
	accepted := clone(x.writer.known)
	added := controllerutil.AddFinalizer(accepted, x.contract.Finalizer)
	if !removeOperationAnnotation(accepted, v1beta1constants.GardenerOperationReconcile) && !added {
		return nil
	}
	if err := x.patchMetadata(ctx, x.writer.known, accepted); err != nil {
		return err
	}
	x.writer.known = accepted
	return nil
}

// mustReportProcessing tells operations that everybody should see from those that are mostly over within the second. A new order
// is also announced when it finds the error of an earlier one, which gardenlet would take for its own; and when it carries
// no timestamp of its own, for it would be forgotten in a crash once its annotation is gone.
func (x *run[O]) mustReportProcessing(object O) bool {
	if x.decision.operation != gardencorev1beta1.LastOperationTypeReconcile {
		return true
	}
	if object.GetExtensionStatus().GetLastError() != nil && x.isNewRequest(object) {
		return true
	}
	withoutAnnotation := clone(object)
	return removeOperationAnnotation(withoutAnnotation, v1beta1constants.GardenerOperationReconcile) &&
		!Pending(withoutAnnotation, x.contract.Finalizer, x.options.IgnoreOperationAnnotation)
}

// reportProcessing writes "Processing". A new order also clears the error of an earlier one; a retry of our own leaves it standing
// until the pass has ended, so that nobody takes "trying again" for "healthy".
func (x *run[O]) reportProcessing(ctx context.Context, before O) error {
	isRequest := x.isNewRequest(before)
	response, wrote, err := x.writer.write(ctx, func(known O) O {
		status := known.GetExtensionStatus()
		status.SetLastOperation(&gardencorev1beta1.LastOperation{
			Type:           x.decision.operation,
			State:          gardencorev1beta1.LastOperationStateProcessing,
			Description:    fmt.Sprintf("%s of %s accepted", x.decision.operation, x.contract.Name),
			LastUpdateTime: metav1.NewTime(x.options.Clock.Now()),
		})
		if isRequest {
			status.SetLastError(nil)
		}
		return known
	})
	if err != nil || !wrote {
		return err
	}
	if response.GetGeneration() != before.GetGeneration() || !maps.Equal(response.GetAnnotations(), before.GetAnnotations()) {
		return errOperationChanged
	}
	x.writer.known.SetResourceVersion(response.GetResourceVersion())
	return nil
}

// isNewRequest tells an order from a retry of our own. The annotation of a restore or migrate says nothing here: it stays
// until the operation has succeeded.
func (x *run[O]) isNewRequest(object O) bool {
	lastOperation := object.GetExtensionStatus().GetLastOperation()
	return lastOperation == nil || lastOperation.Type != x.decision.operation ||
		object.GetAnnotations()[v1beta1constants.GardenerOperation] == v1beta1constants.GardenerOperationReconcile ||
		requestedAt(object).After(lastOperation.LastUpdateTime.Time)
}

// patchMetadata writes what differs, unless the object has changed since it was read.
func (x *run[O]) patchMetadata(ctx context.Context, read, desired O) error {
	return x.client.Patch(ctx, desired, client.MergeFromWithOptions(read, client.MergeFromWithOptimisticLock{}))
}

// removeOperationAnnotation removes the operation annotation if it has the given value.
func removeOperationAnnotation(object client.Object, operation string) bool {
	annotations := maps.Clone(object.GetAnnotations())
	if annotations[v1beta1constants.GardenerOperation] != operation {
		return false
	}
	delete(annotations, v1beta1constants.GardenerOperation)
	object.SetAnnotations(annotations)
	return true
}
