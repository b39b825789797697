package network

import (
	"fmt"
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/networking"
)

// disagreements says what the shoot asks of its network that the plugin, or the infrastructure, cannot give.
func disagreements(shoot *Shoot, can Capabilities) field.ErrorList {
	var problems field.ErrorList
	spec := field.NewPath("spec")
	if !shoot.KubeProxy.Enabled && !can.RoutesServices {
		problems = append(problems, field.Forbidden(spec.Child("kubernetes", "kubeProxy", "enabled"),
			networking.WithoutKubeProxy(shoot.Network.Spec.Type, can.ServiceRouting)))
	}
	families := spec.Child("networking", "ipFamilies")
	wantsIPv6 := slices.Contains(shoot.Families, extensionsv1alpha1.IPFamilyIPv6)
	switch {
	case wantsIPv6 && !shoot.Infrastructure.IPv6:
		problems = append(problems, field.Forbidden(families, shoot.Infrastructure.WithoutIPv6()))
	case wantsIPv6 && !can.IPv6:
		problems = append(problems, field.Forbidden(families, fmt.Sprintf(
			"network type %q, as it is configured, knows no IPv6: leave it out", shoot.Network.Spec.Type)))
	case len(shoot.Families) > 1 && !can.DualStack:
		problems = append(problems, field.Forbidden(families, fmt.Sprintf(
			"network type %q, as it is configured, serves one family only: choose one", shoot.Network.Spec.Type)))
	}
	return problems
}
