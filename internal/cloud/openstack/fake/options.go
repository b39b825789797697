package fake

import (
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// What a new cloud contains.
const (
	DefaultRegion   = "RegionOne"
	DefaultDomain   = core.DefaultDomain
	DefaultProject  = "garden"
	DefaultUser     = "gardener"
	DefaultPassword = "secret"

	DefaultAppCredentialName   = "trellis"
	DefaultAppCredentialSecret = "app-secret"

	AdminProject  = "admin"
	AdminUser     = "admin"
	AdminPassword = "admin-secret"

	ExternalNetwork = "public"
	ExternalSubnetA = "public-a"
	ExternalSubnetB = "public-b"
)

// Attrs are the attributes of a request body, by their names on the wire.
type Attrs map[string]any

// Option configures a new cloud.
type Option func(*core.Config)

func defaultConfig() core.Config {
	return core.Config{
		Regions:        []string{DefaultRegion},
		Catalog:        core.Unversioned,
		TokenLifetime:  time.Hour,
		Zones:          []string{"zone-a", "zone-b", "zone-c"},
		Mtu:            1450,
		InterfaceOwner: "network:router_interface",
		NovaMicro:      93, // Zed
		Transitions:    map[string]core.Transition{},
		Hosts:          3,
	}
}

// WithCatalog sets the shape of the catalog.
func WithCatalog(shape core.CatalogShape) Option { return func(c *core.Config) { c.Catalog = shape } }

// WithoutServices leaves services out of the catalog.
func WithoutServices(services ...wire.Service) Option {
	return func(c *core.Config) { c.MissingServices = append(c.MissingServices, services...) }
}

// WithRegions sets the regions in the catalog. All of them have the same services.
func WithRegions(regions ...string) Option { return func(c *core.Config) { c.Regions = regions } }

// WithTokenLifetime sets the lifetime of tokens; default one hour.
func WithTokenLifetime(d time.Duration) Option { return func(c *core.Config) { c.TokenLifetime = d } }

// WithLatency sets the delay of each call, see SetLatency.
func WithLatency(d time.Duration) Option { return func(c *core.Config) { c.Latency = d } }

// WithZones sets the availability zones of compute and network.
func WithZones(zones ...string) Option { return func(c *core.Config) { c.Zones = zones } }

// WithHosts sets the number of hypervisors, which limits the servers of a hard anti-affinity group. The zones share them; default one per zone.
func WithHosts(n int) Option { return func(c *core.Config) { c.Hosts = n } }

// WithComputeMicroversion sets the newest microversion of Nova, 66 for 2.66; default that of Zed.
func WithComputeMicroversion(minor int) Option { return func(c *core.Config) { c.NovaMicro = minor } }

// WithDHCPPorts makes Neutron create a port of its own in each network with DHCP, as clouds with DHCP agents do.
func WithDHCPPorts() Option { return func(c *core.Config) { c.DhcpPorts = true } }

// WithMTU sets the maximum MTU of a network, in bytes, which is also the default.
func WithMTU(mtu int) Option { return func(c *core.Config) { c.Mtu = mtu } }

// WithPageSize makes Neutron and Octavia split lists into pages of that size without a client's limit.
func WithPageSize(n int) Option { return func(c *core.Config) { c.PageSize = n } }

// WithoutExtensions switches Neutron extensions off, by alias: "revision-if-match", "standard-attr-tag",
// "availability_zone", "router_availability_zone", "net-mtu-writable".
func WithoutExtensions(aliases ...string) Option {
	return func(c *core.Config) { c.MissingExtensions = append(c.MissingExtensions, aliases...) }
}

// WithPolicy replaces the policy for plain members.
func WithPolicy(p core.Policy) Option { return func(c *core.Config) { c.Policy = p } }

// WithRouterInterfaceOwner sets the device owner of router interface ports: default "network:router_interface";
// "network:router_interface_distributed" or "network:ha_router_replicated_interface" in clouds with such routers.
func WithRouterInterfaceOwner(owner string) Option {
	return func(c *core.Config) { c.InterfaceOwner = owner }
}

// WithTransition delays the creation or deletion of resources of a kind, see SetTransition.
func WithTransition(kind string, t core.Transition) Option {
	return func(c *core.Config) { c.Transitions[kind] = t }
}
