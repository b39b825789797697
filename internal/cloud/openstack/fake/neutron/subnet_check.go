package neutron

import (
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// The most DNS servers a subnet may have.
const maxDNSServers = 5

// check validates the attributes of a new subnet on their own.
func (in *subnetInput) check() error {
	if !in.NetworkID.Set {
		return required("network_id")
	}
	if !in.IPVersion.Set {
		return required("ip_version")
	}
	if err := checkID("network_id", in.NetworkID); err != nil {
		return err
	}
	if in.SubnetPoolID.Given() {
		if err := checkID("subnetpool_id", in.SubnetPoolID); err != nil {
			return err
		}
	}
	if in.IPVersion.Value != 4 && in.IPVersion.Value != 6 {
		return badValue("ip_version", "%d is not in valid_values", in.IPVersion.Value)
	}
	if in.PrefixLen.Value < 0 {
		return badValue("prefixlen", "'%d' should be non-negative", in.PrefixLen.Value)
	}
	for _, mode := range []struct {
		attribute string
		sent      core.Opt[string]
	}{{"ipv6_ra_mode", in.IPv6RAMode}, {"ipv6_address_mode", in.IPv6AddressMode}} {
		modes := []string{"dhcpv6-stateful", "dhcpv6-stateless", "slaac"}
		if mode.sent.Given() && !slices.Contains(modes, mode.sent.Value) {
			return badValue(mode.attribute, "%s is not in valid_values", mode.sent.Value)
		}
	}
	return in.subnetChange.check()
}

// check validates changed attributes on their own.
func (in *subnetChange) check() error {
	if err := checkAddress("gateway_ip", in.GatewayIP); err != nil {
		return err
	}
	for _, pool := range in.AllocationPools.Value {
		for _, address := range []string{pool.Start, pool.End} {
			if _, err := netip.ParseAddr(address); err != nil {
				return badValue("allocation_pools", "'%s' is not a valid IP address", address)
			}
		}
	}
	for i, server := range in.DNSNameservers.Value {
		if _, err := netip.ParseAddr(server); err != nil {
			return badValue("dns_nameservers", "'%s' is not a valid nameserver. '%s' is not a valid IP address", server, server)
		}
		if slices.Contains(in.DNSNameservers.Value[:i], server) {
			return badValue("dns_nameservers", "Duplicate nameserver '%s'", server)
		}
	}
	return checkHostRoutes("host_routes", in.HostRoutes.Value)
}

func checkHostRoutes(attribute string, routes []HostRoute) error {
	for i, route := range routes {
		if route.Destination == "" || route.NextHop == "" {
			return badValue(attribute, "Validation of dictionary's keys failed. Expected keys: {'nexthop', 'destination'} Provided keys: {%s}", route.keys())
		}
		if _, err := netip.ParsePrefix(route.Destination); err != nil {
			return badValue(attribute, "'%s' is not a valid CIDR", route.Destination)
		}
		if _, err := netip.ParseAddr(route.NextHop); err != nil {
			return badValue(attribute, "'%s' is not a valid IP address", route.NextHop)
		}
		if slices.Contains(routes[:i], route) {
			return badValue(attribute, "Duplicate hostroute '{'destination': '%s', 'nexthop': '%s'}'", route.Destination, route.NextHop)
		}
	}
	return nil
}

// keys are the attributes of a route in the request.
func (r HostRoute) keys() string {
	switch {
	case r.Destination != "":
		return "'destination'"
	case r.NextHop != "":
		return "'nexthop'"
	}
	return ""
}

// prefix is the requested range, by its first address; the zero prefix if there is none.
func (in *subnetInput) prefix() (netip.Prefix, error) {
	if !in.CIDR.Given() {
		return netip.Prefix{}, nil
	}
	text := in.CIDR.Value
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, invalid("%s is not in a CIDR format", text)
	}
	return prefix.Masked(), nil
}

