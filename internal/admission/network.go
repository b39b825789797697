package admission

import (
	"context"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/mutation"
)

// NetworkShoots sets defaults in the Shoots of a network type, and validates them. Shoots without workers have no network.
type NetworkShoots struct {
	// Type is the network type.
	Type string
	// SetDefaults changes spec.networking of a Shoot whose spec a user writes. old is nil for a Shoot that had no network of the type.
	SetDefaults func(shoot, old *gardencorev1beta1.Shoot) error
	// Validate checks a Shoot that has the defaults. old is as for SetDefaults.
	Validate func(shoot, old *gardencorev1beta1.Shoot) (errs field.ErrorList, warnings []string)
}

// Webhooks returns one webhook for defaults and one for validation. They need nothing but the request.
func (n NetworkShoots) Webhooks() []Webhook {
	defaults := shootWebhook(v1beta1constants.LabelExtensionNetworkingTypePrefix, n.Type)
	validation := defaults
	defaults.Name, defaults.Mutates, defaults.Handler = "shootdefaults."+n.Type, true, mutation.Handler(ShootKind(), n.setDefaults)
	validation.Name, validation.Handler = "shoot."+n.Type, Validate(ShootKind(), n.validate)
	return []Webhook{defaults, validation}
}

func (n NetworkShoots) setDefaults(_ context.Context, shoot, old *gardencorev1beta1.Shoot) error {
	if !n.has(shoot) || !takesDefaults(shoot, old) {
		return nil
	}
	return n.SetDefaults(shoot, n.before(old))
}

func (n NetworkShoots) validate(_ context.Context, shoot, old *gardencorev1beta1.Shoot) (Result, error) {
	if !n.has(shoot) {
		return Result{}, nil
	}
	old = n.before(old)
	given, before := shoot.Spec.Networking.ProviderConfig, gardencorev1beta1.Networking{}
	if old != nil {
		before = *old.Spec.Networking
	}
	path := field.NewPath("spec", "networking", "providerConfig")
	if errs := TooLarge(given, before.ProviderConfig, MaxShootConfig, path); len(errs) > 0 {
		return Result{Errors: errs}, nil
	}
	errs, warnings := n.Validate(shoot, old)
	return Result{Errors: errs, Warnings: warnings}, nil
}

// before returns the old Shoot if it had a network of the type.
func (n NetworkShoots) before(old *gardencorev1beta1.Shoot) *gardencorev1beta1.Shoot {
	if n.has(old) {
		return old
	}
	return nil
}

// has reports whether the Shoot has a network of the type.
func (n NetworkShoots) has(shoot *gardencorev1beta1.Shoot) bool {
	if shoot == nil || len(shoot.Spec.Provider.Workers) == 0 || shoot.Spec.Networking == nil {
		return false
	}
	networkType := shoot.Spec.Networking.Type
	return networkType != nil && *networkType == n.Type
}
