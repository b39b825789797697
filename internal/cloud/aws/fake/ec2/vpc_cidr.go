package ec2

import (
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

func (s *Service) vpcCIDRActions() map[string]core.Action {
	return map[string]core.Action{
		"AssociateVpcCidrBlock":    {Reads: "VpcId CidrBlock AmazonProvidedIpv6CidrBlock Ipv6IpamPoolId Ipv6CidrBlock Ipv6NetmaskLength", Do: s.associateVPCBlock},
		"DisassociateVpcCidrBlock": {Reads: "AssociationId", Do: s.disassociateVPCBlock},
	}
}

// newAmazonBlock returns an IPv6 block of Amazon's pool, a /56.
func (s *Service) newAmazonBlock() *block {
	s.ipv6Blocks++
	address := netip.AddrFrom16([16]byte{0x2a, 0x05, 0xd0, 0x18, byte(s.ipv6Blocks >> 16), byte(s.ipv6Blocks >> 8), byte(s.ipv6Blocks)})
	return &block{id: s.core.NewID("vpc-cidr-assoc"), prefix: netip.PrefixFrom(address, 56), state: "associating", pool: "Amazon"}
}

func (s *Service) associateVPCBlock(q *core.Request) (protocol.Struct, error) {
	v, err := s.vpcs.get(q.In.String("VpcId"))
	if err != nil {
		return nil, err
	}
	if wantsIPv6(q) == q.In.Has("CidrBlock") {
		return nil, protocol.Fail("InvalidParameterCombination", "Exactly one block, of IPv4 or of IPv6, can be associated at a time")
	}
	if wantsIPv6(q) {
		if !s.core.HasRoom(QuotaIPv6Blocks, len(v.ipv6Blocks)) {
			return nil, protocol.Fail("CidrLimitExceeded", "This network '%s' has met its maximum number of allowed CIDRs", v.id)
		}
		b, err := s.newVPCBlock(q)
		if err != nil {
			return nil, err
		}
		s.addVPCBlock(v, b)
		return protocol.Struct{"VpcId": v.id, "Ipv6CidrBlockAssociation": s.vpcIPv6View(b)}, nil
	}
	prefix, err := parseIPv4(q.In.String("CidrBlock"), "cidrBlock")
	if err != nil {
		return nil, err
	}
	switch {
	case !isSizeOfVPC(prefix):
		return nil, protocol.Fail("InvalidVpc.Range", "The CIDR '%s' is invalid.", prefix)
	case slices.ContainsFunc(v.blocks, func(b *block) bool { return b.prefix.Overlaps(prefix) }):
		return nil, protocol.Fail("InvalidParameterValue", "The CIDR '%s' overlaps with another CIDR block of the VPC", prefix)
	case !s.core.HasRoom(QuotaIPv4Blocks, len(v.blocks)):
		return nil, protocol.Fail("CidrLimitExceeded", "This network '%s' has met its maximum number of allowed CIDRs", v.id)
	}
	b := &block{id: s.core.NewID("vpc-cidr-assoc"), prefix: prefix, state: "associated"}
	v.blocks = append(v.blocks, b)
	return protocol.Struct{"VpcId": v.id, "CidrBlockAssociation": protocol.Struct{
		"AssociationId": b.id, "CidrBlock": prefix.String(), "CidrBlockState": b.status(),
	}}, nil
}

// disassociateVPCBlock removes a block without subnets. The first one stays as long as the VPC.
func (s *Service) disassociateVPCBlock(q *core.Request) (protocol.Struct, error) {
	id := q.In.String("AssociationId")
	for _, v := range s.vpcs.items {
		hasID := func(b *block) bool { return b.id == id }
		if i := slices.IndexFunc(v.ipv6Blocks, hasID); i >= 0 {
			b := v.ipv6Blocks[i]
			if s.hasSubnetIn(v, b) {
				return nil, protocol.Fail("InvalidCidrBlock.InUse", "The vpc %s currently has a subnet within CIDR block %s", v.id, b.prefix)
			}
			v.ipv6Blocks = slices.Delete(v.ipv6Blocks, i, i+1)
			s.core.CancelTransition(b.id)
			b.state = "disassociating"
			return protocol.Struct{"VpcId": v.id, "Ipv6CidrBlockAssociation": s.vpcIPv6View(b)}, nil
		}
		if i := slices.IndexFunc(v.blocks, hasID); i >= 0 {
			b := v.blocks[i]
			switch {
			case i == 0:
				return nil, protocol.Fail("OperationNotPermitted", "The vpc CIDR block with association ID %s may not be disassociated. "+
					"It is the primary IPv4 CIDR block of the VPC", id)
			case s.hasSubnetIn(v, b):
				return nil, protocol.Fail("InvalidCidrBlock.InUse", "The vpc %s currently has a subnet within CIDR block %s", v.id, b.prefix)
			}
			v.blocks = slices.Delete(v.blocks, i, i+1)
			return protocol.Struct{"VpcId": v.id, "CidrBlockAssociation": protocol.Struct{
				"AssociationId": b.id, "CidrBlock": b.prefix.String(), "CidrBlockState": protocol.Struct{"State": "disassociating"},
			}}, nil
		}
	}
	return nil, protocol.Fail("InvalidVpcCidrBlockAssociationID.NotFound", "The vpc CIDR block association ID '%s' does not exist", id)
}

func (s *Service) hasSubnetIn(v *vpc, b *block) bool {
	return slices.ContainsFunc(s.subnets.items, func(n *subnet) bool {
		return n.vpcID == v.id && slices.ContainsFunc(n.allBlocks(), func(own *block) bool { return own.prefix.Overlaps(b.prefix) })
	})
}
