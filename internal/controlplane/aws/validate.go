package aws

import (
	"net/netip"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/validation"
)

// validate checks the configuration. What was accepted once, maybe by upstream's extension, goes on being accepted where a rule of ours would break a shoot
// that lives.
func (in *inputs) validate() field.ErrorList {
	before := in.config
	if in.isNew {
		before = nil
	}
	errs := validation.ValidateControlPlaneConfig(in.config, before, configPath())
	if in.isNew {
		errs = append(errs, in.featureGates().Validate(configPath().Child("cloudControllerManager", "featureGates"))...)
	}
	errs = append(errs, in.validateAnnotations()...)
	return append(errs, in.validatePodRanges()...)
}

// validatePodRanges checks what the route controller needs to know: its flag takes one range of IPv4.
func (in *inputs) validatePodRanges() field.ErrorList {
	path := field.NewPath("shoot", "spec", "networking", "pods")
	if !in.programsRoutes() {
		return nil
	}
	for _, text := range in.podRanges {
		if _, err := netip.ParsePrefix(text); err != nil {
			return field.ErrorList{field.Invalid(path, text, "give a range in CIDR notation, like 100.96.0.0/11")}
		}
	}
	if len(in.podRangesOf(gardencorev1beta1.IPFamilyIPv4)) == 0 {
		return field.ErrorList{field.Required(path, "give the range of the pods: without it nobody can program routes to them")}
	}
	return nil
}
