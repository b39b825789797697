package neutron

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// FixedIPInput is an address as a request asks for it: subnet, address, or both.
type FixedIPInput struct {
	SubnetID  string `json:"subnet_id"`
	IPAddress string `json:"ip_address"`
}

// PrefixOf returns the range of a stored subnet, which has been checked.
func PrefixOf(s *Subnet) netip.Prefix { return netip.MustParsePrefix(s.CIDR) }

// AddrOf parses a stored address; the zero address for "".
func AddrOf(s string) netip.Addr {
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return addr
}

// isAuto reports whether ports derive their address in the subnet from their MAC address.
func isAuto(s *Subnet) bool { return s.IPVersion == 6 && autoMode(string(s.IPv6AddressMode)) }

// lastOf returns the highest address of a range.
func lastOf(p netip.Prefix) netip.Addr {
	raw := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(raw)*8; bit++ {
		raw[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(raw)
	return last
}

// usable reports whether a host may have the address: the first and the last of an IPv4 range are reserved.
func usable(p netip.Prefix, addr netip.Addr) bool {
	if !p.Contains(addr) {
		return false
	}
	if p.Addr().Is6() || p.Bits() >= 31 {
		return true
	}
	return addr != p.Addr() && addr != lastOf(p)
}

// hostsOf returns the first and the last address of a range that are not reserved.
func hostsOf(p netip.Prefix) (first, last netip.Addr) {
	first, last = p.Addr(), lastOf(p)
	switch {
	case first == last || first.Is4() && p.Bits() > 30:
		return first, last
	case first.Is4():
		return first.Next(), last.Prev()
	default:
		return first.Next(), last
	}
}

// DefaultPools is the whole range without reserved addresses and the gateway.
func DefaultPools(s *Subnet) []AllocationPool {
	first, last := hostsOf(PrefixOf(s))
	pools := []AllocationPool{}
	add := func(from, to netip.Addr) {
		if from.IsValid() && to.IsValid() && from.Compare(to) <= 0 {
			pools = append(pools, AllocationPool{Start: from.String(), End: to.String()})
		}
	}
	gateway := AddrOf(string(s.GatewayIP))
	if first == last || !gateway.IsValid() || gateway.Less(first) || last.Less(gateway) {
		add(first, last)
		return pools
	}
	if gateway != first {
		add(first, gateway.Prev())
	}
	if gateway != last {
		add(gateway.Next(), last)
	}
	return pools
}

// claim allocates a given address of a subnet for a port.
func (svc *Service) claim(s *Subnet, addr netip.Addr, portID string) error {
	if !usable(PrefixOf(s), addr) {
		return core.BadRequest("InvalidIpForSubnet", "IP address %s is not a valid IP for the specified subnet.", addr)
	}
	used := svc.Used[s.ID]
	if _, taken := used[addr]; taken {
		return core.Conflict("IpAddressAlreadyAllocated", "IP address %s already allocated in subnet %s", addr, s.ID)
	}
	if used == nil {
		used = map[netip.Addr]string{}
		svc.Used[s.ID] = used
	}
	used[addr] = portID
	return nil
}

// allocate allocates the lowest free address of a subnet's pools, or the one that is derived from the MAC address.
func (svc *Service) allocate(s *Subnet, portID, mac string) (FixedIP, error) {
	if isAuto(s) {
		addr := eui64(PrefixOf(s), mac)
		return FixedIP{SubnetID: s.ID, IPAddress: addr.String()}, svc.claim(s, addr, portID)
	}
	if !svc.Full[s.ID] {
		used := svc.Used[s.ID]
		for _, pool := range s.AllocationPools {
			end := AddrOf(pool.End)
			for addr := AddrOf(pool.Start); addr.Compare(end) <= 0; addr = addr.Next() {
				if _, taken := used[addr]; !taken {
					return FixedIP{SubnetID: s.ID, IPAddress: addr.String()}, svc.claim(s, addr, portID)
				}
			}
		}
	}
	return FixedIP{}, core.Conflict("IpAddressGenerationFailure", "No more IP addresses available on network %s.", s.NetworkID)
}

func (svc *Service) release(ips []FixedIP) {
	for _, ip := range ips {
		delete(svc.Used[ip.SubnetID], AddrOf(ip.IPAddress))
	}
}

// addAutoAddresses gives the ports of a network their automatic address in a new subnet.
func (svc *Service) addAutoAddresses(s *Subnet) {
	if !isAuto(s) {
		return
	}
	for _, p := range svc.Ports.Where(func(p *Port) bool { return p.NetworkID == s.NetworkID && !IsRouterInterface(p.DeviceOwner) }) {
		if ip, err := svc.allocate(s, p.ID, p.MACAddress); err == nil {
			p.FixedIPs = core.With(p.FixedIPs, ip)
			svc.Touch(p.Base())
		}
	}
}

// addDHCPAddress gives the DHCP agent an address in a new subnet.
func (svc *Service) addDHCPAddress(n *Network, s *Subnet) {
	if !svc.Config.DhcpPorts || !s.EnableDHCP || isAuto(s) {
		return
	}
	p := svc.Ports.First(func(p *Port) bool { return p.NetworkID == n.ID && p.DeviceOwner == ownerDHCP })
	if p == nil {
		p = svc.NewPort(n.ProjectID, n, ownerDHCP, "dhcp-"+n.ID)
		p.Status = "ACTIVE"
		svc.Ports.Add(p)
	}
	if ip, err := svc.allocate(s, p.ID, p.MACAddress); err == nil {
		p.FixedIPs = core.With(p.FixedIPs, ip)
	}
}

// eui64 is the address in a /64 that is derived from a MAC address.
func eui64(p netip.Prefix, mac string) netip.Addr {
	hw, err := net.ParseMAC(mac)
	if err != nil || len(hw) != 6 {
		return netip.Addr{}
	}
	raw := p.Addr().As16()
	copy(raw[8:], []byte{hw[0] ^ 2, hw[1], hw[2], 0xff, 0xfe, hw[3], hw[4], hw[5]})
	return netip.AddrFrom16(raw)
}

// ExhaustSubnet makes a subnet, given by name or ID, have no free address; or again, when full is false.
func (svc *Service) ExhaustSubnet(nameOrID string, full bool) error {
	s := svc.Subnets.First(func(s *Subnet) bool { return s.ID == nameOrID || s.Name == nameOrID })
	if s == nil {
		return fmt.Errorf("exhausting a subnet: no subnet %q", nameOrID)
	}
	svc.Full[s.ID] = full
	return nil
}
