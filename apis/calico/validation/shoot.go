package validation

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// ValidateShoot checks what a shoot asks of Calico besides the configuration: its IP families, and that somebody routes its
// Services. A shoot without workers has no networking and no Calico.
//
// A mode of kube-proxy does not contradict kube-proxy being disabled: Gardener gives it a default even then. Every mode of
// a kube-proxy that is enabled goes with every data plane.
func ValidateShoot(config *v1alpha1.NetworkConfig, spec *gardencorev1beta1.ShootSpec) field.ErrorList {
	var errs field.ErrorList
	if spec.Networking != nil {
		errs = append(errs, ValidateIPFamilies(spec.Networking.IPFamilies)...)
	}
	proxy := spec.Kubernetes.KubeProxy
	disabled := proxy != nil && proxy.Enabled != nil && !*proxy.Enabled
	if disabled && (config.EbpfDataplane == nil || !config.EbpfDataplane.Enabled) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "kubernetes", "kubeProxy", "enabled"),
			"without kube-proxy nobody routes Services: set spec.networking.providerConfig.ebpfDataplane.enabled to true, or leave kube-proxy enabled"))
	}
	return errs
}
