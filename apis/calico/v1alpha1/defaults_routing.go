package v1alpha1

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// Reasons of overrides.
const (
	reasonOverlayOn  = "overlay.enabled is true"
	reasonOverlayOff = "overlay.enabled is false"
	reasonPodRoutes  = "overlay.enabled is false and overlay.createPodRoutes true"
	reasonNodesRoute = "overlay.enabled is false, and nodes make routes on this infrastructure unless overlay.createPodRoutes is false"
	reasonIPv6       = "packets of shoots with IPv6 are not wrapped"
	reasonNoTunnel   = "the infrastructure does not let packets that are wrapped so through"
	reasonNoBackend  = "backend is none"
	reasonVXLAN      = "vxlan.enabled is true"
	reasonVXLANModes = "VXLAN pools know Always and Never"
	reasonHostLocal  = "host-local has no addresses for the tunnels of VXLAN"
	reasonNoIPv6IPAM = "VXLAN needs calico-ipam, which does not serve shoots with IPv6"
	reasonUpstream   = "the existing extension has deployed IP-in-IP, and that stays until vxlan.enabled is true"
	reasonIPv4Only   = "IP-in-IP carries IPv4 alone"
	reasonOnlyBird   = "nobody else makes routes for IP-in-IP"
)

// routing sets overlay, backend, pools and modes, in the order of their precedence.
func (d *defaulting) routing() {
	config := d.config
	d.overlay()
	d.pool()
	if config.Overlay != nil {
		d.applyOverlaySwitch()
	} else {
		d.applyWithoutOverlaySwitch()
	}
	if d.IPIP {
		fill(&config.Backend, DefaultBackend)
	}
	pool := *config.IPv4.Pool
	fill(&config.Backend, backendOf(pool))
	fill(&config.IPv4.Mode, DefaultModeIPv4)

	override(d, "ipv6.pool", &config.IPv6.Pool, DefaultPoolIPv6, reasonIPv4Only)
	if d.has(gardencorev1beta1.IPFamilyIPv6) {
		// VXLAN needs addresses for its tunnels, which only calico-ipam allocates, and not with IPv6.
		override(d, "ipv6.mode", &config.IPv6.Mode, DefaultModeIPv6, reasonIPv6)
	}
	vxlan := d.has(gardencorev1beta1.IPFamilyIPv4) && pool == PoolVXLAN
	if fill(&config.VXLAN, VXLAN{Enabled: vxlan && config.IPv4.Mode.Encapsulates()}); !vxlan {
		replace(d, "vxlan.enabled", &config.VXLAN.Enabled, false, "no pool is one of VXLAN")
	}
	d.upstreamDNS()
}

// applyOverlaySwitch sets the routing by the overlay setting.
func (d *defaulting) applyOverlaySwitch() {
	switch overlay := d.config.Overlay; {
	case overlay.Enabled:
		d.setBackendAndMode(backendOf(*d.config.IPv4.Pool), PoolModeAlways, reasonOverlayOn)
	case *overlay.CreatePodRoutes && d.podRoutesGiven:
		d.setBackendAndMode(BackendBird, PoolModeNever, reasonPodRoutes)
	case *overlay.CreatePodRoutes:
		d.setBackendAndMode(BackendBird, PoolModeNever, reasonNodesRoute)
	default:
		d.setBackendAndMode(BackendNone, PoolModeNever, reasonOverlayOff)
	}
}

// applyWithoutOverlaySwitch sets the routing by all other fields.
func (d *defaulting) applyWithoutOverlaySwitch() {
	config, pool := d.config, *d.config.IPv4.Pool
	switch {
	case d.has(gardencorev1beta1.IPFamilyIPv6):
		d.setBackendAndMode(BackendNone, PoolModeNever, reasonIPv6)
	case !d.allows(pool):
		d.setBackendAndMode(BackendNone, PoolModeNever, reasonNoTunnel)
	case config.Backend != nil && *config.Backend == BackendNone:
		override(d, "ipv4.mode", &config.IPv4.Mode, PoolModeNever, reasonNoBackend)
	case pool == PoolVXLAN && config.IPv4.Mode.Encapsulates():
		override(d, "ipv4.mode", &config.IPv4.Mode, PoolModeAlways, reasonVXLANModes)
	case pool == PoolIPIP && config.Backend != nil && (config.IPv4.Mode == nil || config.IPv4.Mode.Encapsulates()):
		override(d, "backend", &config.Backend, BackendBird, reasonOnlyBird)
	}
}

