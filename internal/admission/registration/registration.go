package registration

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/admission"
)

// Type identifies this package where others use their provider type.
const Type = "registrations"

// Webhooks returns all webhooks of this package. runtime reads the runtime cluster.
func Webhooks(garden admission.Garden, runtime client.Reader) []admission.Webhook {
	core, operator := gardencorev1beta1.SchemeGroupVersion, operatorv1alpha1.SchemeGroupVersion
	return []admission.Webhook{{
		Name: "controllerregistration." + Type, Rules: admission.CreationsAndUpdates(core.Group, core.Version, "controllerregistrations"),
		Handler: admission.Validate(core.WithKind("ControllerRegistration"), registrationValidator{garden.Reader}.validate),
	}, {
		Name: "extension." + Type, Runtime: true, Rules: admission.CreationsAndUpdates(operator.Group, operator.Version, "extensions"),
		Handler: admission.Validate(operator.WithKind("Extension"), extensionValidator{garden: garden.Reader, runtime: runtime}.validate),
	}}
}

type registrationValidator struct{ garden client.Reader }

func (r registrationValidator) validate(ctx context.Context, object, old *gardencorev1beta1.ControllerRegistration) (admission.Result, error) {
	after, before := fromControllerRegistration(object), fromControllerRegistration(old)
	result := admission.Result{Errors: after.validateName(before)}
	introducesPrimaries := len(after.introduced(before)) > 0
	if !introducesPrimaries && len(after.introducedSecondaries(before)) == 0 {
		return result, nil
	}
	list := &gardencorev1beta1.ControllerRegistrationList{}
	if err := r.garden.List(ctx, list); err != nil {
		if !introducesPrimaries {
			return result, nil // there can be warnings only
		}
		return admission.Result{}, fmt.Errorf("listing ControllerRegistrations: %w", err)
	}
	var others []registration
	for i := range list.Items {
		if list.Items[i].Name != object.Name {
			others = append(others, fromControllerRegistration(&list.Items[i]))
		}
	}
	return after.validateAgainst(before, others, result), nil
}

// fromControllerRegistration is empty for nil.
func fromControllerRegistration(object *gardencorev1beta1.ControllerRegistration) registration {
	if object == nil {
		return registration{}
	}
	deployed := object.Spec.Deployment != nil && len(object.Spec.Deployment.DeploymentRefs) > 0
	return registration{kind: "ControllerRegistration", name: object.Name, resources: object.Spec.Resources, deployed: deployed}
}
