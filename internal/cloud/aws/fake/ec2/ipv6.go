package ec2

import (
	"encoding/binary"
	"net/netip"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

func (s *Service) ipv6Actions() map[string]core.Action {
	return map[string]core.Action{
		"AssignIpv6Addresses": {Reads: "NetworkInterfaceId Ipv6AddressCount Ipv6PrefixCount", Do: s.assignIPv6Addresses},
	}
}

// assignIPv6Addresses assigns addresses or prefixes that AWS chooses. A repetition assigns more.
func (s *Service) assignIPv6Addresses(q *core.Request) (protocol.Struct, error) {
	i, err := s.interfaces.get(q.In.String("NetworkInterfaceId"))
	if err != nil {
		return nil, err
	}
	n, err := s.subnets.get(i.subnetID)
	if err != nil {
		return nil, err
	}
	addresses, prefixes := int(q.In.Int("Ipv6AddressCount")), int(q.In.Int("Ipv6PrefixCount"))
	switch {
	case (addresses > 0) == (prefixes > 0):
		return nil, protocol.Fail("InvalidParameterCombination", "Exactly one of ipv6AddressCount and ipv6PrefixCount is needed.")
	case len(n.ipv6Blocks) == 0:
		return nil, protocol.Fail("InvalidParameterValue", "Subnet %s has no IPv6 CIDR block.", n.id)
	}
	before := [2]int{len(i.ipv6Addresses), len(i.ipv6Prefixes)}
	s.assignIPv6(i, n, addresses, prefixes)
	return protocol.Struct{
		"NetworkInterfaceId": i.id, "AssignedIpv6Addresses": protocol.ListOf(i.ipv6Addresses[before[0]:]),
		"AssignedIpv6Prefixes": protocol.ListOf(i.ipv6Prefixes[before[1]:]),
	}, nil
}

// prefixBits is the length of the prefixes of interfaces.
const prefixBits = 80

// assignIPv6 assigns addresses of the first /80 of a subnet, and prefixes of the others.
func (s *Service) assignIPv6(i *networkInterface, n *subnet, addresses, prefixes int) {
	for range addresses {
		s.sequence++
		i.ipv6Addresses = append(i.ipv6Addresses, ipv6Address(n, 0, s.sequence).String())
	}
	for range prefixes {
		s.sequence++
		i.ipv6Prefixes = append(i.ipv6Prefixes, netip.PrefixFrom(ipv6Address(n, s.sequence, 0), prefixBits).String())
	}
}

// ipv6Address is an address in a subnet, by the number of its /80 and its number in that.
func ipv6Address(n *subnet, prefix, number int) netip.Addr {
	bytes := n.ipv6Blocks[0].prefix.Addr().As16()
	binary.BigEndian.PutUint16(bytes[8:], uint16(prefix))
	binary.BigEndian.PutUint32(bytes[12:], uint32(number))
	return netip.AddrFrom16(bytes)
}
