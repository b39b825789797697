package openstack

import "time"

// The types below are this package's own view of OpenStack's resources: what Trellis reads or writes, and nothing else.
// Field comments that name an attribute refer to the Networking API v2.0, Compute API v2.1 and Load Balancer API v2.

// Network is a Neutron network.
type Network struct {
	ID, Name, Description, ProjectID, Status string
	AdminStateUp, External, Shared           bool
	MTU                                      int // bytes; 0 when the cloud does not say
	SubnetIDs                                []string
	AvailabilityZoneHints                    []string
	Tags                                     []string
	RevisionNumber                           int
}

// NetworkCreate is what a new network takes. Zero values are left out of the request.
type NetworkCreate struct {
	Name, Description     string
	MTU                   int
	AvailabilityZoneHints []string
}

// NetworkUpdate changes what is not nil.
type NetworkUpdate struct {
	Name, Description *string
	AdminStateUp      *bool
	MTU               *int
}

// NetworkFilter selects networks; all given criteria must match. IDs is a set: any of them.
type NetworkFilter struct {
	IDs               []string
	Name, Description string
	External          *bool
}

// AllocationPool is an inclusive range of addresses in a subnet.
type AllocationPool struct{ Start, End string }

// HostRoute is a static route that DHCP hands to instances.
type HostRoute struct{ Destination, NextHop string }

// Subnet is a Neutron subnet.
type Subnet struct {
	ID, Name, Description, ProjectID, NetworkID, CIDR, GatewayIP string
	IPVersion                                                    int // 4 or 6
	IPv6AddressMode, IPv6RAMode                                  string
	DHCP                                                         bool
	SubnetPoolID                                                 string
	DNSServers                                                   []string
	AllocationPools                                              []AllocationPool
	HostRoutes                                                   []HostRoute
	Tags                                                         []string
	RevisionNumber                                               int
}

// SubnetCreate is what a new subnet takes. Either CIDR or SubnetPoolID is given; PrefixLength goes with the pool and 0
// means the pool's default. DHCP is always on.
type SubnetCreate struct {
	NetworkID, Name, Description, CIDR, SubnetPoolID string
	PrefixLength                                     int
	IPVersion                                        int // 4 or 6
	IPv6AddressMode, IPv6RAMode                      string
	DNSServers                                       []string
}

// SubnetUpdate changes what is not nil. A nil DNSServers leaves the servers alone, an empty one removes them.
type SubnetUpdate struct {
	Name, Description *string
	DHCP              *bool
	DNSServers        *[]string
}

// SubnetFilter selects subnets; all given criteria must match. IDs is a set: any of them.
type SubnetFilter struct {
	IDs                          []string
	NetworkID, Name, Description string
}

// SubnetPool is a Neutron subnet pool.
type SubnetPool struct {
	ID, Name          string
	IPVersion         int
	Prefixes          []string
	DefaultPrefixLen  int
	MinPrefixLen      int
	MaxPrefixLen      int
	AddressScopeID    string
	Shared, IsDefault bool
}

// ExternalFixedIP is an address of a router on its external network.
type ExternalFixedIP struct{ SubnetID, IPAddress string }

// ExternalGateway is a router's connection to an external network. EnableSNAT nil means: the cloud's default, which is
// also the only value that a plain project member may ask for.
type ExternalGateway struct {
	NetworkID  string
	EnableSNAT *bool
	FixedIPs   []ExternalFixedIP
}

// Route is an extra route of a router.
type Route struct{ Destination, NextHop string }

// Router is a Neutron router.
type Router struct {
	ID, Name, Description, ProjectID, Status string
	AdminStateUp                             bool
	Gateway                                  *ExternalGateway // nil: not connected
	Routes                                   []Route
	AvailabilityZoneHints                    []string
	Tags                                     []string
	RevisionNumber                           int
}

// RouterCreate is what a new router takes.
type RouterCreate struct {
	Name, Description     string
	Gateway               *ExternalGateway
	AvailabilityZoneHints []string
}