// setBackendAndMode sets backend and mode. Without IPv4 the mode has no effect.
func (d *defaulting) setBackendAndMode(backend Backend, mode PoolMode, reason string) {
	override(d, "backend", &d.config.Backend, backend, reason)
	if d.has(gardencorev1beta1.IPFamilyIPv4) {
		override(d, "ipv4.mode", &d.config.IPv4.Mode, mode, reason)
	}
}

func backendOf(pool Pool) Backend {
	if pool == PoolVXLAN {
		return BackendVXLAN
	}
	return BackendBird
}

// allows reports whether the encapsulation is possible: the infrastructure must allow the packets, and VXLAN tunnels must get
// addresses, which calico-ipam allocates only in shoots with IPv4 only. Without IPv4 there are no tunnels. Invalid pools are left to
// validation.
func (d *defaulting) allows(pool Pool) bool {
	switch pool {
	case PoolIPIP:
		return d.IPIP
	case PoolVXLAN:
		return d.VXLAN && (!d.has(gardencorev1beta1.IPFamilyIPv4) || !d.has(gardencorev1beta1.IPFamilyIPv6))
	default:
		return false
	}
}

// encapsulationRefusedReason returns why the encapsulation is not possible.
func (d *defaulting) encapsulationRefusedReason(pool Pool) string {
	if pool == PoolVXLAN && d.VXLAN {
		return reasonNoIPv6IPAM
	}
	return reasonNoTunnel
}

// overlay sets the overlay setting to the effective value, and removes it if the user set none.
func (d *defaulting) overlay() {
	config := d.config
	encapsulationAllowed := d.allows(PoolIPIP) || d.allows(PoolVXLAN)
	if config.Overlay == nil && d.DefaultOverlay != nil && !config.SetsEncapsulation() && !d.has(gardencorev1beta1.IPFamilyIPv6) {
		config.Overlay = &Overlay{Enabled: *d.DefaultOverlay && encapsulationAllowed}
	}
	if config.Overlay == nil {
		return
	}

	overlay := config.Overlay
	if !encapsulationAllowed {
		replace(d, "overlay.enabled", &overlay.Enabled, false, d.encapsulationRefusedReason(PoolVXLAN))
	}
	if overlay.Enabled {
		override(d, "overlay.createPodRoutes", &overlay.CreatePodRoutes, false, reasonOverlayOn)
	}
	d.podRoutesGiven = overlay.CreatePodRoutes != nil
	fill(&overlay.CreatePodRoutes, d.PodRoutesByPlugin)
}

// pool sets the encapsulation of IPv4 packets.
func (d *defaulting) pool() {
	config := d.config
	overlayOn := config.Overlay != nil && config.Overlay.Enabled
	switch {
	case overlayOn && d.vxlanWanted && d.allows(PoolVXLAN):
		override(d, "ipv4.pool", &config.IPv4.Pool, PoolVXLAN, reasonVXLAN)
	case overlayOn && d.DeployedByUpstreamAsIPIP && d.allows(PoolIPIP):
		override(d, "ipv4.pool", &config.IPv4.Pool, PoolIPIP, reasonUpstream)
	case d.vxlanWanted, config.Backend != nil && *config.Backend == BackendVXLAN:
		fill(&config.IPv4.Pool, PoolVXLAN)
	default:
		fill(&config.IPv4.Pool, DefaultPoolIPv4)
	}
	if !overlayOn || d.allows(*config.IPv4.Pool) {
		return
	}
	// One of the two is possible, otherwise overlay would be off.
	other := PoolIPIP
	if d.allows(PoolVXLAN) {
		other = PoolVXLAN
	}
	override(d, "ipv4.pool", &config.IPv4.Pool, other, d.encapsulationRefusedReason(*config.IPv4.Pool))
}

// upstreamDNS sets source NAT to the nodes' DNS servers, which pods cannot reach without the overlay.
func (d *defaulting) upstreamDNS() {
	config := d.config
	overlayOff := config.Overlay != nil && !config.Overlay.Enabled
	fill(&config.SnatToUpstreamDNS, SnatToUpstreamDNS{Enabled: overlayOff})
	if !overlayOff {
		replace(d, "snatToUpstreamDNS.enabled", &config.SnatToUpstreamDNS.Enabled, false, "it counts only where overlay.enabled is false")
	}
}
