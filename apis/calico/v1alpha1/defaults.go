package v1alpha1

import (
	"fmt"
	"net/netip"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// DefaultingContext is what defaults depend on besides the configuration itself.
//
// +kubebuilder:object:generate=false
type DefaultingContext struct {
	// IPFamilies are the families to be deployed, which during a migration are fewer than the shoot's. None means IPv4.
	IPFamilies []gardencorev1beta1.IPFamily
	// IPIP and VXLAN say whether the infrastructure lets such packets through between nodes.
	IPIP, VXLAN bool
	// DefaultOverlay stands for an overlay switch that the user did not give, where nothing else that was given says what is
	// to be wrapped. Nil leaves it to ipv4.mode. The other contracts read the Shoot's own configuration, so give a value
	// only where they come to the same.
	DefaultOverlay *bool
	// PodRoutesByPlugin says that with the overlay off the infrastructure leaves the routes between nodes to the network.
	PodRoutesByPlugin bool
	// NodeRanges are the ranges of the nodes' addresses, of all families, as far as they are known.
	NodeRanges []netip.Prefix
	// DeployedIPAM is the ipam.type in force until now, or empty. A shoot with calico-ipam keeps it, unless the user says
	// otherwise.
	DeployedIPAM string
	// DeployedByUpstreamAsIPIP says that upstream's extension has deployed tunnels of IP-in-IP. It does so for ipv4.pool vxlan too, unless
	// vxlan.enabled is true, and what it deployed stays.
	DeployedByUpstreamAsIPIP bool
	// VPA says that the shoot has the vertical pod autoscaler.
	VPA bool
}

// Default returns the configuration in force: what the user gave, and the default of everything else. The receiver stays
// as it is; nil is as good as empty. Defaulting twice changes nothing.
//
// What the user gave stands, except where the overlay switch or the surroundings decide; overridden names, in sentences,
// what was given otherwise.
//
//   - overlay on: all IPv4 packets are wrapped, with VXLAN if vxlan.enabled or ipv4.pool says so or nothing else passes,
//     else with IP-in-IP. The backend is bird, or vxlan for VXLAN.
//   - overlay off: nothing is wrapped. The backend is none, or bird with createPodRoutes.
//   - no overlay switch: with IPv6, or where the infrastructure does not let the pool's packets through, nothing is wrapped
//     and the backend is none. Otherwise backend, ipv4.pool and ipv4.mode stand; a backend none means mode Never, and IP-in-IP
//     the backend bird.
//   - VXLAN needs calico-ipam, since host-local has no addresses for its tunnels; so vxlan.enabled brings it, too. With IPv6, which
//     calico-ipam does not serve, IP-in-IP takes its place.
//
// In the result fields of families that are not deployed and deprecated fields are nil, modes are never Off, and overlay
// is nil where there is no switch. All other optional fields are set, but for ipam.cidr with calico-ipam,
// autoScaling.resources and the labels of kubeAPIServerEndpoints.
func (c *NetworkConfig) Default(context DefaultingContext) (effective *NetworkConfig, overridden []string) {
	effective, overrides := c.DefaultWithOverrides(context)
	for _, override := range overrides {
		overridden = append(overridden, override.String())
	}
	return effective, overridden
}

// Override is a wish of the user that is not fulfilled.
//
// +kubebuilder:object:generate=false
type Override struct {
	// Field is its path within the configuration, like ipv4.mode.
	Field string
	// Given is what the user wrote, Effective what holds instead.
	Given, Effective string
	// Reason says why, in words that follow a colon.
	Reason string
}

// String is a sentence for users.
func (o Override) String() string {
	return fmt.Sprintf("%s is %s instead of %s: %s", o.Field, o.Effective, o.Given, o.Reason)
}

// DefaultWithOverrides is Default for those who look into what was overridden.
func (c *NetworkConfig) DefaultWithOverrides(context DefaultingContext) (effective *NetworkConfig, overrides []Override) {
	d := defaulting{DefaultingContext: context, config: NewNetworkConfig()}
	if c != nil {
		c.DeepCopyInto(d.config)
		d.config.TypeMeta = typeMeta("NetworkConfig")
		d.vxlanWanted = c.VXLAN != nil && c.VXLAN.Enabled
	}
	d.migrateDeprecatedFields()
	d.routing()
	d.ipam()
	d.addresses()
	d.components()
	d.dropFamilies()
	return d.config, d.overrides
}

// ModeIPv4 is the mode of the IPv4 pool as the user gave it: ipv4.mode, or else the deprecated ipip, or else nil.
func (c *NetworkConfig) ModeIPv4() *PoolMode {
	if c.IPv4 != nil && c.IPv4.Mode != nil {
		return c.IPv4.Mode
	}
	return c.IPIP
}

// SetsEncapsulation reports whether anything but the overlay switch says which packets are wrapped, and how. Where something does
// there is no default for the switch, which would outrank it.
func (c *NetworkConfig) SetsEncapsulation() bool {
	return c.Backend != nil || c.ModeIPv4() != nil || c.IPv4 != nil && c.IPv4.Pool != nil || c.VXLAN != nil && c.VXLAN.Enabled
}

// AutoDetectionMethodIPv4 is the way in which nodes find their IPv4 address as the user gave it: ipv4.autoDetectionMethod,
// or else the deprecated ipAutodetectionMethod, or else nil.
func (c *NetworkConfig) AutoDetectionMethodIPv4() *string {
	if c.IPv4 != nil && c.IPv4.AutoDetectionMethod != nil && *c.IPv4.AutoDetectionMethod != "" {
		return c.IPv4.AutoDetectionMethod
	}
	return c.IPAutoDetectionMethod
}

// defaulting is one call of Default.
//
// +kubebuilder:object:generate=false
type defaulting struct {
	DefaultingContext
	config         *NetworkConfig
	vxlanWanted    bool // the user's vxlan.enabled
	podRoutesGiven bool // whether the user's overlay.createPodRoutes is there
	overrides      []Override
}

func (d *defaulting) has(family gardencorev1beta1.IPFamily) bool {
	if len(d.IPFamilies) == 0 {
		return family == gardencorev1beta1.IPFamilyIPv4
	}
	return slices.Contains(d.IPFamilies, family)
}

// override sets a field, and says so if the user had put something else there.
func override[Value comparable](d *defaulting, name string, field **Value, value Value, reason string) {
	fill(field, value)
	replace(d, name, *field, value, reason)
}

// replace sets a field in which something stands that the user gave, and says so if it was something else.
func replace[Value comparable](d *defaulting, name string, field *Value, value Value, reason string) {
	if *field != value {
		d.overrides = append(d.overrides, Override{Field: name, Given: fmt.Sprint(*field), Effective: fmt.Sprint(value), Reason: reason})
		*field = value
	}
}

// fill sets a field that the user did not give.
func fill[Value any](field **Value, value Value) {
	if *field == nil {
		*field = &value
	}
}

// migrateDeprecatedFields moves deprecated fields to where they belong now, and makes blocks for what is to be filled in.
func (d *defaulting) migrateDeprecatedFields() {
	config := d.config
	mode, method := config.ModeIPv4(), config.AutoDetectionMethodIPv4()
	fill(&config.IPv4, IPv4{})
	fill(&config.IPv6, IPv6{})
	config.IPv4.Mode, config.IPv4.AutoDetectionMethod = mode, method
	config.IPIP, config.IPAutoDetectionMethod = nil, nil
	for _, mode := range []*PoolMode{config.IPv4.Mode, config.IPv6.Mode} {
		if mode != nil && *mode == PoolModeOff {
			*mode = PoolModeNever
		}
	}
}

// dropFamilies removes the blocks of families that are not deployed.
func (d *defaulting) dropFamilies() {
	if !d.has(gardencorev1beta1.IPFamilyIPv4) {
		d.config.IPv4 = nil
	}
	if !d.has(gardencorev1beta1.IPFamilyIPv6) {
		d.config.IPv6 = nil
	}
}
