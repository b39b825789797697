package openstack

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/admission"
)

type (
	profileConfig = openstackv1alpha1.CloudProfileConfig
	parentProfile = admission.ParentProfile[profileConfig]
)

func cloudProfileWebhooks(garden admission.Garden) []admission.Webhook {
	return admission.CloudProfiles[profileConfig]{
		Type: Type, Garden: garden,
		Strictly: openstackv1alpha1.DecodeCloudProfileConfigStrictly, Leniently: openstackv1alpha1.DecodeCloudProfileConfig,
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
		Merge:   openstackv1alpha1.MergeProviderConfigs,
	}.Webhooks()
}
