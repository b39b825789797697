package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// ValidateNetworkConfigUpdate checks that nothing changes that cannot change while there are nodes. That is one thing only:
// a shoot does not go back from calico-ipam to host-local, since pods would keep addresses that host-local gives away anew.
//
// Everything else may change: host-local to calico-ipam, for which Calico has an upgrade; the overlay on, off and away; backend, pools
// and modes; VXLAN on and off; the eBPF data plane; WireGuard; Typha; the ways in which nodes find their addresses; MTU,
// scaling and the optional parts. What cannot change at once changes in stages, which the controller sees to. What
// spec.networking may change, such as the families, is Gardener's to say.
//
// What VXLAN brings unasked counts like what was asked for, so the context matters; its families are the shoot's.
func ValidateNetworkConfigUpdate(oldConfig, newConfig *v1alpha1.NetworkConfig, context v1alpha1.DefaultingContext, fldPath *field.Path) field.ErrorList {
	before, _ := oldConfig.Default(context)
	context.DeployedIPAM = before.IPAM.Type
	after, _ := newConfig.Default(context)
	if before.IPAM.Type == v1alpha1.IPAMCalico && after.IPAM.Type == v1alpha1.IPAMHostLocal {
		return field.ErrorList{field.Forbidden(fldPath.Child("ipam", "type"),
			"a shoot does not go back from calico-ipam to host-local: set it to calico-ipam, or create a new shoot")}
	}
	return nil
}
