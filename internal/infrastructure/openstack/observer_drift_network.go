package openstack

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func networkID(n cloudopenstack.Network) string { return n.ID }
func subnetID(s cloudopenstack.Subnet) string   { return s.ID }

func (s *observedShoot) compareNetwork(d *differences) {
	wanted := s.plan.network
	id := s.knownID(kindNetwork, wanted.givenID)
	d.of("network %s", id)
	observed := byID(s.cloud.networks, id, networkID)
	switch {
	case id == "":
	case observed == nil:
		d.gone(s.whoReplaces(kindNetwork, wanted.givenID, "networks.id"))
	case !s.owns(kindNetwork, wanted.givenID):
		d.on("its administrative state", observed.AdminStateUp, byUser+"switch it on: nodes cannot reach each other")
	default:
		update, _ := networkChange(wanted, *observed)
		d.text("name", observed.Name, wanted.name, setBack)
		s.description(d, observed.Description, "")
		d.on("its administrative state", observed.AdminStateUp, next(update != nil && update.AdminStateUp != nil, setBack))
		if wanted.mtu != 0 && observed.MTU != 0 {
			d.text("MTU", strconv.Itoa(observed.MTU), strconv.Itoa(wanted.mtu), next(update != nil && update.MTU != nil,
				byUser+"set it back; running nodes lose packets until they renew their lease"))
		}
		d.set("availability zone hints", observed.AvailabilityZoneHints, wanted.azHints, immutable)
	}
}

// whoReplaces returns who replaces a resource that does not exist.
func (s *observedShoot) whoReplaces(k kind, givenID, field string) string {
	if s.owns(k, givenID) {
		return recreatedNext
	}
	return byUserFirst + field + " names it, and it cannot be replaced by another one"
}

func (s *observedShoot) compareSubnet(d *differences, wanted subnetSpec) {
	id := s.knownID(wanted.kind, wanted.givenID)
	d.of("subnet %s", id)
	observed := byID(s.cloud.subnets, id, subnetID)
	switch {
	case id == "":
	case observed == nil:
		d.gone(s.whoReplaces(wanted.kind, wanted.givenID, "networks.subnetId"))
	case !s.owns(wanted.kind, wanted.givenID):
		d.on("DHCP", observed.DHCP, byUser+"switch it on, unless the nodes' image knows another way to an address")
		d.text("network", observed.NetworkID, s.knownID(kindNetwork, s.plan.network.givenID), byUserFirst+"correct networks.id or networks.subnetId")
	default:
		s.compareOwnSubnet(d, wanted, *observed)
	}
}

func (s *observedShoot) compareOwnSubnet(d *differences, wanted subnetSpec, observed cloudopenstack.Subnet) {
	update, _ := subnetChange(wanted, observed)
	d.text("network", observed.NetworkID, s.knownID(kindNetwork, s.plan.network.givenID), byUserFirst+"delete the subnet, and it is created again")
	d.text("name", observed.Name, wanted.name, setBack)
	s.description(d, observed.Description, "")
	d.text("IP version", strconv.Itoa(observed.IPVersion), strconv.Itoa(wanted.version), immutable)
	s.compareRange(d, wanted, observed)
	d.text("subnet pool", observed.SubnetPoolID, wanted.poolID, immutable)
	d.text("IPv6 address mode", observed.IPv6AddressMode, wanted.ipv6Mode, immutable)
	d.text("IPv6 router advertisement mode", observed.IPv6RAMode, wanted.ipv6Mode, immutable)
	d.on("DHCP", observed.DHCP, next(update != nil && update.DHCP != nil, setBack))
	d.list("DNS servers", observed.DNSServers, wanted.dnsServers, next(update != nil && update.DNSServers != nil, setBack))
	compareAddresses(d, observed)
	var routes []string
	for _, route := range observed.HostRoutes {
		routes = append(routes, route.Destination+" by "+route.NextHop)
	}
	d.list("host routes", routes, nil, byUser+"remove them")
}

// compareRange compares the range with the configured one, the length that was requested of a pool, and the recorded one.
func (s *observedShoot) compareRange(d *differences, wanted subnetSpec, observed cloudopenstack.Subnet) {
	recorded := s.state.Fact(rangeKey(wanted.kind))
	switch effective := effectiveRange(wanted.kind, observed.CIDR); {
	case wanted.cidr != "":
		if !sameRange(observed.CIDR, wanted.cidr) {
			d.text("range", observed.CIDR, wanted.cidr, immutable)
		}
	case recorded != "" && !sameRange(effective, recorded):
		d.text("range", effective, recorded, immutable)
	case wanted.prefixLength != 0:
		prefix, err := parsePrefix(observed.CIDR)
		if err == nil && prefix.Bits() != wanted.prefixLength {
			d.text("prefix length", strconv.Itoa(prefix.Bits()), strconv.Itoa(wanted.prefixLength), immutable)
		}
	}
}

// compareAddresses compares gateway and allocation pools with Neutron's defaults, which the driver relies on.
func compareAddresses(d *differences, observed cloudopenstack.Subnet) {
	prefix, err := parsePrefix(observed.CIDR)
	if err != nil {
		return
	}
	first := prefix.Addr().Next()
	gateways := []string{first.String()}
	if prefix.Addr().Is6() {
		gateways = append(gateways, prefix.Addr().String()) // Neutron's choice, unless the range is from a pool
	}
	if !slices.Contains(gateways, observed.GatewayIP) {
		d.text("gateway", observed.GatewayIP, gateways[0], setBack)
	}
	if missing := firstMissing(prefix, observed); missing.IsValid() {
		d.foundf("has allocation pools %s, not all of %s: %s is not in them; %s", describePools(observed.AllocationPools), prefix, missing, setBack)
	}
}

// firstMissing returns the first address for hosts that no allocation pool has, except for the gateway's; an invalid one if there is none. It is computed by
// ranges, since an IPv6 subnet has too many addresses to visit.
func firstMissing(prefix netip.Prefix, subnet cloudopenstack.Subnet) netip.Addr {
	type span struct{ from, to netip.Addr }
	var covered []span
	add := func(start, end string) {
		from, errFrom := netip.ParseAddr(start)
		to, errTo := netip.ParseAddr(end)
		if errFrom == nil && errTo == nil {
			covered = append(covered, span{from, to})
		}
	}
	for _, pool := range subnet.AllocationPools {
		add(pool.Start, pool.End)
	}
	add(subnet.GatewayIP, subnet.GatewayIP)
	slices.SortFunc(covered, func(a, b span) int { return a.from.Compare(b.from) })
	address, last := prefix.Addr().Next(), lastForHosts(prefix)
	for _, each := range covered {
		if each.from.Compare(address) <= 0 && address.Compare(each.to) <= 0 {
			address = each.to.Next()
		}
	}
	if !address.IsValid() || last.Less(address) {
		return netip.Addr{}
	}
	return address
}

// lastForHosts returns the last address of a range that a host may have: in IPv4 the last one is for broadcasts.
func lastForHosts(prefix netip.Prefix) netip.Addr {
	bytes := prefix.Addr().AsSlice()
	for bit := prefix.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	if last.Is4() {
		return last.Prev()
	}
	return last
}

func describePools(pools []cloudopenstack.AllocationPool) string {
	texts := make([]string, 0, len(pools))
	for _, pool := range pools {
		texts = append(texts, pool.Start+"-"+pool.End)
	}
	return quoted(strings.Join(texts, ", "))
}
