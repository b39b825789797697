package openstack

import (
	"encoding/json"
	"time"
)

// The types below are this package's own view of OpenStack's resources: what Trellis reads or writes, and nothing else.
// Their JSON tags are the attributes of the Networking API v2.0, Compute API v2.1, Load Balancer API v2 and Shared File
// Systems API v2, so that they go over the wire as they are.

// Network is a Neutron network.
type Network struct {
	ID                    string   `json:"id"`
	Name                  string   `json:"name"`
	Description           string   `json:"description"`
	ProjectID             string   `json:"project_id"`
	Status                string   `json:"status"`
	AdminStateUp          bool     `json:"admin_state_up"`
	External              bool     `json:"router:external"`
	Shared                bool     `json:"shared"`
	MTU                   int      `json:"mtu"` // bytes; 0 when the cloud does not say
	SubnetIDs             []string `json:"subnets"`
	AvailabilityZoneHints []string `json:"availability_zone_hints"`
	Tags                  []string `json:"tags"`
	RevisionNumber        int      `json:"revision_number"`
}

// NetworkCreate is what a new network takes. Zero values are left out of the request.
type NetworkCreate struct {
	Name                  string   `json:"name,omitempty"`
	Description           string   `json:"description,omitempty"`
	MTU                   int      `json:"mtu,omitempty"`
	AvailabilityZoneHints []string `json:"availability_zone_hints,omitempty"`
}

// NetworkUpdate changes what is not nil.
type NetworkUpdate struct {
	Name         *string `json:"name,omitempty"`
	Description  *string `json:"description,omitempty"`
	AdminStateUp *bool   `json:"admin_state_up,omitempty"`
	MTU          *int    `json:"mtu,omitempty"`
}

// NetworkFilter selects networks; all given criteria must match. IDs is a set: any of them.
type NetworkFilter struct {
	IDs               []string
	Name, Description string
	External          *bool
}

// AllocationPool is an inclusive range of addresses in a subnet.
type AllocationPool struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// HostRoute is a static route that DHCP hands to instances.
type HostRoute struct {
	Destination string `json:"destination"`
	NextHop     string `json:"nexthop"`
}

// Subnet is a Neutron subnet.
type Subnet struct {
	ID              string           `json:"id"`
	Name            string           `json:"name"`
	Description     string           `json:"description"`
	ProjectID       string           `json:"project_id"`
	NetworkID       string           `json:"network_id"`
	CIDR            string           `json:"cidr"`
	GatewayIP       string           `json:"gateway_ip"`
	IPVersion       int              `json:"ip_version"` // 4 or 6
	IPv6AddressMode string           `json:"ipv6_address_mode"`
	IPv6RAMode      string           `json:"ipv6_ra_mode"`
	DHCP            bool             `json:"enable_dhcp"`
	SubnetPoolID    string           `json:"subnetpool_id"`
	DNSServers      []string         `json:"dns_nameservers"`
	AllocationPools []AllocationPool `json:"allocation_pools"`
	HostRoutes      []HostRoute      `json:"host_routes"`
	Tags            []string         `json:"tags"`
	RevisionNumber  int              `json:"revision_number"`
}

// SubnetCreate is what a new subnet takes. Either CIDR or SubnetPoolID is given; PrefixLength goes with the pool and 0
// means the pool's default. DHCP is always on.
type SubnetCreate struct {
	NetworkID       string   `json:"network_id"`
	Name            string   `json:"name,omitempty"`
	Description     string   `json:"description,omitempty"`
	CIDR            string   `json:"cidr,omitempty"`
	SubnetPoolID    string   `json:"subnetpool_id,omitempty"`
	PrefixLength    int      `json:"prefixlen,omitempty"`
	IPVersion       int      `json:"ip_version"` // 4 or 6
	IPv6AddressMode string   `json:"ipv6_address_mode,omitempty"`
	IPv6RAMode      string   `json:"ipv6_ra_mode,omitempty"`
	DNSServers      []string `json:"dns_nameservers,omitempty"`
}

// SubnetUpdate changes what is not nil. A nil DNSServers leaves the servers alone, an empty one removes them.
type SubnetUpdate struct {
	Name        *string   `json:"name,omitempty"`
	Description *string   `json:"description,omitempty"`
	DHCP        *bool     `json:"enable_dhcp,omitempty"`
	DNSServers  *[]string `json:"dns_nameservers,omitempty"`
}

// SubnetFilter selects subnets; all given criteria must match. IDs is a set: any of them.
type SubnetFilter struct {
	IDs                          []string
	NetworkID, Name, Description string
}

// SubnetPool is a Neutron subnet pool.
type SubnetPool struct {
	ID               string
	Name             string
	IPVersion        int
	Prefixes         []string
	DefaultPrefixLen int
	MinPrefixLen     int
	MaxPrefixLen     int
	AddressScopeID   string
	Shared           bool
	IsDefault        bool
}

