package fake

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// The most DNS servers a subnet may have.
const maxDNSServers = 5

// subnetInput are the attributes of a subnet that may be sent in a create.
type subnetInput struct {
	subnetChange
	NetworkID       opt[string] `json:"network_id"`
	IPVersion       opt[int]    `json:"ip_version"`
	CIDR            opt[string] `json:"cidr"`
	SubnetPoolID    opt[string] `json:"subnetpool_id"`
	PrefixLen       opt[int]    `json:"prefixlen"`
	IPv6AddressMode opt[string] `json:"ipv6_address_mode"`
	IPv6RAMode      opt[string] `json:"ipv6_ra_mode"`
}

// subnetChange are those that an update may change.
type subnetChange struct {
	Name            opt[string]           `json:"name"`
	Description     opt[string]           `json:"description"`
	GatewayIP       opt[string]           `json:"gateway_ip"`
	EnableDHCP      opt[bool]             `json:"enable_dhcp"`
	DNSNameservers  opt[[]string]         `json:"dns_nameservers"`
	AllocationPools opt[[]AllocationPool] `json:"allocation_pools"`
	HostRoutes      opt[[]HostRoute]      `json:"host_routes"`
	ServiceTypes    opt[[]string]         `json:"service_types"`
}

func (c *Cloud) subnetCollection() *collection[Subnet] {
	return &collection[Subnet]{
		one: "subnet", many: "subnets", path: "subnets", quota: "subnet",
		rows: c.neutron.subnets, std: func(s *Subnet) *Standard { return s.standard() },
		missing: subnetNotFound,
		visible: func(who *identity, s *Subnet) bool {
			_, err := c.readableNetwork(who, s.NetworkID)
			return err == nil
		},
		deletable: func(who *identity, s *Subnet) bool { return who.owns(c.neutron.networks.get(s.NetworkID).ProjectID) },
		create:    c.createSubnet, update: c.updateSubnet, remove: c.deleteSubnet,
		discard: c.dropSubnet,
	}
}

func subnetNotFound(id string) *wire.Error {
	return notFound("SubnetNotFound", "Subnet %s could not be found.", id)
}

func invalid(format string, args ...any) *wire.Error {
	e := badRequest("InvalidInput", format, args...)
	e.Message = "Invalid input for operation: " + e.Message + "."
	return e
}

func required(attribute string) *wire.Error {
	return badRequest("HTTPBadRequest", "Failed to parse request. Required attribute '%s' not specified", attribute)
}

