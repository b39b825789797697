package contract

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// errOperationChanged is returned if the object has changed since the reconciliation was decided.
var errOperationChanged = errors.New("the operation changed")

// accept reports the operation where that must be visible at once, and then accepts it: one metadata patch, with an
// optimistic lock so that a newer operation is never lost, removes the reconcile annotation and adds the finalizer. The
// report comes first because a reported operation is resumed after a crash even if nothing else is left of it.
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
	version, err := x.patchMetadata(ctx, x.writer.known, accepted)
	if err != nil {
		return err
	}
	accepted.SetResourceVersion(version)
	x.writer.known = accepted
	return nil
}

// mustReportProcessing returns false for operations that usually end within a second. A new operation is also reported if
// the status has the error of an earlier one, which gardenlet would take for an error of this one; and if it has no
// timestamp, since it would be lost in a crash once its annotation is removed.
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

// reportProcessing writes "Processing". A new operation also clears the error of an earlier one; a retry keeps it
// until the reconciliation has ended, so that "trying again" does not look like "healthy".
func (x *run[O]) reportProcessing(ctx context.Context, before O) error {
	isRequest := x.isNewRequest(before)
	response, err := x.writer.write(ctx, func(known O) O {
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
	if err != nil || response == nil {
		return err
	}
	if response.GetGeneration() != before.GetGeneration() || !maps.Equal(response.GetAnnotations(), before.GetAnnotations()) {
		return errOperationChanged
	}
	x.writer.known.SetResourceVersion(response.GetResourceVersion())
	return nil
}

// isNewRequest returns false for a retry. The annotation of a restore or migrate does not matter here: it stays until the
// operation has succeeded.
func (x *run[O]) isNewRequest(object O) bool {
	lastOperation := object.GetExtensionStatus().GetLastOperation()
	return lastOperation == nil || lastOperation.Type != x.decision.operation ||
		object.GetAnnotations()[v1beta1constants.GardenerOperation] == v1beta1constants.GardenerOperationReconcile ||
		requestedAt(object).After(lastOperation.LastUpdateTime.Time)
}

// patchMetadata writes the annotations and finalizers in which the objects differ, unless the object has changed since it was read. It returns the
// version that results.
func (x *run[O]) patchMetadata(ctx context.Context, read, desired client.Object) (resourceVersion string, err error) {
	changes, err := mergePatch(changeableMetadata(read, ""), changeableMetadata(desired, read.GetResourceVersion()))
	if err != nil {
		return "", fmt.Errorf("computing metadata patch: %w", err)
	}
	patch := slices.Concat([]byte(`{"metadata":`), changes, []byte(`}`))
	response := metadataOf(x.kind, read)
	err = x.client.Patch(ctx, response, client.RawPatch(types.MergePatchType, patch))
	return response.GetResourceVersion(), err
}

// changeableMetadata returns the metadata that a reconciliation changes, with the version for an optimistic lock.
func changeableMetadata(object client.Object, resourceVersion string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Annotations: object.GetAnnotations(), Finalizers: object.GetFinalizers(), ResourceVersion: resourceVersion}
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
