package admission

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/fielderrors"
	"github.com/trellis-garden/trellis/internal/mutation"
)

// Result is the result of validating a write.
type Result struct {
	// Errors are the invalid fields. If there are any, the write is rejected. Their messages tell users what to do.
	Errors field.ErrorList
	// Warnings are sentences for the client. They reject nothing.
	Warnings []string
}

// Validate returns a handler for creations and updates of objects of one kind. Everything else is accepted: other kinds, subresources, objects
// that are being deleted. old is nil when the object is created.
//
// An error of the validation function is not the user's fault: a read failed. The client is asked to try again.
func Validate[Kind any, Object interface {
	*Kind
	client.Object
}](kind schema.GroupVersionKind, validate func(ctx context.Context, object, old Object) (Result, error),
) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		object, old, relevant, err := mutation.Read[Kind, Object](request, kind, "")
		if err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if !relevant {
			return admission.Allowed("")
		}
		result, err := validate(ctx, object, old)
		if err != nil {
			logf.FromContext(ctx).Error(err, "Validating failed")
			return admission.Errored(http.StatusInternalServerError, fmt.Errorf("%w: try again", err))
		}
		return result.response(ctx, kind.GroupKind(), nameOf(request))
	})
}

// nameOf returns the object's name, or its generateName if the name is not yet generated.
func nameOf(request admission.Request) string {
	if request.Name != "" {
		return request.Name
	}
	return "new"
}

// response returns an Invalid status as API servers return it, so that clients find the fields in its details.
func (r Result) response(ctx context.Context, kind schema.GroupKind, name string) admission.Response {
	if len(r.Errors) == 0 {
		return admission.Allowed("").WithWarnings(r.Warnings...)
	}
	errs := fielderrors.Limit(r.Errors)
	fields := make([]string, 0, len(errs))
	for _, fieldError := range errs {
		fields = append(fields, fieldError.Field)
	}
	logf.FromContext(ctx).Info("Refused", "errors", len(r.Errors), "fields", fields)
	status := apierrors.NewInvalid(kind, name, errs).Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &status}}.WithWarnings(r.Warnings...)
}