// checkSubnet validates the attributes of a new subnet against its range.
func (svc *Service) checkSubnet(in *subnetInput, prefix netip.Prefix) error {
	if versionOf(prefix.Addr()) != in.IPVersion.Value {
		return invalid("cidr '%s' does not match the ip_version '%d'", prefix, in.IPVersion.Value)
	}
	if in.EnableDHCP.Or(true) {
		if err := checkDHCP(prefix); err != nil {
			return err
		}
	}
	if in.IPVersion.Value == 6 {
		return checkIPv6Modes(in, prefix)
	}
	switch {
	case in.IPv6RAMode.Given():
		return invalid("ipv6_ra_mode is not valid when ip_version is 4")
	case in.IPv6AddressMode.Given():
		return invalid("ipv6_address_mode is not valid when ip_version is 4")
	}
	return nil
}

func versionOf(address netip.Addr) int {
	if address.Is4() {
		return 4
	}
	return 6
}

// checkDHCP refuses ranges without an address for a DHCP server.
func checkDHCP(prefix netip.Prefix) error {
	switch {
	case prefix.Bits() > prefix.Addr().BitLen()-2:
		return invalid("Subnet has a prefix length that is incompatible with DHCP service enabled")
	case prefix.Addr().IsMulticast():
		return invalid("Multicast IP subnet is not supported if enable_dhcp is True")
	case prefix.Addr().IsLoopback():
		return invalid("Loopback IP subnet is not supported if enable_dhcp is True")
	case prefix.Addr() == netip.IPv4Unspecified():
		return invalid("First IP '0.0.0.0' of network is not supported if enable_dhcp is True.")
	}
	return nil
}

func checkIPv6Modes(in *subnetInput, prefix netip.Prefix) error {
	address, ra := in.IPv6AddressMode, in.IPv6RAMode
	switch {
	case !address.Given() && !ra.Given():
		return nil
	case !in.EnableDHCP.Or(true):
		return invalid("ipv6_ra_mode or ipv6_address_mode cannot be set when enable_dhcp is set to False")
	case address.Given() && ra.Given() && address.Value != ra.Value:
		return invalid("ipv6_ra_mode set to '%s' with ipv6_address_mode set to '%s' is not valid. If both attributes are set, they must be the same value", ra.Value, address.Value)
	case autoMode(address.Value) && prefix.Bits() != 64:
		return invalid("Invalid CIDR %s for IPv6 address mode. OpenStack uses the EUI-64 address format, which requires the prefix to be /64", prefix)
	}
	return nil
}

func autoMode(mode string) bool { return mode == "slaac" || mode == "dhcpv6-stateless" }

// defaultGateway is the first address for hosts; for IPv6 the first of all, unless the range is from a pool.
func defaultGateway(prefix netip.Prefix, chosen bool) netip.Addr {
	if prefix.Addr().Is6() && !chosen {
		return prefix.Addr()
	}
	return prefix.Addr().Next()
}

// checkChange validates changed attributes against their subnet.
func (svc *Service) checkChange(s *Subnet, in *subnetChange, isNew bool) error {
	if in.EnableDHCP.Or(false) && !isNew && !s.EnableDHCP {
		if err := checkDHCP(PrefixOf(s)); err != nil {
			return err
		}
	}
	if err := svc.checkSubnetGateway(s, in, isNew); err != nil {
		return err
	}
	if err := checkDNSServers(s, in.DNSNameservers.Value, isNew); err != nil {
		return err
	}
	for _, route := range in.HostRoutes.Value {
		if hop := AddrOf(route.NextHop); versionOf(hop) != s.IPVersion {
			return invalid("nexthop '%s' does not match the ip_version '%d'", hop, s.IPVersion)
		}
	}
	if s.IPVersion == 6 && in.EnableDHCP.Set && !in.EnableDHCP.Value && !isNew && s.IPv6RAMode+s.IPv6AddressMode != "" {
		return invalid("Cannot disable enable_dhcp with ipv6 attributes set")
	}
	return checkPools(s, in)
}

func checkDNSServers(s *Subnet, servers []string, isNew bool) error {
	if len(servers) > maxDNSServers {
		whose := s.ID
		if isNew {
			whose = "new subnet"
		}
		return core.BadRequest("DNSNameServersExhausted", "Unable to complete operation for %s. The number of DNS nameservers exceeds the limit %d.", whose, maxDNSServers)
	}
	for _, server := range servers {
		if versionOf(AddrOf(server)) != s.IPVersion {
			return invalid("dns_nameserver '%s' does not match the ip_version '%d'", server, s.IPVersion)
		}
	}
	return nil
}