func (c *Cloud) createSubnet(q *request, projectID string, raw json.RawMessage) (*Subnet, error) {
	var in subnetInput
	if err := decodeNeutron[Subnet](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if !in.NetworkID.given() {
		return nil, required("network_id")
	}
	if !in.IPVersion.given() {
		return nil, required("ip_version")
	}
	network, err := c.readableNetwork(q.identity, in.NetworkID.v)
	if err != nil {
		return nil, err
	}
	if !q.owns(network.ProjectID) {
		return nil, forbidden("PolicyNotAuthorized", "rule:create_subnet is disallowed by policy")
	}
	prefix, err := c.subnetPrefix(q, &in)
	if err != nil {
		return nil, err
	}
	if err := checkIPv6Modes(&in, prefix); err != nil {
		return nil, err
	}
	for _, id := range network.Subnets {
		if other := c.neutron.subnets.get(id); prefixOf(other).Overlaps(prefix) {
			return nil, invalid("Requested subnet with cidr: %s for network: %s overlaps with another subnet", prefix, network.ID)
		}
	}
	s := c.newSubnet(projectID, network.ID, prefix.String())
	s.IPVersion, s.SubnetPoolID, s.GatewayIP = in.IPVersion.v, Null(in.SubnetPoolID.v), Null(prefix.Addr().Next().String())
	s.IPv6AddressMode, s.IPv6RAMode = Null(in.IPv6AddressMode.v), Null(in.IPv6RAMode.v)
	if err := c.applySubnet(s, &in.subnetChange, true); err != nil {
		return nil, err
	}
	c.storeSubnet(network, s)
	c.addAutoAddresses(s)
	c.addDHCPAddress(network, s)
	return s, nil
}

// newSubnet is an IPv4 subnet with the defaults, without a gateway and not yet stored.
func (c *Cloud) newSubnet(projectID, networkID, cidr string) *Subnet {
	return &Subnet{
		Standard: c.newStandard(projectID, ""), NetworkID: networkID, IPVersion: 4, CIDR: cidr, EnableDHCP: true,
		DNSNameservers: []string{}, HostRoutes: []HostRoute{}, ServiceTypes: []string{},
	}
}

func (c *Cloud) storeSubnet(n *Network, s *Subnet) {
	c.neutron.subnets.add(s)
	n.Subnets = with(n.Subnets, s.ID)
	c.touch(n.standard())
}

// subnetPrefix is the range of a new subnet: as given, or taken from a subnet pool.
func (c *Cloud) subnetPrefix(q *request, in *subnetInput) (netip.Prefix, error) {
	if in.IPVersion.v != 4 && in.IPVersion.v != 6 {
		return netip.Prefix{}, badRequest("HTTPBadRequest", "Invalid input for ip_version. Reason: '%d' is not in [4, 6].", in.IPVersion.v)
	}
	var prefix netip.Prefix
	if in.CIDR.given() {
		parsed, err := netip.ParsePrefix(in.CIDR.v)
		if err != nil {
			return prefix, badRequest("HTTPBadRequest", "Invalid input for cidr. Reason: '%s' is not a valid IP subnet.", in.CIDR.v)
		}
		if parsed != parsed.Masked() {
			return prefix, badRequest("HTTPBadRequest", "Invalid input for cidr. Reason: '%s' isn't a recognized IP subnet cidr, '%s' is recommended.", in.CIDR.v, parsed.Masked())
		}
		if parsed.Addr().Is4() != (in.IPVersion.v == 4) {
			return prefix, invalid("Subnet cidr %s does not match the ip_version %d", in.CIDR.v, in.IPVersion.v)
		}
		prefix = parsed
	}
	if in.SubnetPoolID.given() {
		return c.prefixFromPool(q, in, prefix)
	}
	if !prefix.IsValid() {
		return prefix, badRequest("BadRequest", "Bad subnets request: a subnetpool must be specified in the absence of a cidr.")
	}
	return prefix, nil
}

func checkIPv6Modes(in *subnetInput, prefix netip.Prefix) error {
	modes := []string{"dhcpv6-stateful", "dhcpv6-stateless", "slaac"}
	address, ra := in.IPv6AddressMode, in.IPv6RAMode
	for name, mode := range map[string]opt[string]{"ipv6_address_mode": address, "ipv6_ra_mode": ra} {
		if !mode.given() {
			continue
		}
		if !slices.Contains(modes, mode.v) {
			return badRequest("HTTPBadRequest", "Invalid input for %s. Reason: '%s' is not in ['dhcpv6-stateful', 'dhcpv6-stateless', 'slaac'].", name, mode.v)
		}
		if in.IPVersion.v == 4 {
			return invalid("%s is not valid when ip_version is 4", name)
		}
	}
	if !address.given() && !ra.given() {
		return nil
	}
	if !in.EnableDHCP.or(true) {
		return invalid("ipv6_ra_mode or ipv6_address_mode cannot be set when enable_dhcp is set to False")
	}
	if address.given() && ra.given() && address.v != ra.v {
		return invalid("ipv6_ra_mode set to '%s' with ipv6_address_mode set to '%s' is not valid. If both attributes are set, they must be the same value", ra.v, address.v)
	}
	if autoMode(address.v) || autoMode(ra.v) {
		if prefix.Bits() != 64 {
			return invalid("Invalid CIDR %s for IPv6 address mode. OpenStack uses the EUI-64 address format, which requires the prefix to be /64", prefix)
		}
	}
	return nil
}

func autoMode(mode string) bool { return mode == "slaac" || mode == "dhcpv6-stateless" }

func (c *Cloud) updateSubnet(_ *request, s *Subnet, raw json.RawMessage) error {
	var in subnetChange
	if err := decodeNeutron[Subnet](raw, &in, http.MethodPut); err != nil {
		return err
	}
	changed := *s
	if err := c.applySubnet(&changed, &in, false); err != nil {
		return err
	}
	*s = changed
	return nil
}

// applySubnet checks and sets what may change in a subnet. A new subnet gets the default allocation pools.
func (c *Cloud) applySubnet(s *Subnet, in *subnetChange, isNew bool) error {
	in.Name.into(&s.Name)
	in.Description.into(&s.Description)
	in.EnableDHCP.into(&s.EnableDHCP)
	if in.ServiceTypes.given() {
		s.ServiceTypes = in.ServiceTypes.v
	}
	if in.HostRoutes.set {
		s.HostRoutes = append([]HostRoute{}, in.HostRoutes.v...)
	}
	if in.DNSNameservers.set {
		if err := checkDNSServers(s.ID, in.DNSNameservers.v); err != nil {
			return err
		}
		s.DNSNameservers = append([]string{}, in.DNSNameservers.v...)
	}
	if in.GatewayIP.set {
		if err := c.checkSubnetGateway(s, in.GatewayIP, isNew); err != nil {
			return err
		}
		s.GatewayIP = Null(in.GatewayIP.v)
	}
	switch {
	case in.AllocationPools.given():
		if err := checkPools(s, in.AllocationPools.v); err != nil {
			return err
		}
		s.AllocationPools = in.AllocationPools.v
	case isNew:
		s.AllocationPools = defaultPools(s)
	}
	return nil
}

func checkDNSServers(subnetID string, servers []string) error {
	if len(servers) > maxDNSServers {
		return badRequest("DNSNameServersExhausted", "Unable to complete operation for %s. The number of DNS nameservers exceeds the limit %d.", subnetID, maxDNSServers)
	}
	for i, server := range servers {
		if _, err := netip.ParseAddr(server); err != nil {
			return badRequest("HTTPBadRequest", "Invalid input for dns_nameservers. Reason: '%s' is not a valid nameserver. '%s' is not a valid IP address.", server, server)
		}
		if slices.Contains(servers[:i], server) {
			return badRequest("HTTPBadRequest", "Invalid input for dns_nameservers. Reason: Duplicate nameserver '%s'.", server)
		}
	}
	return nil
}

func (c *Cloud) checkSubnetGateway(s *Subnet, gateway opt[string], isNew bool) error {
	if !isNew && string(s.GatewayIP) != gateway.v {
		owner := c.neutron.used[s.ID][addrOf(string(s.GatewayIP))]
		if p := c.neutron.ports.get(owner); p != nil && isRouterInterface(p.DeviceOwner) {
			return conflict("GatewayIpInUse", "Current gateway ip %s already in use by port %s. Unable to update.", s.GatewayIP, p.ID)
		}
	}
	if gateway.null {
		return nil
	}
	addr, err := netip.ParseAddr(gateway.v)
	if err != nil {
		return badRequest("HTTPBadRequest", "Invalid input for gateway_ip. Reason: '%s' is not a valid IP address.", gateway.v)
	}
	if !usable(prefixOf(s), addr) {
		return invalid("Gateway is not valid on subnet")
	}
	return nil
}

// deleteSubnet refuses while a port has an address, but for the addresses that Neutron takes back by itself.
func (c *Cloud) deleteSubnet(_ *request, s *Subnet) error {
	on := c.neutron.ports.where(func(p *Port) bool { return portIn(p, s.ID) })
	for _, p := range on {
		if p.DeviceOwner == ownerDHCP || isAuto(s) && !isRouterInterface(p.DeviceOwner) {
			continue
		}
		return conflict("SubnetInUse", "Unable to complete operation on subnet %s: One or more ports have an IP allocation from this subnet.", s.ID)
	}
	for _, p := range on {
		p.FixedIPs = without(p.FixedIPs, func(ip FixedIP) bool { return ip.SubnetID == s.ID })
		if p.DeviceOwner == ownerDHCP && len(p.FixedIPs) == 0 {
			c.dropPort(p)
		}
	}
	c.dropSubnet(s)
	return nil
}

func (c *Cloud) dropSubnet(s *Subnet) {
	c.neutron.subnets.remove(s.ID)
	delete(c.neutron.used, s.ID)
	if n := c.neutron.networks.get(s.NetworkID); n != nil {
		n.Subnets = without(n.Subnets, func(id string) bool { return id == s.ID })
		c.touch(n.standard())
	}
}

func portIn(p *Port, subnetID string) bool {
	return slices.ContainsFunc(p.FixedIPs, func(ip FixedIP) bool { return ip.SubnetID == subnetID })
}
