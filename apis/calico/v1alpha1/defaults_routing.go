package v1alpha1

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// Why something was overridden.
const (
	becauseOverlayOn  = "overlay.enabled is true"
	becauseOverlayOff = "overlay.enabled is false"
	becausePodRoutes  = "overlay.enabled is false and overlay.createPodRoutes true"
	becauseNodesRoute = "overlay.enabled is false, and nodes make routes on this infrastructure unless overlay.createPodRoutes is false"
	becauseIPv6       = "packets of shoots with IPv6 are not wrapped"
	becauseNoTunnel   = "the infrastructure does not let packets that are wrapped so through"
	becauseNoBackend  = "backend is none"
	becauseVXLAN      = "vxlan.enabled is true"
	becauseVXLANModes = "VXLAN pools know Always and Never"
	becauseHostLocal  = "host-local has no addresses for the tunnels of VXLAN"
	becauseNoIPv6IPAM = "VXLAN needs calico-ipam, which does not serve shoots with IPv6"
	becauseUpstream   = "the existing extension has deployed IP-in-IP, and that stays until vxlan.enabled is true"
	becauseIPv4Only   = "IP-in-IP carries IPv4 alone"
	becauseOnlyBird   = "nobody else makes routes for IP-in-IP"
)

// routing decides overlay, backend, pools and modes, in the order in which they outrank each other.
func (d *defaulting) routing() {
	config := d.config
	d.overlay()
	d.pool()
	if config.Overlay != nil {
		d.switched()
	} else {
		d.unswitched()
	}
	if d.IPIP {
		fill(&config.Backend, DefaultBackend)
	}
	pool := *config.IPv4.Pool
	fill(&config.Backend, backendOf(pool))
	fill(&config.IPv4.Mode, DefaultModeIPv4)

	override(d, "ipv6.pool", &config.IPv6.Pool, DefaultPoolIPv6, becauseIPv4Only)
	if d.has(gardencorev1beta1.IPFamilyIPv6) {
		// VXLAN needs addresses for its tunnels, which calico-ipam alone gives, and that not with IPv6.
		override(d, "ipv6.mode", &config.IPv6.Mode, DefaultModeIPv6, becauseIPv6)
	}
	vxlan := d.has(gardencorev1beta1.IPFamilyIPv4) && pool == PoolVXLAN
	if fill(&config.VXLAN, VXLAN{Enabled: vxlan && config.IPv4.Mode.Wraps()}); !vxlan {
		replace(d, "vxlan.enabled", &config.VXLAN.Enabled, false, "no pool is one of VXLAN")
	}
	d.upstreamDNS()
}

// switched lets the overlay switch decide.
func (d *defaulting) switched() {
	switch overlay := d.config.Overlay; {
	case overlay.Enabled:
		d.force(backendOf(*d.config.IPv4.Pool), PoolModeAlways, becauseOverlayOn)
	case *overlay.CreatePodRoutes && d.podRoutesGiven:
		d.force(BackendBird, PoolModeNever, becausePodRoutes)
	case *overlay.CreatePodRoutes:
		d.force(BackendBird, PoolModeNever, becauseNodesRoute)
	default:
		d.force(BackendNone, PoolModeNever, becauseOverlayOff)
	}
}

// unswitched lets everything else decide.
func (d *defaulting) unswitched() {
	config, pool := d.config, *d.config.IPv4.Pool
	switch {
	case d.has(gardencorev1beta1.IPFamilyIPv6):
		d.force(BackendNone, PoolModeNever, becauseIPv6)
	case !d.allows(pool):
		d.force(BackendNone, PoolModeNever, becauseNoTunnel)
	case config.Backend != nil && *config.Backend == BackendNone:
		override(d, "ipv4.mode", &config.IPv4.Mode, PoolModeNever, becauseNoBackend)
	case pool == PoolVXLAN && config.IPv4.Mode.Wraps():
		override(d, "ipv4.mode", &config.IPv4.Mode, PoolModeAlways, becauseVXLANModes)
	case pool == PoolIPIP && config.Backend != nil && (config.IPv4.Mode == nil || config.IPv4.Mode.Wraps()):
		override(d, "backend", &config.Backend, BackendBird, becauseOnlyBird)
	}
}

