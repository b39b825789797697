package gardenet

import (
	"context"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/gardenet/validation"
	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/admission"
)

// validate rejects what the Network controller could not deploy. API servers call it with the shoot that has the defaults of setDefaults.
func validate(_ context.Context, shoot, old *gardencorev1beta1.Shoot) (admission.Result, error) {
	if !usesGardenet(shoot) {
		return admission.Result{}, nil
	}
	if !usesGardenet(old) {
		old = nil
	}
	var before *runtime.RawExtension
	if old != nil {
		before = old.Spec.Networking.ProviderConfig
	}
	path := field.NewPath("spec", "networking", "providerConfig")
	if errs := admission.TooLarge(shoot.Spec.Networking.ProviderConfig, before, admission.MaxShootConfig, path); len(errs) > 0 {
		return admission.Result{Errors: errs}, nil
	}
	errs, warnings := validation.ValidateShootNetwork(shoot, old, networking.InfrastructureOf(shoot.Spec.Provider.Type))
	return admission.Result{Errors: errs, Warnings: warnings}, nil
}

// usesGardenet reports whether the shoot uses gardenet. Shoots without workers have no network.
func usesGardenet(shoot *gardencorev1beta1.Shoot) bool {
	if shoot == nil || len(shoot.Spec.Provider.Workers) == 0 || shoot.Spec.Networking == nil {
		return false
	}
	networkType := shoot.Spec.Networking.Type
	return networkType != nil && *networkType == Type
}
