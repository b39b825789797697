package aws

import (
	"context"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
	"github.com/trellis-garden/trellis/internal/admission"
)

func shootWebhooks(garden admission.Garden, options Options) []admission.Webhook {
	defaulting := admission.ShootDefaults(Type, options.setDefaults)
	// The network's own webhook sets the overlay of new shoots.
	defaulting.Reinvoked = true
	return []admission.Webhook{admission.Shoots[profileConfig]{
		Type: Type, Cloud: "AWS", Garden: garden,
		DecodeProfile:   awsv1alpha1.DecodeCloudProfileConfig,
		NeedsValidation: validation.ShootNeedsValidation,
		Validate:        validateShoot,
		FeatureGates:    featureGates,
	}.Webhook(), defaulting}
}

func validateShoot(_ context.Context, shoot, old *gardencorev1beta1.Shoot, profile admission.ShootProfile[profileConfig]) (field.ErrorList, error) {
	return validation.ValidateShoot(shoot, old, validation.ShootValidationContext{Profile: profile.Config, Spec: profile.Spec}), nil
}

func featureGates(controlPlaneConfig *runtime.RawExtension) map[string]bool {
	config, err := awsv1alpha1.DecodeStoredControlPlaneConfig(controlPlaneConfig)
	if err != nil || config.CloudControllerManager == nil {
		return nil
	}
	return config.CloudControllerManager.FeatureGates
}
