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
	if in.isNew {
		errs = append(errs, in.validateFamilies()...)
	}
	return append(errs, in.validatePodRanges()...)
}

// validateFamilies checks what pods and Services with addresses of IPv6 need. Shoots that live without it are reported (messages).
func (in *inputs) validateFamilies() field.ErrorList {
	if !in.hasFamily(gardencorev1beta1.IPFamilyIPv6) {
		return nil
	}
	var errs field.ErrorList
	if in.networkType != "" && !in.overlayOff {
		path := field.NewPath("shoot", "spec", "networking", "providerConfig", "overlay", "enabled")
		errs = append(errs, field.Required(path, "set it to false: addresses of IPv6 of pods are those of network interfaces, to which AWS routes; or leave IPv6 out of spec.networking.ipFamilies"))
	}
	if !in.balancesLoad() {
		errs = append(errs, field.Required(configPath().Child("loadBalancerController", "enabled"), noIPv6Balancers))
	}
	return errs
}

const noIPv6Balancers = "set it to true: without the aws-load-balancer-controller no Service of the type LoadBalancer gets an address of IPv6"

// messages report what a shoot lacks that a new one could not be created with, and packets that may not arrive.
func (in *inputs) messages() []string {
	messages := in.featureGates().Messages("cloudControllerManager.featureGates")
	if in.hasFamily(gardencorev1beta1.IPFamilyIPv6) && !in.balancesLoad() {
		messages = append(messages, "loadBalancerController.enabled: "+noIPv6Balancers)
	}
	if in.overlayOff && in.hasFamily(gardencorev1beta1.IPFamilyIPv4) && !in.programsRoutes() {
		messages = append(messages, "cloudControllerManager.useCustomRouteController: set it to true, unless somebody else programs routes to the pods of each node: "+
			"the overlay of the network is switched off")
	}
	return messages
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
