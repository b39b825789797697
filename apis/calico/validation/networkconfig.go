package validation

import (
	"slices"
	"strconv"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// ValidateNetworkConfig rejects what can never be deployed in a shoot with the given families
// (Shoot.spec.networking.ipFamilies, whether or not they are deployed yet). It accepts what upstream accepts, unless
// Calico could not work with it.
func ValidateNetworkConfig(config *v1alpha1.NetworkConfig, families []gardencorev1beta1.IPFamily, fldPath *field.Path) field.ErrorList {
	errs := validateChoices(config, fldPath)
	errs = append(errs, validateFamilies(config, families, fldPath)...)
	errs = append(errs, validateIPAM(config.IPAM, families, fldPath.Child("ipam"))...)
	errs = append(errs, validatePools(config, fldPath)...)
	errs = append(errs, validateDetections(config, fldPath)...)
	if config.VethMTU != nil {
		errs = append(errs, validateMTU(*config.VethMTU, fldPath.Child("vethMTU"))...)
	}
	errs = append(errs, validateResources(config.AutoScaling, fldPath.Child("autoScaling", "resources"))...)
	return append(errs, validateKubeAPIServerEndpoints(config.KubeAPIServerEndpoints, fldPath.Child("kubeAPIServerEndpoints"))...)
}

// validateChoices checks the enum fields.
func validateChoices(config *v1alpha1.NetworkConfig, fldPath *field.Path) field.ErrorList {
	errs := oneOf(config.Backend, fldPath.Child("backend"), v1alpha1.BackendBird, v1alpha1.BackendNone, v1alpha1.BackendVXLAN)
	errs = append(errs, oneOf(config.IPIP, fldPath.Child("ipip"), poolModes()...)...)
	if ipv4 := config.IPv4; ipv4 != nil {
		path := fldPath.Child("ipv4")
		errs = append(errs, oneOf(ipv4.Pool, path.Child("pool"), v1alpha1.PoolIPIP, v1alpha1.PoolVXLAN)...)
		errs = append(errs, oneOf(ipv4.Mode, path.Child("mode"), poolModes()...)...)
	}
	if ipv6 := config.IPv6; ipv6 != nil {
		path := fldPath.Child("ipv6")
		errs = append(errs, oneOf(ipv6.Pool, path.Child("pool"), v1alpha1.PoolIPIP, v1alpha1.PoolVXLAN)...)
		errs = append(errs, oneOf(ipv6.Mode, path.Child("mode"), poolModes()...)...)
	}
	if scaling := config.AutoScaling; scaling != nil && scaling.Mode != "" {
		errs = append(errs, oneOf(&scaling.Mode, fldPath.Child("autoScaling", "mode"), v1alpha1.AutoscalingModeClusterProportional,
			v1alpha1.AutoscalingModeVPA, v1alpha1.AutoscalingModeStatic)...)
	}
	return append(errs, oneOf(config.ServiceLoopPrevention, fldPath.Child("serviceLoopPrevention"), v1alpha1.ServiceLoopPreventionDisabled,
		v1alpha1.ServiceLoopPreventionDrop, v1alpha1.ServiceLoopPreventionReject)...)
}

func poolModes() []v1alpha1.PoolMode {
	return []v1alpha1.PoolMode{v1alpha1.PoolModeAlways, v1alpha1.PoolModeNever, v1alpha1.PoolModeCrossSubnet, v1alpha1.PoolModeOff}
}

// validateFamilies checks that no field is set for a family that the shoot does not have.
func validateFamilies(config *v1alpha1.NetworkConfig, families []gardencorev1beta1.IPFamily, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	const remedy = "remove the field, or add the family to spec.networking.ipFamilies"
	if !has(families, gardencorev1beta1.IPFamilyIPv4) {
		if config.IPv4 != nil {
			errs = append(errs, field.Forbidden(fldPath.Child("ipv4"), "the shoot has no IPv4: "+remedy))
		}
		if config.IPIP != nil {
			errs = append(errs, field.Forbidden(fldPath.Child("ipip"), "the shoot has no IPv4: "+remedy))
		}
	}
	if !has(families, gardencorev1beta1.IPFamilyIPv6) && config.IPv6 != nil {
		errs = append(errs, field.Forbidden(fldPath.Child("ipv6"), "the shoot has no IPv6: "+remedy))
	}
	return errs
}

// ValidateIPFamilies checks Shoot.spec.networking.ipFamilies. None means IPv4.
func ValidateIPFamilies(families []gardencorev1beta1.IPFamily) field.ErrorList {
	const ipv4, ipv6 = gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6
	for _, allowed := range [][]gardencorev1beta1.IPFamily{{}, {ipv4}, {ipv6}, {ipv4, ipv6}, {ipv6, ipv4}} {
		if slices.Equal(families, allowed) {
			return nil
		}
	}
	return field.ErrorList{field.Invalid(familiesPath(), families,
		"use [IPv4], [IPv6], [IPv4, IPv6] or [IPv6, IPv4]")}
}

func has(families []gardencorev1beta1.IPFamily, family gardencorev1beta1.IPFamily) bool {
	if len(families) == 0 {
		return family == gardencorev1beta1.IPFamilyIPv4
	}
	return slices.Contains(families, family)
}

func validateIPAM(ipam *v1alpha1.IPAM, families []gardencorev1beta1.IPFamily, path *field.Path) field.ErrorList {
	if ipam == nil {
		return nil
	}
	var errs field.ErrorList
	if ipam.Type != "" {
		errs = append(errs, oneOf(&ipam.Type, path.Child("type"), v1alpha1.IPAMHostLocal, v1alpha1.IPAMCalico)...)
	}
	if ipam.Type == v1alpha1.IPAMCalico && has(families, gardencorev1beta1.IPFamilyIPv6) {
		errs = append(errs, field.Invalid(path.Child("type"), ipam.Type,
			"is for shoots with IPv4 alone: use host-local, or leave IPv6 out of spec.networking.ipFamilies"))
	}
	if ipam.CIDR != nil && !ipam.CIDR.IsPodCIDR() {
		if _, ok := parseRange(string(*ipam.CIDR)); !ok {
			errs = append(errs, field.Invalid(path.Child("cidr"), *ipam.CIDR, "write usePodCIDR, or a range in CIDR notation, like 100.96.0.0/11"))
		}
	}
	return errs
}

// validatePools checks that VXLAN pools have a mode that they support.
func validatePools(config *v1alpha1.NetworkConfig, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(pool *v1alpha1.Pool, mode *v1alpha1.PoolMode, path *field.Path) {
		if pool == nil || *pool != v1alpha1.PoolVXLAN || mode == nil {
			return
		}
		if *mode == v1alpha1.PoolModeCrossSubnet || *mode == v1alpha1.PoolModeOff {
			errs = append(errs, field.Invalid(path, *mode, "VXLAN pools know Always and Never: use one of them"))
		}
	}
	if ipv4 := config.IPv4; ipv4 != nil {
		check(ipv4.Pool, ipv4.Mode, fldPath.Child("ipv4", "mode"))
	}
	if ipv6 := config.IPv6; ipv6 != nil {
		check(ipv6.Pool, ipv6.Mode, fldPath.Child("ipv6", "mode"))
	}
	return errs
}

// validateMTU requires a number that is valid in files of any syntax.
func validateMTU(text string, path *field.Path) field.ErrorList {
	const digits = 10
	if _, err := strconv.ParseUint(text, 10, 31); err != nil || len(text) > digits {
		return field.ErrorList{field.Invalid(path, text, `write a number of bytes in quotes, like "1450", or "0" to let Calico find it out`)}
	}
	return nil
}
