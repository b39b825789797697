package contract

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusWriter writes one object's status during one reconciliation: a merge patch of the difference to what the API server is
// known to have, so that fields of other writers, such as conditions, are not changed.
type statusWriter[O Object] struct {
	client client.Client
	reader client.Reader
	empty  func() O
	kind   schema.GroupVersionKind

	mutex sync.Mutex
	known O
	// uncertain is true after a write that may or may not have taken effect.
	uncertain bool
}

// write patches the difference between the known object and the result of next for a copy of it. It returns the metadata of the API server's
// response, nil if there was no difference and no request.
//
// It waits for the response even if ctx ends meanwhile: a request that is given up may still take effect, and would then
// undo the write after it.
func (w *statusWriter[O]) write(ctx context.Context, next func(known O) O) (*metav1.PartialObjectMetadata, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("writing status: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	if err := w.refreshIfUncertain(ctx); err != nil {
		return nil, err
	}
	desired := next(clone(w.known))
	changes, err := mergePatch(w.known.GetExtensionStatus(), desired.GetExtensionStatus())
	if err != nil {
		return nil, fmt.Errorf("computing status patch: %w", err)
	}
	if changes == nil {
		return nil, nil
	}
	patch := slices.Concat([]byte(`{"status":`), changes, []byte(`}`))
	response := metadataOf(w.kind, w.known)
	if err := w.client.Status().Patch(ctx, response, client.RawPatch(types.MergePatchType, patch)); err != nil {
		w.uncertain = true
		return nil, fmt.Errorf("writing status: %w", err)
	}
	w.known = desired
	return response, nil
}

// metadataOf returns an object for requests whose response is nothing but metadata.
func metadataOf(kind schema.GroupVersionKind, object client.Object) *metav1.PartialObjectMetadata {
	partial := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName()}}
	partial.SetGroupVersionKind(kind)
	return partial
}

// refreshIfUncertain reads what the API server has after a write whose response was lost: a difference to anything else could
// omit what has to be written. All but the status stays as it was accepted.
func (w *statusWriter[O]) refreshIfUncertain(ctx context.Context) error {
	if !w.uncertain {
		return nil
	}
	live := w.empty()
	if err := w.reader.Get(ctx, client.ObjectKeyFromObject(w.known), live); err != nil {
		return fmt.Errorf("reading status again: %w", err)
	}
	known := w.empty()
	if err := copyWithStatusOf(live, w.known, known); err != nil {
		return fmt.Errorf("comparing status: %w", err)
	}
	w.known, w.uncertain = known, false
	return nil
}

// copyWithStatusOf copies an object, with the status of another one, into a third.
func copyWithStatusOf[O Object](other, object, into O) error {
	parts, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	others, err := runtime.DefaultUnstructuredConverter.ToUnstructured(other)
	if err != nil {
		return err
	}
	parts["status"] = others["status"]
	return runtime.DefaultUnstructuredConverter.FromUnstructured(parts, into)
}

// outputOf returns the object with the status of the Actuator, except for the fields that are not the Actuator's, which are those of known.
func outputOf[O Object](known, actuated O, stateless bool) O {
	next := clone(actuated)
	from, to := known.GetExtensionStatus(), next.GetExtensionStatus()
	to.SetLastOperation(from.GetLastOperation())
	to.SetLastError(from.GetLastError())
	to.SetObservedGeneration(from.GetObservedGeneration())
	to.SetConditions(from.GetConditions())
	to.SetState(from.GetState())
	if stateless {
		to.SetResources(from.GetResources())
	}
	return next
}

// sameOutput reports whether two statuses differ only in the fields about operations and in volatile fields. It compares
// semantically: a raw part that was stored by the API server has its keys in another order than one that was just encoded.
func sameOutput[O Object](a, b O, clearVolatile func(O)) bool {
	var parts []map[string]any
	for _, object := range []O{clone(a), clone(b)} {
		object.GetExtensionStatus().SetLastOperation(nil)
		object.GetExtensionStatus().SetObservedGeneration(0)
		if clearVolatile != nil {
			clearVolatile(object)
		}
		part, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.GetExtensionStatus())
		if err != nil {
			return false
		}
		parts = append(parts, part)
	}
	return equality.Semantic.DeepEqual(parts[0], parts[1])
}

func clone[O runtime.Object](object O) O {
	//nolint:forcetypeassert // a deep copy has the type of its original
	return object.DeepCopyObject().(O)
}
