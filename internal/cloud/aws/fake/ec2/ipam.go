package ec2

import (
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// AddIPAMPool adds a pool of IPv6 addresses from which VPCs get their blocks, and returns its ID.
func (s *Service) AddIPAMPool(prefix netip.Prefix) string {
	id := s.core.NewID("ipam-pool")
	s.pools[id] = prefix.Masked()
	return id
}

// wantsIPv6 reports whether a request asks for an IPv6 block.
func wantsIPv6(q *core.Request) bool {
	return q.In.Bool("AmazonProvidedIpv6CidrBlock") || q.In.Has("Ipv6IpamPoolId")
}

// newVPCBlock returns the IPv6 block that a request asks for: of Amazon's pool, or of a pool of the account.
func (s *Service) newVPCBlock(q *core.Request) (*block, error) {
	if q.In.Bool("AmazonProvidedIpv6CidrBlock") {
		if q.In.Has("Ipv6IpamPoolId") || q.In.Has("Ipv6CidrBlock") {
			return nil, protocol.Fail("InvalidParameterCombination", "The parameters amazonProvidedIpv6CidrBlock and ipv6IpamPoolId exclude each other")
		}
		return s.newAmazonBlock(), nil
	}
	id := q.In.String("Ipv6IpamPoolId")
	pool, found := s.pools[id]
	if !found {
		return nil, protocol.Fail("InvalidIpamPoolId.NotFound", "The ipam-pool ID '%s' does not exist", id)
	}
	if q.In.Has("Ipv6CidrBlock") == q.In.Has("Ipv6NetmaskLength") {
		return nil, protocol.Fail("InvalidParameterCombination", "Exactly one of ipv6CidrBlock and ipv6NetmaskLength is needed with an IPAM pool")
	}
	prefix := netip.PrefixFrom(pool.Addr(), int(q.In.Int("Ipv6NetmaskLength")))
	if q.In.Has("Ipv6CidrBlock") {
		var err error
		if prefix, err = parseIPv6(q.In.String("Ipv6CidrBlock"), "ipv6CidrBlock"); err != nil {
			return nil, err
		}
	} else {
		prefix = s.nextInPool(pool, prefix)
	}
	if !isWithin(prefix, []*block{{prefix: pool}}) || s.isAllocated(prefix) {
		return nil, protocol.Fail("InvalidParameterValue", "The CIDR '%s' is not free in the IPAM pool '%s'", prefix, id)
	}
	return &block{id: s.core.NewID("vpc-cidr-assoc"), prefix: prefix, state: "associating", pool: "IPAM Managed"}, nil
}

func (s *Service) isAllocated(prefix netip.Prefix) bool {
	return slices.ContainsFunc(s.vpcs.items, func(v *vpc) bool {
		return slices.ContainsFunc(v.ipv6Blocks, func(b *block) bool { return b.prefix.Overlaps(prefix) })
	})
}

// nextInPool returns the first block of the size of prefix, from there on, that is free; or one that is not in the pool.
func (s *Service) nextInPool(pool, prefix netip.Prefix) netip.Prefix {
	for pool.Contains(prefix.Addr()) && s.isAllocated(prefix) {
		bytes := prefix.Addr().As16()
		for i, carry := (prefix.Bits()-1)/8, 1<<(7-(prefix.Bits()-1)%8); i >= 0 && carry > 0; i-- {
			sum := int(bytes[i]) + carry
			bytes[i], carry = byte(sum), sum>>8
		}
		prefix = netip.PrefixFrom(netip.AddrFrom16(bytes), prefix.Bits())
	}
	return prefix
}

// addVPCBlock adds an IPv6 block, which is associated later.
func (s *Service) addVPCBlock(v *vpc, b *block) {
	v.ipv6Blocks = append(v.ipv6Blocks, b)
	s.core.BeginTransition(core.VPCCIDRAssociate, b.id, func(t core.Transition) {
		b.state = "associated"
		if t.Fail {
			b.state = "failed"
		}
	})
}
