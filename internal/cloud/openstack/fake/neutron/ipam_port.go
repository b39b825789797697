package neutron

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// AllocateAny allocates the addresses of a port without a request: an IPv4 address of the first subnet that has a free one, the same for IPv6, and an
// address in each subnet with automatic addresses.
func (svc *Service) AllocateAny(n *Network, portID, mac string) ([]FixedIP, error) {
	ips := []FixedIP{}
	tried, assigned := map[int]bool{}, map[int]bool{}
	for _, id := range n.Subnets {
		s := svc.Subnets.Get(id)
		if !isAuto(s) {
			tried[s.IPVersion] = true
			if assigned[s.IPVersion] {
				continue
			}
		}
		ip, err := svc.allocate(s, portID, mac)
		if err != nil {
			continue
		}
		ips = append(ips, ip)
		assigned[s.IPVersion] = assigned[s.IPVersion] || !isAuto(s)
	}
	for version := range tried {
		if !assigned[version] {
			svc.release(ips)
			return nil, core.Conflict("IpAddressGenerationFailure", "No more IP addresses available on network %s.", n.ID)
		}
	}
	return ips, nil
}

// Assign allocates the requested addresses, all or none.
func (svc *Service) Assign(n *Network, portID, mac string, wanted []FixedIPInput) ([]FixedIP, error) {
	ips := []FixedIP{}
	for _, w := range wanted {
		ip, err := svc.assignOne(n, portID, mac, w)
		if err != nil {
			svc.release(ips)
			return nil, err
		}
		ips = append(ips, ip)
	}
	return ips, nil
}

func (svc *Service) assignOne(n *Network, portID, mac string, w FixedIPInput) (FixedIP, error) {
	s, err := svc.subnetFor(n, w)
	if err != nil {
		return FixedIP{}, err
	}
	if w.IPAddress == "" {
		return svc.allocate(s, portID, mac)
	}
	addr := AddrOf(w.IPAddress)
	if isAuto(s) {
		return FixedIP{}, core.BadRequest("AllocationOnAutoAddressSubnet", "IPv6 address %s cannot be directly assigned to a port on subnet %s as the subnet is configured for automatic addresses", addr, s.ID)
	}
	return FixedIP{SubnetID: s.ID, IPAddress: addr.String()}, svc.claim(s, addr, portID)
}

// assignWithAuto is Assign for a port of a member. Automatic addresses cannot be chosen: the port has one in each subnet that has them.
func (svc *Service) assignWithAuto(n *Network, p *Port, wanted []FixedIPInput) ([]FixedIP, error) {
	auto := func(id string) bool {
		s := svc.Subnets.Get(id)
		return s != nil && isAuto(s) && s.NetworkID == n.ID
	}
	ips, err := svc.Assign(n, p.ID, p.MACAddress, core.Without(wanted, func(w FixedIPInput) bool { return w.IPAddress == "" && auto(w.SubnetID) }))
	if err != nil || IsRouterInterface(p.DeviceOwner) {
		return ips, err
	}
	for _, id := range n.Subnets {
		if !auto(id) || slices.ContainsFunc(p.FixedIPs, func(ip FixedIP) bool { return ip.SubnetID == id }) {
			continue
		}
		ip, err := svc.allocate(svc.Subnets.Get(id), p.ID, p.MACAddress)
		if err != nil {
			svc.release(ips)
			return nil, err
		}
		ips = append(ips, ip)
	}
	return ips, nil
}

// replaceFixedIPs replaces the addresses of a port by the requested ones. It keeps those that are requested again: the same address, or one in a subnet
// for which any address is requested, and its automatic addresses. Either all are replaced or none.
func (svc *Service) replaceFixedIPs(n *Network, p *Port, wanted []FixedIPInput) ([]FixedIP, error) {
	left := slices.Clone(p.FixedIPs)
	var kept []FixedIP
	keep := func(is func(FixedIP) bool) bool {
		at := slices.IndexFunc(left, is)
		if at < 0 {
			return false
		}
		kept, left = append(kept, left[at]), slices.Delete(left, at, at+1)
		return true
	}
	wanted = core.Without(wanted, func(w FixedIPInput) bool {
		return w.IPAddress != "" && keep(func(ip FixedIP) bool { return AddrOf(ip.IPAddress) == AddrOf(w.IPAddress) })
	})
	wanted = core.Without(wanted, func(w FixedIPInput) bool {
		return w.IPAddress == "" && keep(func(ip FixedIP) bool { return ip.SubnetID == w.SubnetID })
	})
	for keep(func(ip FixedIP) bool { return isAuto(svc.Subnets.Get(ip.SubnetID)) }) {
	}
	svc.release(left)
	more, err := svc.assignWithAuto(n, p, wanted)
	if err != nil {
		for _, ip := range left {
			svc.Used[ip.SubnetID][AddrOf(ip.IPAddress)] = p.ID
		}
		return nil, err
	}
	return append(append([]FixedIP{}, kept...), more...), nil
}

func (svc *Service) subnetFor(n *Network, w FixedIPInput) (*Subnet, error) {
	if len(n.Subnets) == 0 {
		return nil, invalid("IP allocation requires subnets for network")
	}
	if w.SubnetID == "" && w.IPAddress == "" {
		return nil, invalid("IP allocation requires subnet_id or ip_address")
	}
	if w.SubnetID != "" {
		s := svc.Subnets.Get(w.SubnetID)
		if s == nil {
			return nil, subnetNotFound(w.SubnetID)
		}
		if s.NetworkID != n.ID {
			return nil, invalid("Failed to create port on network %s, because fixed_ips included invalid subnet %s", n.ID, s.ID)
		}
		return s, nil
	}
	for _, id := range n.Subnets {
		if s := svc.Subnets.Get(id); PrefixOf(s).Contains(AddrOf(w.IPAddress)) {
			return s, nil
		}
	}
	return nil, core.BadRequest("InvalidIpForNetwork", "IP address %s is not a valid IP for any of the subnets on the specified network.", w.IPAddress)
}
