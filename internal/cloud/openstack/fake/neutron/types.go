package neutron

import "github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"

// Standard are the attributes that all Neutron resources have.
type Standard struct {
	ID             string   `json:"id"`
	ProjectID      string   `json:"project_id"`
	TenantID       string   `json:"tenant_id"` // the same, by its old name
	Description    string   `json:"description"`
	Tags           []string `json:"tags"`
	RevisionNumber int      `json:"revision_number"`
	CreatedAt      string   `json:"created_at"`
	UpdatedAt      string   `json:"updated_at"`
}

// Network is a Neutron network.
type Network struct {
	Standard
	Name                  string    `json:"name"`
	Status                string    `json:"status"`
	AdminStateUp          bool      `json:"admin_state_up"`
	Shared                bool      `json:"shared"`
	External              bool      `json:"router:external"`
	PortSecurity          bool      `json:"port_security_enabled"`
	MTU                   int       `json:"mtu"`
	Subnets               []string  `json:"subnets"`
	AvailabilityZoneHints []string  `json:"availability_zone_hints"`
	AvailabilityZones     []string  `json:"availability_zones"`
	IPv4AddressScope      core.Null `json:"ipv4_address_scope"`
	IPv6AddressScope      core.Null `json:"ipv6_address_scope"`
}

// AllocationPool is an inclusive range of addresses.
type AllocationPool struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// HostRoute is a route for DHCP clients, or an extra route of a router.
type HostRoute struct {
	Destination string `json:"destination"`
	NextHop     string `json:"nexthop"`
}

// Subnet is a Neutron subnet.
type Subnet struct {
	Standard
	Name            string           `json:"name"`
	NetworkID       string           `json:"network_id"`
	IPVersion       int              `json:"ip_version"`
	CIDR            string           `json:"cidr"`
	GatewayIP       core.Null        `json:"gateway_ip"`
	EnableDHCP      bool             `json:"enable_dhcp"`
	IPv6AddressMode core.Null        `json:"ipv6_address_mode"`
	IPv6RAMode      core.Null        `json:"ipv6_ra_mode"`
	SubnetPoolID    core.Null        `json:"subnetpool_id"`
	DNSNameservers  []string         `json:"dns_nameservers"`
	AllocationPools []AllocationPool `json:"allocation_pools"`
	HostRoutes      []HostRoute      `json:"host_routes"`
	ServiceTypes    []string         `json:"service_types"`
}

// SubnetPool is a Neutron subnet pool.
type SubnetPool struct {
	Standard
	Name             string       `json:"name"`
	Prefixes         []string     `json:"prefixes"`
	IPVersion        int          `json:"ip_version"`
	DefaultPrefixLen core.IntText `json:"default_prefixlen"`
	MinPrefixLen     core.IntText `json:"min_prefixlen"`
	MaxPrefixLen     core.IntText `json:"max_prefixlen"`
	DefaultQuota     core.NullInt `json:"default_quota"`
	AddressScopeID   core.Null    `json:"address_scope_id"`
	Shared           bool         `json:"shared"`
	IsDefault        bool         `json:"is_default"`
}

// FixedIP is an address of a port, or of a router's gateway.
type FixedIP struct {
	SubnetID  string `json:"subnet_id"`
	IPAddress string `json:"ip_address"`
}

// GatewayInfo is a router's connection to an external network.
type GatewayInfo struct {
	NetworkID        string    `json:"network_id"`
	EnableSNAT       bool      `json:"enable_snat"`
	ExternalFixedIPs []FixedIP `json:"external_fixed_ips"`
}

// Router is a Neutron router.
type Router struct {
	Standard
	Name         string       `json:"name"`
	Status       string       `json:"status"`
	AdminStateUp bool         `json:"admin_state_up"`
	Gateway      *GatewayInfo `json:"external_gateway_info"`
	Routes       []HostRoute  `json:"routes"`
	// AvailabilityZoneHints are only shown if there are some: not every cloud has zones for routers.
	AvailabilityZoneHints []string `json:"availability_zone_hints,omitempty"`
}

// AddressPair is an additional address that a port may send from.
type AddressPair struct {
	IPAddress  string `json:"ip_address"`
	MACAddress string `json:"mac_address"`
}

// Port is a Neutron port.
type Port struct {
	Standard
	Name                string        `json:"name"`
	NetworkID           string        `json:"network_id"`
	Status              string        `json:"status"`
	AdminStateUp        bool          `json:"admin_state_up"`
	MACAddress          string        `json:"mac_address"`
	DeviceID            string        `json:"device_id"`
	DeviceOwner         string        `json:"device_owner"`
	FixedIPs            []FixedIP     `json:"fixed_ips"`
	AllowedAddressPairs []AddressPair `json:"allowed_address_pairs"`
	SecurityGroups      []string      `json:"security_groups"`
	PortSecurity        bool          `json:"port_security_enabled"`
	VNICType            string        `json:"binding:vnic_type"`
}

// FloatingIP is a Neutron floating IP.
type FloatingIP struct {
	Standard
	Status            string    `json:"status"`
	FloatingNetworkID string    `json:"floating_network_id"`
	FloatingIPAddress string    `json:"floating_ip_address"`
	FixedIPAddress    core.Null `json:"fixed_ip_address"`
	PortID            core.Null `json:"port_id"`
	RouterID          core.Null `json:"router_id"`
}

// SecurityGroup is a Neutron security group.
type SecurityGroup struct {
	Standard
	Name     string              `json:"name"`
	Stateful bool                `json:"stateful"`
	Shared   bool                `json:"shared"`
	Rules    []SecurityGroupRule `json:"security_group_rules"`
}

// SecurityGroupRule is a rule of a security group. Without Protocol, ports or remote it applies to any.
type SecurityGroupRule struct {
	Standard
	Description          RuleText  `json:"description"`
	Tags                 []string  `json:"tags,omitempty"` // rules have none
	SecurityGroupID      string    `json:"security_group_id"`
	Direction            string    `json:"direction"`
	EtherType            string    `json:"ethertype"`
	Protocol             core.Null `json:"protocol"`
	PortRangeMin         RulePort  `json:"port_range_min"`
	PortRangeMax         RulePort  `json:"port_range_max"`
	RemoteGroupID        core.Null `json:"remote_group_id"`
	RemoteAddressGroupID core.Null `json:"remote_address_group_id"`
	RemoteIPPrefix       core.Null `json:"remote_ip_prefix"`
	NormalizedCIDR       core.Null `json:"normalized_cidr"`
}

// Base returns the attributes that all resources of Neutron have.
func (s *Standard) Base() *Standard { return s }