// SubnetPoolFilter selects subnet pools; all given criteria must match. IDs is a set: any of them.
type SubnetPoolFilter struct {
	IDs  []string
	Name string
}

// ExternalFixedIP is an address of a router on its external network.
type ExternalFixedIP struct {
	SubnetID  string `json:"subnet_id,omitempty"`
	IPAddress string `json:"ip_address,omitempty"`
}

// ExternalGateway is a router's connection to an external network. EnableSNAT nil means: the cloud's default, which is
// also the only value that a plain project member may ask for.
type ExternalGateway struct {
	NetworkID  string            `json:"network_id"`
	EnableSNAT *bool             `json:"enable_snat,omitempty"`
	FixedIPs   []ExternalFixedIP `json:"external_fixed_ips,omitempty"`
}

// Route is an extra route of a router.
type Route struct {
	Destination string `json:"destination"`
	NextHop     string `json:"nexthop"`
}

// Router is a Neutron router.
type Router struct {
	ID                    string           `json:"id"`
	Name                  string           `json:"name"`
	Description           string           `json:"description"`
	ProjectID             string           `json:"project_id"`
	Status                string           `json:"status"`
	AdminStateUp          bool             `json:"admin_state_up"`
	Gateway               *ExternalGateway `json:"external_gateway_info"` // nil: not connected
	Routes                []Route          `json:"routes"`
	AvailabilityZoneHints []string         `json:"availability_zone_hints"`
	Tags                  []string         `json:"tags"`
	RevisionNumber        int              `json:"revision_number"`
}

// RouterCreate is what a new router takes.
type RouterCreate struct {
	Name                  string           `json:"name,omitempty"`
	Description           string           `json:"description,omitempty"`
	Gateway               *ExternalGateway `json:"external_gateway_info,omitempty"`
	AvailabilityZoneHints []string         `json:"availability_zone_hints,omitempty"`
}

// RouterUpdate changes what is not nil. With IfRevision > 0 the request carries If-Match: revision_number=N and fails
// with cloud.Conflict when the router changed meanwhile; a cloud without that extension ignores it.
type RouterUpdate struct {
	Name         *string          `json:"name,omitempty"`
	Description  *string          `json:"description,omitempty"`
	AdminStateUp *bool            `json:"admin_state_up,omitempty"`
	Gateway      *ExternalGateway `json:"external_gateway_info,omitempty"`
	Routes       *[]Route         `json:"routes,omitempty"`
	IfRevision   int              `json:"-"`
}

// RouterFilter selects routers; all given criteria must match. IDs is a set: any of them.
type RouterFilter struct {
	IDs               []string
	Name, Description string
}

// FixedIP is an address of a port.
type FixedIP struct {
	SubnetID  string `json:"subnet_id"`
	IPAddress string `json:"ip_address"`
}

// Port is a Neutron port.
type Port struct {
	ID               string    `json:"id"`
	Name             string    `json:"name"`
	Description      string    `json:"description"`
	ProjectID        string    `json:"project_id"`
	Status           string    `json:"status"`
	NetworkID        string    `json:"network_id"`
	MACAddress       string    `json:"mac_address"`
	DeviceID         string    `json:"device_id"`
	DeviceOwner      string    `json:"device_owner"` // e.g. network:router_interface, compute:nova
	FixedIPs         []FixedIP `json:"fixed_ips"`
	SecurityGroupIDs []string  `json:"security_groups"`
	Tags             []string  `json:"tags"`
	RevisionNumber   int       `json:"revision_number"`
}

// PortFilter selects ports; all given criteria must match. IDs and SubnetIDs are sets: any of them.
type PortFilter struct {
	IDs                              []string
	NetworkID, DeviceID, DeviceOwner string
	SubnetIDs                        []string
	Name, Description                string
}

// FloatingIP is a Neutron floating IP.
type FloatingIP struct {
	ID                string   `json:"id"`
	Description       string   `json:"description"`
	ProjectID         string   `json:"project_id"`
	Status            string   `json:"status"`
	FloatingNetworkID string   `json:"floating_network_id"`
	Address           string   `json:"floating_ip_address"`
	PortID            string   `json:"port_id"`
	FixedIP           string   `json:"fixed_ip_address"`
	RouterID          string   `json:"router_id"`
	Tags              []string `json:"tags"`
}

// FloatingIPFilter selects floating IPs; all given criteria must match. PortIDs is a set: any of them.
type FloatingIPFilter struct {
	PortIDs           []string
	RouterID          string
	FloatingNetworkID string
	Description       string
}

// SecurityGroup is a Neutron security group with its rules.
type SecurityGroup struct {
	ID             string              `json:"id"`
	Name           string              `json:"name"`
	Description    string              `json:"description"`
	ProjectID      string              `json:"project_id"`
	Rules          []SecurityGroupRule `json:"security_group_rules"`
	Tags           []string            `json:"tags"`
	RevisionNumber int                 `json:"revision_number"`
}

