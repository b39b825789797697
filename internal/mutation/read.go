package mutation

import (
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Read decodes a request to create or update an object of a kind, or its subresource; old is nil when the object is created. meant is false for
// everything else, which passes as it is: other kinds, other subresources, what is being deleted.
func Read[Kind any, Object interface {
	*Kind
	client.Object
}](request admission.Request, kind schema.GroupVersionKind, subresource string) (object, old Object, applies bool, err error) {
	creates, updates := request.Operation == admissionv1.Create, request.Operation == admissionv1.Update
	if request.Kind != metav1.GroupVersionKind(kind) || request.SubResource != subresource || !creates && !updates {
		return nil, nil, false, nil
	}
	object = new(Kind)
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return nil, nil, false, fmt.Errorf("decoding the %s: %w", kind.Kind, err)
	}
	if updates {
		old = new(Kind)
		if err := json.Unmarshal(request.OldObject.Raw, old); err != nil {
			return nil, nil, false, fmt.Errorf("decoding the %s as it was: %w", kind.Kind, err)
		}
	}
	// Whoever leaves the time of deletion out of an update does not bring an object back to life.
	if object.GetDeletionTimestamp() != nil || updates && old.GetDeletionTimestamp() != nil {
		return nil, nil, false, nil
	}
	return object, old, true, nil
}
