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

// gardenPatience is how long the garden may take to answer while an Extension waits, whose API server gives a webhook ten seconds at most.
const gardenPatience = 3 * time.Second

type extensions struct{ garden, runtime client.Reader }

func (e extensions) judge(ctx context.Context, object, old *operatorv1alpha1.Extension) (admission.Verdict, error) {
	after, before := extended(object), extended(old)
	verdict := admission.Verdict{Errors: after.nameMistakes(before)}
	if len(after.introduced(before)) == 0 {
		return verdict, nil
	}
	list := &operatorv1alpha1.ExtensionList{}
	if err := e.runtime.List(ctx, list); err != nil && !absent(err) {
		return admission.Verdict{}, fmt.Errorf("listing Extensions: %w", err)
	}
	var others []registration
	operated := map[string]bool{object.Name: true}
	for i := range list.Items {
		if other := extended(&list.Items[i]); other.name != object.Name {
			others = append(others, other)
			operated[other.name] = other.deployed
		}
	}
	inGarden, known := e.registeredOtherwise(ctx, operated)
	if !known {
		// The first Extensions are made before there is a garden. What nobody knows about primaries is no reason to warn of missing ones.
		verdict.Errors = append(verdict.Errors, after.conflicts(before, others)...)
		verdict.Warnings = append(verdict.Warnings,
			"the garden does not answer: whether a ControllerRegistration there serves the same is judged when this Extension's own is made")
		return verdict, nil
	}
	return after.against(before, append(others, inGarden...), verdict), nil
}

// registeredOtherwise returns the ControllerRegistrations in the garden that the operator has not made of Extensions. known is false when the garden
// does not answer.
func (e extensions) registeredOtherwise(ctx context.Context, operated map[string]bool) (others []registration, known bool) {
	ctx, cancel := context.WithTimeout(ctx, gardenPatience)
	defer cancel()
	list := &gardencorev1beta1.ControllerRegistrationList{}
	if err := e.garden.List(ctx, list); err != nil && !absent(err) {
		logf.FromContext(ctx).Error(err, "Listing ControllerRegistrations in the garden failed")
		return nil, false
	}
	for i := range list.Items {
		if !operated[list.Items[i].Name] {
			others = append(others, registered(&list.Items[i]))
		}
	}
	return others, true
}

// absent reports whether a list could not be had because there is no such kind of objects yet.
func absent(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// extended is empty for nil, and for what the operator makes no ControllerRegistration of.
func extended(object *operatorv1alpha1.Extension) registration {
	if object == nil {
		return registration{}
	}
	one := registration{kind: "Extension", name: object.Name}
	if deployment := object.Spec.Deployment; deployment != nil && deployment.ExtensionDeployment != nil && deployment.ExtensionDeployment.Helm != nil {
		one.deployed, one.resources = true, object.Spec.Resources
	}
	return one
}
