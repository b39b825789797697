package registration

import (
	"context"
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/trellis-garden/trellis/internal/admission"
)

// gardenTimeout is the timeout of requests to the garden during the admission of an Extension, for which the API server's webhook timeout
// is at most ten seconds.
const gardenTimeout = 3 * time.Second

type extensionValidator struct{ garden, runtime client.Reader }

func (e extensionValidator) validate(ctx context.Context, object, old *operatorv1alpha1.Extension) (admission.Result, error) {
	after, before := fromExtension(object), fromExtension(old)
	result := admission.Result{Errors: after.validateName(before)}
	introducesPrimaries := len(after.introduced(before)) > 0
	if !introducesPrimaries && len(after.introducedSecondaries(before)) == 0 {
		return result, nil
	}
	list := &operatorv1alpha1.ExtensionList{}
	if err := e.runtime.List(ctx, list); err != nil && !isKindMissing(err) {
		if !introducesPrimaries {
			return result, nil // there can be warnings only
		}
		return admission.Result{}, fmt.Errorf("listing Extensions: %w", err)
	}
	var others []registration
	deployedByOperator := map[string]bool{object.Name: true}
	for i := range list.Items {
		if other := fromExtension(&list.Items[i]); other.name != object.Name {
			others = append(others, other)
			deployedByOperator[other.name] = other.deployed
		}
	}
	inGarden, known := e.otherRegistrations(ctx, deployedByOperator)
	if !known && !introducesPrimaries {
		return result, nil
	}
	if !known {
		// The first Extensions are created before there is a garden. Without it, missing primaries are unknown and cause no warning.
		result.Errors = append(result.Errors, after.conflicts(before, others)...)
		result.Warnings = append(result.Warnings,
			"the garden does not answer: whether a ControllerRegistration there serves the same is checked when this Extension's own is made")
		return result, nil
	}
	return after.validateAgainst(before, append(others, inGarden...), result), nil
}

// otherRegistrations returns the ControllerRegistrations in the garden that the operator has not created from Extensions. known is false if the
// garden is unreachable.
func (e extensionValidator) otherRegistrations(ctx context.Context, deployedByOperator map[string]bool) (others []registration, known bool) {
	ctx, cancel := context.WithTimeout(ctx, gardenTimeout)
	defer cancel()
	list := &gardencorev1beta1.ControllerRegistrationList{}
	if err := e.garden.List(ctx, list); err != nil && !isKindMissing(err) {
		logf.FromContext(ctx).Error(err, "Listing ControllerRegistrations in the garden failed")
		return nil, false
	}
	for i := range list.Items {
		if !deployedByOperator[list.Items[i].Name] {
			others = append(others, fromControllerRegistration(&list.Items[i]))
		}
	}
	return others, true
}

// isKindMissing reports whether a list failed because the kind does not exist yet.
func isKindMissing(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// fromExtension is empty for nil, and for Extensions from which the operator creates no ControllerRegistration.
func fromExtension(object *operatorv1alpha1.Extension) registration {
	if object == nil {
		return registration{}
	}
	result := registration{kind: "Extension", name: object.Name}
	if deployment := object.Spec.Deployment; deployment != nil && deployment.ExtensionDeployment != nil && deployment.ExtensionDeployment.Helm != nil {
		result.deployed, result.resources = true, object.Spec.Resources
	}
	return result
}