// SecurityGroupCreate is what a new security group takes. Neutron adds two egress rules (IPv4 and IPv6) by itself.
type SecurityGroupCreate struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
}

// SecurityGroupUpdate changes what is not nil.
type SecurityGroupUpdate struct {
	Name        *string `json:"name,omitempty"`
	Description *string `json:"description,omitempty"`
}

// SecurityGroupFilter selects security groups; all given criteria must match. IDs is a set: any of them.
type SecurityGroupFilter struct {
	IDs               []string
	Name, Description string
}

// SecurityGroupRule is a rule of a security group. An empty Protocol, RemoteGroupID or RemoteIPPrefix means any; PortMin
// and PortMax are 0 for any port.
type SecurityGroupRule struct {
	ID              string `json:"id,omitempty"`
	SecurityGroupID string `json:"security_group_id"`
	Description     string `json:"description,omitempty"`
	Direction       string `json:"direction"`          // ingress or egress
	EtherType       string `json:"ethertype"`          // IPv4 or IPv6
	Protocol        string `json:"protocol,omitempty"` // tcp, udp, icmp, ...
	PortMin         int    `json:"port_range_min,omitempty"`
	PortMax         int    `json:"port_range_max,omitempty"`
	RemoteGroupID   string `json:"remote_group_id,omitempty"`
	RemoteIPPrefix  string `json:"remote_ip_prefix,omitempty"`
}

// KeyPair is a Nova key pair. Its name is its identity within the user.
type KeyPair struct {
	Name        string `json:"name"`
	PublicKey   string `json:"public_key"`
	Fingerprint string `json:"fingerprint"`
}

// LoadBalancer is an Octavia load balancer.
type LoadBalancer struct {
	ID                 string   `json:"id"`
	Name               string   `json:"name"`
	Description        string   `json:"description"`
	ProjectID          string   `json:"project_id"`
	ProvisioningStatus string   `json:"provisioning_status"` // ACTIVE, ERROR or PENDING_*
	VIPAddress         string   `json:"vip_address"`
	VIPPortID          string   `json:"vip_port_id"`
	VIPSubnetID        string   `json:"vip_subnet_id"`
	VIPNetworkID       string   `json:"vip_network_id"`
	Tags               []string `json:"tags"`
}

// LoadBalancerFilter selects load balancers; all given criteria must match.
type LoadBalancerFilter struct{ VIPNetworkID, VIPSubnetID, Name string }

// ShareNetwork is a Manila share network.
type ShareNetwork struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	ProjectID   string `json:"project_id"`
	NetworkID   string `json:"neutron_net_id"`
	SubnetID    string `json:"neutron_subnet_id"`
}

// ShareNetworkCreate is what a new share network takes.
type ShareNetworkCreate struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	NetworkID   string `json:"neutron_net_id"`
	SubnetID    string `json:"neutron_subnet_id"`
}

// ShareNetworkFilter selects share networks; all given criteria must match.
type ShareNetworkFilter struct{ ID, Name, NetworkID, SubnetID string }

// Server is a Nova server, as much of it as a message about a blocked deletion needs.
type Server struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// Token is what is known about the session's login, never the token itself.
type Token struct {
	ProjectID, UserID, DomainID string
	ExpiresAt                   time.Time
}

// UnmarshalJSON reads a subnet pool. Neutron writes the prefix lengths as numbers or, older ones, as strings.
func (p *SubnetPool) UnmarshalJSON(data []byte) error {
	var wire struct {
		ID               string      `json:"id"`
		Name             string      `json:"name"`
		IPVersion        int         `json:"ip_version"`
		Prefixes         []string    `json:"prefixes"`
		DefaultPrefixLen json.Number `json:"default_prefixlen"`
		MinPrefixLen     json.Number `json:"min_prefixlen"`
		MaxPrefixLen     json.Number `json:"max_prefixlen"`
		AddressScopeID   string      `json:"address_scope_id"`
		Shared           bool        `json:"shared"`
		IsDefault        bool        `json:"is_default"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*p = SubnetPool{
		ID: wire.ID, Name: wire.Name, IPVersion: wire.IPVersion, Prefixes: wire.Prefixes,
		DefaultPrefixLen: prefixLength(wire.DefaultPrefixLen),
		MinPrefixLen:     prefixLength(wire.MinPrefixLen),
		MaxPrefixLen:     prefixLength(wire.MaxPrefixLen),
		AddressScopeID:   wire.AddressScopeID, Shared: wire.Shared, IsDefault: wire.IsDefault,
	}
	return nil
}

// prefixLength returns n as a plain number, and 0 when the cloud left it out.
func prefixLength(n json.Number) int {
	length, err := n.Int64()
	if err != nil {
		return 0
	}
	return int(length)
}
