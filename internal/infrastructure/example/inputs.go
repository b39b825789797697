package example

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	"github.com/trellis-garden/trellis/apis/example/validation"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/fielderrors"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

func configPath() *field.Path  { return field.NewPath("spec", "providerConfig") }
func profilePath() *field.Path { return field.NewPath("cloudProfile", "spec", "providerConfig") }

// decodeConfig returns the user's configuration, or its errors.
func decodeConfig(shoot *infrastructure.Shoot) (*v1alpha1.InfrastructureConfig, field.ErrorList) {
	config, err := v1alpha1.DecodeInfrastructureConfig(shoot.Infrastructure.Spec.ProviderConfig)
	if err != nil {
		return nil, field.ErrorList{field.Invalid(configPath(), field.OmitValueType{}, err.Error())}
	}
	return config, validation.ValidateInfrastructureConfig(config, configPath())
}

// decodeCloudProfile returns the landscape admin's configuration, or its errors.
func decodeCloudProfile(shoot *infrastructure.Shoot) (*v1alpha1.CloudProfileConfig, field.ErrorList) {
	profile, err := v1alpha1.DecodeCloudProfileConfig(shoot.Cluster.CloudProfile.Spec.ProviderConfig)
	if err != nil {
		return nil, field.ErrorList{field.Invalid(profilePath(), field.OmitValueType{}, err.Error())}
	}
	return profile, validation.ValidateCloudProfileConfig(profile, profilePath())
}

// configurationProblems converts field errors to one error.
func configurationProblems(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return cloud.Errorf(cloud.Configuration, "the configuration cannot be used: %w", fielderrors.Error(errs))
}
