package registration

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/admission"
)

// Type is what the room calls itself where others have a provider type.
const Type = "registrations"

// Webhooks are all of the room's. runtime reads the runtime cluster.
func Webhooks(garden admission.Garden, runtime client.Reader) []admission.Webhook {
	core, operator := gardencorev1beta1.SchemeGroupVersion, operatorv1alpha1.SchemeGroupVersion
	return []admission.Webhook{{
		Name: "controllerregistration." + Type, Rules: admission.CreationsAndUpdates(core.Group, core.Version, "controllerregistrations"),
		Handler: admission.Judge(core.WithKind("ControllerRegistration"), registrations{garden.Reader}.judge),
	}, {
		Name: "extension." + Type, Runtime: true, Rules: admission.CreationsAndUpdates(operator.Group, operator.Version, "extensions"),
		Handler: admission.Judge(operator.WithKind("Extension"), extensions{garden: garden.Reader, runtime: runtime}.judge),
	}}
}

type registrations struct{ garden client.Reader }

func (r registrations) judge(ctx context.Context, object, old *gardencorev1beta1.ControllerRegistration) (admission.Verdict, error) {
	after, before := registered(object), registered(old)
	verdict := admission.Verdict{Errors: after.nameMistakes(before)}
	if len(after.introduced(before)) == 0 {
		return verdict, nil
	}
	list := &gardencorev1beta1.ControllerRegistrationList{}
	if err := r.garden.List(ctx, list); err != nil {
		return admission.Verdict{}, fmt.Errorf("listing ControllerRegistrations: %w", err)
	}
	var others []registration
	for i := range list.Items {
		if list.Items[i].Name != object.Name {
			others = append(others, registered(&list.Items[i]))
		}
	}
	return after.against(before, others, verdict), nil
}

// registered is empty for nil.
func registered(object *gardencorev1beta1.ControllerRegistration) registration {
	if object == nil {
		return registration{}
	}
	deployed := object.Spec.Deployment != nil && len(object.Spec.Deployment.DeploymentRefs) > 0
	return registration{kind: "ControllerRegistration", name: object.Name, resources: object.Spec.Resources, deployed: deployed}
}
