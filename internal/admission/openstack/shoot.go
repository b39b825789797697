package openstack

import (
	"context"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/admission"
)

func shootWebhooks(garden admission.Garden, options Options) []admission.Webhook {
	webhooks := []admission.Webhook{admission.Shoots[profileConfig]{
		Type: Type, Cloud: "OpenStack", Garden: garden,
		DecodeProfile:   openstackv1alpha1.DecodeCloudProfileConfig,
		NeedsValidation: validation.ShootNeedsValidation,
		Validate:        shootValidator{garden}.validate,
		FeatureGates:    featureGates,
	}.Webhook()}
	if options.NodeLocalDNSWithoutTCP {
		webhooks = append(webhooks, admission.ShootDefaults(Type, func(_ context.Context, shoot, _ *gardencorev1beta1.Shoot) error {
			admission.SetNodeLocalDNSWithoutTCP(shoot)
			return nil
		}))
	}
	return webhooks
}

func featureGates(controlPlaneConfig *runtime.RawExtension) map[string]bool {
	config, err := openstackv1alpha1.DecodeStoredControlPlaneConfig(controlPlaneConfig)
	if err != nil || config.CloudControllerManager == nil {
		return nil
	}
	return config.CloudControllerManager.FeatureGates
}

// shootValidator validates Shoots.
type shootValidator struct {
	garden admission.Garden
}

func (s shootValidator) validate(
	ctx context.Context, shoot, old *gardencorev1beta1.Shoot, profile admission.ShootProfile[profileConfig],
) (field.ErrorList, error) {
	in := validation.ShootValidationContext{Profile: profile.Config, Spec: profile.Spec}
	var err error
	if profile.Config != nil {
		in.Domain, err = s.domain(ctx, shoot, profile.Config)
	}
	return validation.ValidateShoot(shoot, old, in), err
}

// domain returns the name of the Keystone domain of the shoot's project. It is empty if the credentials do not contain it, and if
// the profile does not depend on it: then credentials are not read.
func (s shootValidator) domain(ctx context.Context, shoot *gardencorev1beta1.Shoot, profile *profileConfig) (string, error) {
	if !slices.ContainsFunc(profile.Constraints.FloatingPools, func(pool openstackv1alpha1.FloatingPool) bool { return pool.Domain != nil }) {
		return "", nil
	}
	credentials, err := s.garden.CredentialsOf(ctx, shoot)
	if err != nil {
		return "", err
	}
	return validation.DomainName(credentials), nil
}
