package contract

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusWriter writes one object's status during one pass: always a merge patch of just what differs from what the pass
// last knew, so that other writers' fields, conditions above all, stay theirs.
type statusWriter[O Object] struct {
	client client.Client

	mutex sync.Mutex
	known O
}

// write patches the difference between the known object and what next makes of a copy of it. It returns the API server's
// answer, or a zero value when there was no difference and no request.
//
// A write that is under way is waited for even when ctx ends meanwhile: one that is given up may still take effect, and
// would then undo the write that comes after it.
func (w *statusWriter[O]) write(ctx context.Context, next func(known O) O) (O, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var none O
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("writing status: %w", err)
	}
	desired := next(clone(w.known))
	patch, err := client.MergeFrom(w.known).Data(desired)
	if err != nil {
		return none, fmt.Errorf("computing status patch: %w", err)
	}
	if string(patch) == "{}" {
		return none, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	answer := clone(desired)
	if err := w.client.Status().Patch(ctx, answer, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return none, fmt.Errorf("writing status: %w", err)
	}
	w.known = desired
	return answer, nil
}

// withOwnFieldsOf returns actuated with the fields that are the runtime's or others' taken from known.
func withOwnFieldsOf[O Object](known, actuated O, stateless bool) O {
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

// sameOutput reports whether two statuses differ in nothing but the bookkeeping of operations. It compares what they mean:
// a raw part that went through the API server has its keys in another order than one that was just encoded.
func sameOutput[O Object](a, b O) bool {
	var parts []map[string]any
	for _, object := range []O{clone(a), clone(b)} {
		object.GetExtensionStatus().SetLastOperation(nil)
		object.GetExtensionStatus().SetObservedGeneration(0)
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
