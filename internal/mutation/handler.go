package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Handler answers requests to create or update objects of one kind with what mutate makes of them. Everything else passes as
// it is: other kinds, subresources, what is being deleted. old is nil when the object is created.
//
// The patch holds nothing but what mutate changed. Fields that this program has never heard of are in neither of the two
// documents that it comes from.
func Handler[Kind any, Object interface {
	*Kind
	client.Object
}](kind schema.GroupVersionKind, mutate func(ctx context.Context, object, old Object) error,
) admission.Handler {
	return SubresourceHandler(kind, "", mutate)
}

// SubresourceHandler is Handler for requests to a subresource of the objects, such as "status", and no others.
//
// An error of mutate is logged, since who writes may be a program that keeps it to itself. It says what to do where that can be known.
func SubresourceHandler[Kind any, Object interface {
	*Kind
	client.Object
}](kind schema.GroupVersionKind, subresource string, mutate func(ctx context.Context, object, old Object) error,
) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		object, old, applies, err := Read[Kind, Object](request, kind, subresource)
		if err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if !applies {
			return admission.Allowed("")
		}
		before := object.DeepCopyObject()
		if err := mutate(ctx, object, old); err != nil {
			logf.FromContext(ctx).Error(err, "Mutating failed")
			return admission.Errored(http.StatusInternalServerError, err)
		}
		response, err := patchResponse(before, object)
		if err != nil {
			logf.FromContext(ctx).Error(err, "Computing the patch failed")
			return admission.Errored(http.StatusInternalServerError, fmt.Errorf("comparing the %s with what became of it: %w", kind.Kind, err))
		}
		return response
	})
}

// patchResponse allows a request on the condition that one object takes the place of the other.
func patchResponse(before, after any) (admission.Response, error) {
	var documents [2]any
	for i, object := range []any{before, after} {
		raw, err := json.Marshal(object)
		if err != nil {
			return admission.Response{}, err
		}
		// Numbers stay the text that they are: a user may have written one that no type of Go holds.
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if err := decoder.Decode(&documents[i]); err != nil {
			return admission.Response{}, err
		}
	}
	response := admission.Allowed("")
	operations := difference("", documents[0], documents[1])
	if len(operations) == 0 {
		return response, nil
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return admission.Response{}, err
	}
	response.Patch, response.PatchType = patch, new(admissionv1.PatchTypeJSONPatch)
	return response, nil
}
