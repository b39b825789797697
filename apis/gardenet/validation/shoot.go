package validation

import (
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/networking"
)

// ValidateShoot checks the shoot's requirements besides the configuration: its IP families, which the infrastructure must support, and that its Services are routed.
//
// A mode of kube-proxy does not contradict kube-proxy being disabled: Gardener gives it a default even then. gardenet routes no Services in any mode, and works with
// all modes of an enabled kube-proxy.
func ValidateShoot(spec *gardencorev1beta1.ShootSpec, infrastructure networking.Infrastructure) field.ErrorList {
	var errs field.ErrorList
	if proxy := spec.Kubernetes.KubeProxy; proxy != nil && proxy.Enabled != nil && !*proxy.Enabled {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "kubernetes", "kubeProxy", "enabled"), networking.KubeProxyRequiredMessage(networking.Gardenet, "")))
	}
	if spec.Networking == nil {
		return errs
	}
	if has(spec.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6) && !infrastructure.IPv6 {
		errs = append(errs, field.Forbidden(familiesPath(), infrastructure.IPv6UnsupportedMessage()))
	}
	return append(errs, validateIPFamilies(spec.Networking.IPFamilies)...)
}

// validateIPFamilies checks Shoot.spec.networking.ipFamilies. None means IPv4.
func validateIPFamilies(families []gardencorev1beta1.IPFamily) field.ErrorList {
	const ipv4, ipv6 = gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6
	for _, allowed := range [][]gardencorev1beta1.IPFamily{{}, {ipv4}, {ipv6}, {ipv4, ipv6}, {ipv6, ipv4}} {
		if slices.Equal(families, allowed) {
			return nil
		}
	}
	return field.ErrorList{field.Invalid(familiesPath(), families, "use [IPv4], [IPv6], [IPv4, IPv6] or [IPv6, IPv4]")}
}

func has(families []gardencorev1beta1.IPFamily, family gardencorev1beta1.IPFamily) bool {
	if len(families) == 0 {
		return family == gardencorev1beta1.IPFamilyIPv4
	}
	return slices.Contains(families, family)
}

func networkingPath() *field.Path { return field.NewPath("spec", "networking") }

func configPath() *field.Path { return networkingPath().Child("providerConfig") }

func familiesPath() *field.Path { return networkingPath().Child("ipFamilies") }
