package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// DataPlane is the part of the data plane that determines whether it can change.
type DataPlane struct {
	// IPAM is the effective ipam.type.
	IPAM string
	// Backend is the effective backend.
	Backend v1alpha1.Backend
	// Native is true if no packets are encapsulated.
	Native bool
	// IPv6 is true if pods have IPv6 addresses.
	IPv6 bool
}

// routedExternally reports whether nodes neither encapsulate packets nor distribute routes.
func (p DataPlane) routedExternally() bool { return p.Native && p.Backend == v1alpha1.BackendNone }

// Change is a change from one data plane to another, in a shoot with nodes. From is zero if there is none yet.
type Change struct {
	From, To DataPlane
	// CloudRoutes is true if after the change the cloud routes to pods, which has routes for the ranges of nodes only.
	CloudRoutes bool
	// NoPodRoutes is true if IPv6 is added without an overlay setting: its packets are not encapsulated, and no component creates
	// routes to pods after the change.
	NoPodRoutes bool
}

// Validate returns why the change is not possible, or nil. Everything else may change: host-local to calico-ipam, for which Calico has an
// upgrade; the overlay on, off and away; backend, pools and modes; VXLAN on and off; the eBPF data plane; WireGuard; Typha; the ways in
// which nodes find their addresses; MTU, scaling and the optional parts. What cannot change at once changes in stages in the controller.
// Gardener validates changes of spec.networking, such as the families.
func (c Change) Validate() *field.Error {
	const was = v1alpha1.IPAMCalico
	switch {
	case c.NoPodRoutes && !c.From.routedExternally():
		return field.Forbidden(familiesPath(), "cannot get a second family while nobody would make routes: with IPv6 packets go without a tunnel, and the "+
			"cloud is told to route them only where spec.networking.providerConfig.overlay.enabled is false: set it, and then add the family")
	case c.From.IPAM == was && c.To.IPAM != was:
		return field.Forbidden(configPath().Child("ipam", "type"), "cannot go from calico-ipam back to host-local, which would give away addresses that pods "+
			"have: set it to calico-ipam, or create a new shoot")
	case c.To.IPAM == was && c.To.IPv6:
		return field.Forbidden(familiesPath(), "cannot contain IPv6 in a shoot whose pods have addresses of calico-ipam "+
			"(spec.networking.providerConfig.ipam.type): leave IPv6 out, or create a new shoot")
	case c.To.IPAM == was && c.CloudRoutes && (c.From.IPAM != was || !c.From.routedExternally()):
		return field.Forbidden(configPath().Child("overlay", "enabled"), "cannot be false in a shoot whose pods have addresses of calico-ipam "+
			"(spec.networking.providerConfig.ipam.type), to which the cloud knows no routes: set it to true, or, if all nodes are in one subnet, "+
			"set spec.networking.providerConfig.overlay.createPodRoutes to true")
	default:
		return nil
	}
}

// changeOf returns the change from an effective configuration, nil for none, to another one. cloudRoutes reports whether the cloud can have
// routes to pods.
func changeOf(before, after *v1alpha1.NetworkConfig, cloudRoutes bool) Change {
	c := Change{To: dataPlaneOf(after)}
	c.CloudRoutes = cloudRoutes && after.Overlay != nil && !after.Overlay.Enabled && c.To.Backend == v1alpha1.BackendNone
	if before == nil {
		return c
	}
	c.From = dataPlaneOf(before)
	c.NoPodRoutes = !c.From.IPv6 && c.To.IPv6 && after.Overlay == nil && c.To.routedExternally() && !c.CloudRoutes
	// Families that are added or removed have no packets in transit.
	if before.IPv4 == nil || after.IPv4 == nil {
		c.From.Native = c.To.Native
	}
	return c
}

func dataPlaneOf(effective *v1alpha1.NetworkConfig) DataPlane {
	return DataPlane{
		IPAM: effective.IPAM.Type, Backend: *effective.Backend,
		Native: effective.IPv4 == nil || !effective.IPv4.Mode.Encapsulates(), // packets of IPv6 are never wrapped
		IPv6:   effective.IPv6 != nil,
	}
}
