package network

import (
	"fmt"
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/networking"
)

// incompatibilities returns what the shoot requires of its network and the plugin or the infrastructure does not support.
func incompatibilities(shoot *Shoot, capabilities Capabilities) field.ErrorList {
	var problems field.ErrorList
	spec := field.NewPath("spec")
	if !shoot.KubeProxy.Enabled && !capabilities.RoutesServices {
		problems = append(problems, field.Forbidden(spec.Child("kubernetes", "kubeProxy", "enabled"),
			networking.KubeProxyRequiredMessage(shoot.Network.Spec.Type, capabilities.ServiceRouting)))
	}
	families := spec.Child("networking", "ipFamilies")
	wantsIPv6 := slices.Contains(shoot.Families, extensionsv1alpha1.IPFamilyIPv6)
	switch {
	case wantsIPv6 && !shoot.Infrastructure.IPv6:
		problems = append(problems, field.Forbidden(families, shoot.Infrastructure.IPv6UnsupportedMessage()))
	case wantsIPv6 && !capabilities.IPv6:
		problems = append(problems, field.Forbidden(families, fmt.Sprintf(
			"network type %q, as it is configured, does not support IPv6: leave it out", shoot.Network.Spec.Type)))
	case len(shoot.Families) > 1 && !capabilities.DualStack:
		problems = append(problems, field.Forbidden(families, fmt.Sprintf(
			"network type %q, as it is configured, serves one family only: choose one", shoot.Network.Spec.Type)))
	}
	return problems
}