// RouterUpdate changes what is not nil. With IfRevision > 0 the request carries If-Match: revision_number=N and fails
// with cloud.Conflict when the router changed meanwhile; a cloud without that extension ignores it.
type RouterUpdate struct {
	Name, Description *string
	AdminStateUp      *bool
	Gateway           *ExternalGateway
	Routes            *[]Route
	IfRevision        int
}

// RouterFilter selects routers; all given criteria must match. IDs is a set: any of them.
type RouterFilter struct {
	IDs               []string
	Name, Description string
}

// FixedIP is an address of a port.
type FixedIP struct{ SubnetID, IPAddress string }

// Port is a Neutron port.
type Port struct {
	ID, Name, Description, ProjectID, Status, NetworkID, MACAddress string
	DeviceID, DeviceOwner                                           string // owner e.g. network:router_interface, compute:nova
	FixedIPs                                                        []FixedIP
	SecurityGroupIDs                                                []string
	Tags                                                            []string
	RevisionNumber                                                  int
}

// PortFilter selects ports; all given criteria must match. SubnetIDs is a set: any of them.
type PortFilter struct {
	IDs                              []string
	NetworkID, DeviceID, DeviceOwner string
	SubnetIDs                        []string
	Name, Description                string
}

// FloatingIP is a Neutron floating IP.
type FloatingIP struct {
	ID, Description, ProjectID, Status, FloatingNetworkID, Address string
	PortID, FixedIP, RouterID                                      string
	Tags                                                           []string
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
	ID, Name, Description, ProjectID string
	Rules                            []SecurityGroupRule
	Tags                             []string
	RevisionNumber                   int
}

// SecurityGroupCreate is what a new security group takes. Neutron adds two egress rules (IPv4 and IPv6) by itself.
type SecurityGroupCreate struct{ Name, Description string }

// SecurityGroupUpdate changes what is not nil.
type SecurityGroupUpdate struct{ Name, Description *string }

// SecurityGroupFilter selects security groups; all given criteria must match. IDs is a set: any of them.
type SecurityGroupFilter struct {
	IDs               []string
	Name, Description string
}

// SecurityGroupRule is a rule of a security group. An empty Protocol, RemoteGroupID or RemoteIPPrefix means any; PortMin
// and PortMax are 0 for any port.
type SecurityGroupRule struct {
	ID, SecurityGroupID, Description string
	Direction                        string // ingress or egress
	EtherType                        string // IPv4 or IPv6
	Protocol                         string // tcp, udp, icmp, ...
	PortMin, PortMax                 int
	RemoteGroupID, RemoteIPPrefix    string
}

// KeyPair is a Nova key pair. Its name is its identity within the user.
type KeyPair struct{ Name, PublicKey, Fingerprint string }

// LoadBalancer is an Octavia load balancer.
type LoadBalancer struct {
	ID, Name, Description, ProjectID                 string
	ProvisioningStatus                               string // ACTIVE, ERROR or PENDING_*
	VIPAddress, VIPPortID, VIPSubnetID, VIPNetworkID string
	Tags                                             []string
}

// LoadBalancerFilter selects load balancers; all given criteria must match.
type LoadBalancerFilter struct{ VIPNetworkID, VIPSubnetID, Name string }

// ShareNetwork is a Manila share network.
type ShareNetwork struct{ ID, Name, Description, ProjectID, NetworkID, SubnetID string }

// ShareNetworkCreate is what a new share network takes.
type ShareNetworkCreate struct{ Name, Description, NetworkID, SubnetID string }

// ShareNetworkFilter selects share networks; all given criteria must match.
type ShareNetworkFilter struct{ ID, Name, NetworkID, SubnetID string }

// Server is a Nova server, as much of it as a message about a blocked deletion needs.
type Server struct{ ID, Name, Status string }

// Token is what is known about the session's login, never the token itself.
type Token struct {
	ProjectID, UserID, DomainID string
	ExpiresAt                   time.Time
}
