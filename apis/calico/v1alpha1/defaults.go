package v1alpha1

import (
	"fmt"
	"net/netip"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// DefaultingContext is the input of defaults besides the configuration itself.
//
// +kubebuilder:object:generate=false
type DefaultingContext struct {
	// IPFamilies are the families to be deployed, which during a migration are fewer than the shoot's. Empty means IPv4.
	IPFamilies []gardencorev1beta1.IPFamily
	// IPIP and VXLAN report whether the infrastructure allows such packets between nodes.
	IPIP, VXLAN bool
	// DefaultOverlay is the default of the overlay setting if no other field selects the encapsulation. With nil, ipv4.mode
	// applies. The other contracts read the Shoot's own configuration, so set a value only if they get the same result.
	DefaultOverlay *bool
	// PodRoutesByPlugin reports that with the overlay off the infrastructure leaves the routes between nodes to the
	// network plugin.
	PodRoutesByPlugin bool
	// NodeRanges are the ranges of the nodes' addresses, of all families, as far as they are known.
	NodeRanges []netip.Prefix
	// DeployedIPAM is the deployed ipam.type, or empty. A shoot with calico-ipam keeps it unless the user sets another.
	DeployedIPAM string
	// DeployedByUpstreamAsIPIP reports that upstream's extension has deployed IP-in-IP tunnels. It does so for ipv4.pool vxlan too, unless
	// vxlan.enabled is true, and its deployment is kept.
	DeployedByUpstreamAsIPIP bool
	// VPA reports that the shoot has the vertical pod autoscaler.
	VPA bool
}

// Default returns the effective configuration: the user's values, and the defaults of all other fields. The receiver is
// not changed; nil is the same as empty. Default is idempotent.
//
// The user's values apply, except where the overlay setting or the context determines a field; overridden lists those
// exceptions in sentences.
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

// Override is a value of the user that does not take effect.
//
// +kubebuilder:object:generate=false
type Override struct {
	// Field is its path within the configuration, like ipv4.mode.
	Field string
	// Given is the user's value, Effective the value that is used instead.
	Given, Effective string
	// Reason is a phrase that follows a colon.
	Reason string
}

// String is a sentence for users.
func (o Override) String() string {
	return fmt.Sprintf("%s is %s instead of %s: %s", o.Field, o.Effective, o.Given, o.Reason)
}

// DefaultWithOverrides is Default with structured overrides.
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

// ModeIPv4 returns the user's mode of the IPv4 pool: ipv4.mode, or else the deprecated ipip, or else nil.
func (c *NetworkConfig) ModeIPv4() *PoolMode {
	if c.IPv4 != nil && c.IPv4.Mode != nil {
		return c.IPv4.Mode
	}
	return c.IPIP
}

// SetsEncapsulation reports whether anything but the overlay switch says which packets are wrapped, and how. If so, the overlay
// setting has no default, which would take precedence over that field.
func (c *NetworkConfig) SetsEncapsulation() bool {
	return c.Backend != nil || c.ModeIPv4() != nil || c.IPv4 != nil && c.IPv4.Pool != nil || c.VXLAN != nil && c.VXLAN.Enabled
}

// AutoDetectionMethodIPv4 returns the user's method by which nodes detect their IPv4 address: ipv4.autoDetectionMethod, or
// else the deprecated ipAutodetectionMethod, or else nil.
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

// override sets a field, and records an override if the user had set another value.
func override[Value comparable](d *defaulting, name string, field **Value, value Value, reason string) {
	fill(field, value)
	replace(d, name, *field, value, reason)
}

// replace sets a field that the user has set, and records an override if the value differs.
func replace[Value comparable](d *defaulting, name string, field *Value, value Value, reason string) {
	if *field != value {
		d.overrides = append(d.overrides, Override{Field: name, Given: fmt.Sprint(*field), Effective: fmt.Sprint(value), Reason: reason})
		*field = value
	}
}

// fill sets a field that the user has not set.
func fill[Value any](field **Value, value Value) {
	if *field == nil {
		*field = &value
	}
}

// migrateDeprecatedFields moves deprecated fields to their successors, and creates the blocks for defaults.
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