// force sets backend and mode. Without IPv4 nobody cares for the mode.
func (d *defaulting) force(backend Backend, mode PoolMode, because string) {
	override(d, "backend", &d.config.Backend, backend, because)
	if d.has(gardencorev1beta1.IPFamilyIPv4) {
		override(d, "ipv4.mode", &d.config.IPv4.Mode, mode, because)
	}
}

func backendOf(pool Pool) Backend {
	if pool == PoolVXLAN {
		return BackendVXLAN
	}
	return BackendBird
}

// allows reports whether packets can be wrapped so: the infrastructure must let them through, and the tunnels must get addresses, which
// calico-ipam has for those of VXLAN in shoots with IPv4 alone. Without IPv4 there are no tunnels. What is no pool at all is left to
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

// whyNot says why packets cannot be wrapped so.
func (d *defaulting) whyNot(pool Pool) string {
	if pool == PoolVXLAN && d.VXLAN {
		return becauseNoIPv6IPAM
	}
	return becauseNoTunnel
}

// overlay makes the switch say what will be, and leaves it out where there is none.
func (d *defaulting) overlay() {
	config := d.config
	passes := d.allows(PoolIPIP) || d.allows(PoolVXLAN)
	if config.Overlay == nil && d.DefaultOverlay != nil && !config.SaysWhatIsWrapped() && !d.has(gardencorev1beta1.IPFamilyIPv6) {
		config.Overlay = &Overlay{Enabled: *d.DefaultOverlay && passes}
	}
	if config.Overlay == nil {
		return
	}

	overlay := config.Overlay
	if !passes {
		replace(d, "overlay.enabled", &overlay.Enabled, false, d.whyNot(PoolVXLAN))
	}
	if overlay.Enabled {
		override(d, "overlay.createPodRoutes", &overlay.CreatePodRoutes, false, becauseOverlayOn)
	}
	d.podRoutesGiven = overlay.CreatePodRoutes != nil
	fill(&overlay.CreatePodRoutes, d.PodRoutesByPlugin)
}

// pool decides how IPv4 packets are wrapped, where any are.
func (d *defaulting) pool() {
	config := d.config
	overlayOn := config.Overlay != nil && config.Overlay.Enabled
	switch {
	case overlayOn && d.vxlanWanted && d.allows(PoolVXLAN):
		override(d, "ipv4.pool", &config.IPv4.Pool, PoolVXLAN, becauseVXLAN)
	case overlayOn && d.DeployedByUpstreamAsIPIP && d.allows(PoolIPIP):
		override(d, "ipv4.pool", &config.IPv4.Pool, PoolIPIP, becauseUpstream)
	case d.vxlanWanted, config.Backend != nil && *config.Backend == BackendVXLAN:
		fill(&config.IPv4.Pool, PoolVXLAN)
	default:
		fill(&config.IPv4.Pool, DefaultPoolIPv4)
	}
	if !overlayOn || d.allows(*config.IPv4.Pool) {
		return
	}
	// One of the two passes, or overlay would be off.
	other := PoolIPIP
	if d.allows(PoolVXLAN) {
		other = PoolVXLAN
	}
	override(d, "ipv4.pool", &config.IPv4.Pool, other, d.whyNot(*config.IPv4.Pool))
}

// upstreamDNS decides about source NAT to the nodes' DNS servers, which are out of reach of pods only without the overlay.
func (d *defaulting) upstreamDNS() {
	config := d.config
	overlayOff := config.Overlay != nil && !config.Overlay.Enabled
	fill(&config.SnatToUpstreamDNS, SnatToUpstreamDNS{Enabled: overlayOff})
	if !overlayOff {
		replace(d, "snatToUpstreamDNS.enabled", &config.SnatToUpstreamDNS.Enabled, false, "it counts only where overlay.enabled is false")
	}
}
