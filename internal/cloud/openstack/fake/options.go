package fake

import (
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// What a new cloud contains.
const (
	DefaultRegion   = "RegionOne"
	DefaultDomain   = defaultDomain
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
type Option func(*config)

func defaultConfig() config {
	return config{
		regions:        []string{DefaultRegion},
		catalog:        Unversioned,
		tokenLifetime:  time.Hour,
		zones:          []string{"zone-a", "zone-b", "zone-c"},
		mtu:            1450,
		interfaceOwner: "network:router_interface",
		novaMicro:      93, // Zed
		transitions:    map[string]Transition{},
		hosts:          3,
	}
}

// WithCatalog sets the shape of the catalog.
func WithCatalog(shape CatalogShape) Option { return func(c *config) { c.catalog = shape } }

// WithoutServices leaves services out of the catalog.
func WithoutServices(services ...wire.Service) Option {
	return func(c *config) { c.missingServices = append(c.missingServices, services...) }
}

// WithRegions names the regions in the catalog. All of them lead to the same services.
func WithRegions(regions ...string) Option { return func(c *config) { c.regions = regions } }

// WithTokenLifetime sets how long tokens are valid; an hour unless given.
func WithTokenLifetime(d time.Duration) Option { return func(c *config) { c.tokenLifetime = d } }

// WithLatency sets how long every call waits before its effect, see SetLatency.
func WithLatency(d time.Duration) Option { return func(c *config) { c.latency = d } }

// WithZones names the availability zones of compute and network.
func WithZones(zones ...string) Option { return func(c *config) { c.zones = zones } }

// WithHosts sets how many hypervisors there are, which is how many servers a hard anti-affinity group can have. The zones share
// them; unless given, each zone has one.
func WithHosts(n int) Option { return func(c *config) { c.hosts = n } }

// WithComputeMicroversion sets the newest microversion of Nova, 66 for 2.66; unless given, it is that of Zed.
func WithComputeMicroversion(minor int) Option { return func(c *config) { c.novaMicro = minor } }

// WithDHCPPorts makes Neutron put a port of its own into every network with DHCP, as clouds with DHCP agents do.
func WithDHCPPorts() Option { return func(c *config) { c.dhcpPorts = true } }

// WithMTU sets the largest MTU of a network, in bytes, which is also the default.
func WithMTU(mtu int) Option { return func(c *config) { c.mtu = mtu } }

// WithPageSize makes Neutron and Octavia cut lists into pages of that size although the client set no limit.
func WithPageSize(n int) Option { return func(c *config) { c.pageSize = n } }

// WithoutExtensions switches Neutron extensions off, by alias: "revision-if-match", "standard-attr-tag",
// "availability_zone", "router_availability_zone", "net-mtu-writable".
func WithoutExtensions(aliases ...string) Option {
	return func(c *config) { c.missingExtensions = append(c.missingExtensions, aliases...) }
}

// WithPolicy replaces the policy for plain members.
func WithPolicy(p Policy) Option { return func(c *config) { c.policy = p } }

// WithRouterInterfaceOwner sets the device owner of router interface ports: "network:router_interface" unless given,
// "network:router_interface_distributed" or "network:ha_router_replicated_interface" in clouds with such routers.
func WithRouterInterfaceOwner(owner string) Option {
	return func(c *config) { c.interfaceOwner = owner }
}

// WithTransition makes resources of a kind take their time to become ready, see SetTransition.
func WithTransition(kind string, t Transition) Option {
	return func(c *config) { c.transitions[kind] = t }
}