// checkSubnetGateway refuses a reserved address of the range. One outside of the range is accepted.
func (svc *Service) checkSubnetGateway(s *Subnet, in *subnetChange, isNew bool) error {
	prefix := PrefixOf(s)
	reserved := func(address netip.Addr) bool {
		return prefix.Addr().Is4() && (address == prefix.Addr() || address == lastOf(prefix))
	}
	if !in.GatewayIP.Given() {
		if gateway := AddrOf(string(s.GatewayIP)); isNew && !in.GatewayIP.Set && prefix.Contains(gateway) && reserved(gateway) {
			return core.Conflict("IpamValueInvalid", "Gateway IP %s cannot be allocated in CIDR %s", gateway, prefix)
		}
		return nil
	}
	gateway := AddrOf(in.GatewayIP.Value)
	if versionOf(gateway) != s.IPVersion {
		return invalid("gateway_ip '%s' does not match the ip_version '%d'", gateway, s.IPVersion)
	}
	if reserved(gateway) {
		return invalid("Gateway is not valid on subnet")
	}
	if !isNew && string(s.GatewayIP) != gateway.String() {
		owner := svc.Used[s.ID][AddrOf(string(s.GatewayIP))]
		if p := svc.Ports.Get(owner); p != nil && IsRouterInterface(p.DeviceOwner) {
			return core.Conflict("GatewayIpInUse", "Current gateway ip %s already in use by port %s. Unable to update.", s.GatewayIP, p.ID)
		}
	}
	return nil
}

// checkPools refuses pools outside of the range, or that overlap each other or the gateway.
func checkPools(s *Subnet, in *subnetChange) error {
	pools := s.AllocationPools
	if in.AllocationPools.Given() {
		pools = in.AllocationPools.Value
		if err := checkRanges(PrefixOf(s), pools); err != nil {
			return err
		}
	}
	gateway := AddrOf(string(s.GatewayIP))
	if in.GatewayIP.Set {
		gateway = AddrOf(in.GatewayIP.Value)
	}
	for _, pool := range pools {
		if gateway.IsValid() && AddrOf(pool.Start).Compare(gateway) <= 0 && gateway.Compare(AddrOf(pool.End)) <= 0 {
			return core.Conflict("GatewayConflictWithAllocationPools", "Gateway ip %s conflicts with allocation pool %s-%s.", gateway, pool.Start, pool.End)
		}
	}
	return nil
}

func checkRanges(prefix netip.Prefix, pools []AllocationPool) error {
	for _, pool := range pools {
		if end := AddrOf(pool.End); end.Less(AddrOf(pool.Start)) || versionOf(end) != versionOf(AddrOf(pool.Start)) {
			return core.BadRequest("InvalidAllocationPool", "The allocation pool {'end': '%s', 'start': '%s'} is not valid.", pool.End, pool.Start)
		}
	}
	first, last := hostsOf(prefix)
	for _, pool := range pools {
		start, end := AddrOf(pool.Start), AddrOf(pool.End)
		if start.BitLen() != first.BitLen() {
			return core.BadRequest("InvalidAllocationPool", "The allocation pool %s-%s is not valid.", pool.Start, pool.End)
		}
		if start.Less(first) || last.Less(end) {
			return core.BadRequest("OutOfBoundsAllocationPool", "The allocation pool %s-%s spans beyond the subnet cidr %s.", pool.Start, pool.End, prefix)
		}
	}
	for i, pool := range pools {
		for _, other := range pools[i+1:] {
			if AddrOf(pool.Start).Compare(AddrOf(other.End)) <= 0 && AddrOf(other.Start).Compare(AddrOf(pool.End)) <= 0 {
				return core.Conflict("OverlappingAllocationPools", "Found overlapping allocation pools: %s-%s %s-%s for subnet %s.", pool.Start, pool.End, other.Start, other.End, prefix)
			}
		}
	}
	return nil
}
