package openstack

// The types below are this package's own types of OpenStack's resources, with the fields that Trellis reads or writes.
// Their JSON tags are the attributes of the Networking API v2.0, Compute API v2.1, Load Balancer API v2 and Shared File
// Systems API v2, so that they can be encoded directly. Those of other resources are next to their calls.

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
	MTU                   int      `json:"mtu"` // bytes; 0 if the cloud does not report it
	SubnetIDs             []string `json:"subnets"`
	AvailabilityZoneHints []string `json:"availability_zone_hints"`
	Tags                  []string `json:"tags"`
	RevisionNumber        int      `json:"revision_number"`
}

// NetworkCreate is the request for a new network. Zero values are omitted.
type NetworkCreate struct {
	Name                  string   `json:"name,omitempty"`
	Description           string   `json:"description,omitempty"`
	MTU                   int      `json:"mtu,omitempty"`
	AvailabilityZoneHints []string `json:"availability_zone_hints,omitempty"`
}

// NetworkUpdate changes fields that are not nil.
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

// HostRoute is a static route that DHCP announces to instances.
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

// SubnetCreate is the request for a new subnet. Either CIDR or SubnetPoolID is set; PrefixLength is for the pool and 0
// means the pool's default. DHCP is always enabled.
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

// SubnetUpdate changes fields that are not nil. A nil DNSServers does not change the servers, an empty one removes them.
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

// ExternalFixedIP is an address of a router on its external network.
type ExternalFixedIP struct {
	SubnetID  string `json:"subnet_id,omitempty"`
	IPAddress string `json:"ip_address,omitempty"`
}

// ExternalGateway is a router's connection to an external network. EnableSNAT nil means the cloud's default, which is
// also the only value that a plain project member may request.
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

// RouterCreate is the request for a new router.
type RouterCreate struct {
	Name                  string           `json:"name,omitempty"`
	Description           string           `json:"description,omitempty"`
	Gateway               *ExternalGateway `json:"external_gateway_info,omitempty"`
	AvailabilityZoneHints []string         `json:"availability_zone_hints,omitempty"`
}

// RouterUpdate changes fields that are not nil. With IfRevision > 0 the request has If-Match: revision_number=N and fails
// with cloud.Conflict if the router was changed meanwhile; a cloud without that extension ignores it.
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

// PortCreate is the request for a new port. It gets an address in each of the subnets; without subnets, Neutron chooses.
type PortCreate struct {
	NetworkID, Name, Description string
	SubnetIDs                    []string
	// AllowedAddresses are the CIDRs from which the port may send, in addition to its own addresses.
	AllowedAddresses []string
	// SecurityGroupIDs nil means the project's default group; empty, none.
	SecurityGroupIDs []string
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
