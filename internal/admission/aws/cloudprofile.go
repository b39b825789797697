package aws

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
	"github.com/trellis-garden/trellis/internal/admission"
)

type (
	profileConfig = awsv1alpha1.CloudProfileConfig
	parentProfile = admission.ParentProfile[profileConfig]
)

func cloudProfileWebhooks(garden admission.Garden) []admission.Webhook {
	return admission.CloudProfiles[profileConfig]{
		Type: Type, Garden: garden,
		Strictly: awsv1alpha1.DecodeCloudProfileConfigStrictly, Leniently: awsv1alpha1.DecodeCloudProfileConfig,
		DecodingErrors: validation.DecodingErrors,
		Validate: func(config *profileConfig, spec *gardencorev1beta1.CloudProfileSpec, path *field.Path) admission.Result {
			return admission.Result{
				Errors: validation.ValidateCloudProfileConfig(config, spec, path), Warnings: validation.CloudProfileWarnings(config, spec, path),
			}
		},
		ValidateNamespaced: func(config *profileConfig, spec *gardencorev1beta1.NamespacedCloudProfileSpec, parent parentProfile, path *field.Path) field.ErrorList {
			return validation.ValidateNamespacedCloudProfileConfig(config, spec, validation.Parent(parent), path)
		},
		Flavors: (*profileConfig).CapabilityFlavors,
		Merge:   awsv1alpha1.MergeProviderConfigs,
	}.Webhooks()
}
