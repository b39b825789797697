package validation

import (
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/networking"
)

// ServiceRoutingRemedy tells users how to let gardenet route Services.
const ServiceRoutingRemedy = "set spec.networking.providerConfig.serviceRouting.enabled to true"

// ValidateServiceRouting checks that either kube-proxy or gardenet routes Services.
//
// A mode of kube-proxy does not contradict kube-proxy being disabled: Gardener gives it a default even then. gardenet routes Services in one way, and works with all
// modes of an enabled kube-proxy.
func ValidateServiceRouting(config *v1alpha1.NetworkConfig, kubeProxy *gardencorev1beta1.KubeProxyConfig) field.ErrorList {
	proxied, routed := kubeProxy == nil || kubeProxy.Enabled == nil || *kubeProxy.Enabled, routesServices(config)
	switch {
	case !proxied && !routed:
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "kubernetes", "kubeProxy", "enabled"),
			networking.KubeProxyRequiredMessage(networking.Gardenet, ServiceRoutingRemedy))}
	case proxied && routed:
		return field.ErrorList{RoutedTwice()}
	}
	return nil
}

// RoutedTwice is the error for a shoot with kube-proxy in which gardenet is to route Services, too.
func RoutedTwice() *field.Error {
	return field.Forbidden(configPath().Child("serviceRouting", "enabled"),
		"kube-proxy routes Services already: set it to false, or spec.kubernetes.kubeProxy.enabled to false")
}

func routesServices(config *v1alpha1.NetworkConfig) bool {
	routing := config.ServiceRouting
	return routing != nil && routing.Enabled != nil && *routing.Enabled
}

// ValidateShoot checks the shoot's requirements besides the configuration: its IP families, which the infrastructure must support.
func ValidateShoot(spec *gardencorev1beta1.ShootSpec, infrastructure networking.Infrastructure) field.ErrorList {
	var errs field.ErrorList
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
