package validation

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/networking"
)

// ServiceRouting tells users how to make Calico route Services without kube-proxy.
const ServiceRouting = "set spec.networking.providerConfig.ebpfDataplane.enabled to true"

// RoutesServices reports whether Calico routes Services without kube-proxy.
func RoutesServices(config *v1alpha1.NetworkConfig) bool {
	return config.EbpfDataplane != nil && config.EbpfDataplane.Enabled
}

// ValidateShoot checks the shoot's requirements besides the configuration: its IP families, which the infrastructure must support, and that
// its Services are routed. A shoot without workers has no networking and no Calico.
//
// A mode of kube-proxy does not contradict kube-proxy being disabled: Gardener gives it a default even then. Every mode of
// an enabled kube-proxy works with every data plane.
func ValidateShoot(config *v1alpha1.NetworkConfig, spec *gardencorev1beta1.ShootSpec, infrastructure networking.Infrastructure) field.ErrorList {
	var errs field.ErrorList
	if proxy := spec.Kubernetes.KubeProxy; proxy != nil && proxy.Enabled != nil && !*proxy.Enabled && !RoutesServices(config) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "kubernetes", "kubeProxy", "enabled"),
			networking.KubeProxyRequiredMessage(networking.Calico, ServiceRouting)))
	}
	if spec.Networking == nil {
		return errs
	}
	if has(spec.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6) && !infrastructure.IPv6 {
		errs = append(errs, field.Forbidden(familiesPath(), infrastructure.IPv6UnsupportedMessage()))
	}
	return append(errs, ValidateIPFamilies(spec.Networking.IPFamilies)...)
}

func networkingPath() *field.Path { return field.NewPath("spec", "networking") }

func configPath() *field.Path { return networkingPath().Child("providerConfig") }

func familiesPath() *field.Path { return networkingPath().Child("ipFamilies") }
