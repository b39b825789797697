package ec2

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

type subnet struct {
	meta

	vpcID, zone string
	block       *block // nil for a subnet with IPv6 only
	ipv6Blocks  []*block

	publicAddresses, ipv6Addresses, dns64, aRecord, aaaaRecord bool
	hostnameType                                               string
}

func (n *subnet) allBlocks() []*block {
	if n.block == nil {
		return n.ipv6Blocks
	}
	return append([]*block{n.block}, n.ipv6Blocks...)
}

func (n *subnet) cidr() string {
	if n.block == nil {
		return ""
	}
	return n.block.prefix.String()
}

func (s *Service) newSubnets() *collection[*subnet] {
	return &collection[*subnet]{
		kind: "subnet", ids: "SubnetIds", answer: "Subnets", view: s.viewSubnet,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
		},
		filters: map[string]func(*subnet) []string{
			"subnet-id":            one(func(n *subnet) string { return n.id }),
			"vpc-id":               one(func(n *subnet) string { return n.vpcID }),
			"availability-zone":    one(func(n *subnet) string { return n.zone }),
			"availability-zone-id": one(func(n *subnet) string { return s.zoneID(n.zone) }),
			"cidr-block":           one((*subnet).cidr),
			"ipv6-cidr-block-association.ipv6-cidr-block": func(n *subnet) []string { return prefixesOf(n.ipv6Blocks) },
			"ipv6-native":             one(func(n *subnet) string { return yes(n.block == nil) }),
			"map-public-ip-on-launch": one(func(n *subnet) string { return yes(n.publicAddresses) }),
			"default-for-az":          one(func(*subnet) string { return "false" }),
			"state":                   one(func(*subnet) string { return "available" }),
			"owner-id":                one(func(*subnet) string { return s.owner() }),
		},
	}
}

func (s *Service) viewSubnet(n *subnet) protocol.Struct {
	ipv6 := []any{}
	for _, b := range n.ipv6Blocks {
		ipv6 = append(ipv6, b.ipv6View())
	}
	return protocol.Struct{
		"SubnetId": n.id, "SubnetArn": s.core.ARN("ec2", s.core.Config.Region, "subnet/"+n.id), "OwnerId": s.owner(), "State": "available", "VpcId": n.vpcID,
		"CidrBlock": protocol.OrNil(n.cidr()), "Ipv6CidrBlockAssociationSet": ipv6, "Ipv6Native": n.block == nil, "AvailabilityZone": n.zone,
		"AvailabilityZoneId": s.zoneID(n.zone), "AvailableIpAddressCount": s.freeAddresses(n), "DefaultForAz": false,
		"MapPublicIpOnLaunch": n.publicAddresses, "AssignIpv6AddressOnCreation": n.ipv6Addresses, "EnableDns64": n.dns64,
		"PrivateDnsNameOptionsOnLaunch": protocol.Struct{
			"HostnameType": n.hostnameType, "EnableResourceNameDnsARecord": n.aRecord, "EnableResourceNameDnsAAAARecord": n.aaaaRecord,
		},
		"Tags": n.tagList(),
	}
}

func (s *Service) subnetActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateSubnet":    {Reads: "VpcId CidrBlock Ipv6CidrBlock Ipv6Native AvailabilityZone AvailabilityZoneId TagSpecifications", Do: s.createSubnet},
		"DescribeSubnets": describing(s, s.subnets),
		"DeleteSubnet":    {Reads: "SubnetId", Do: s.deleteSubnet},
		"ModifySubnetAttribute": {Reads: "SubnetId MapPublicIpOnLaunch AssignIpv6AddressOnCreation EnableDns64 EnableResourceNameDnsARecordOnLaunch " +
			"EnableResourceNameDnsAAAARecordOnLaunch PrivateDnsHostnameTypeOnLaunch", Do: s.modifySubnetAttribute},
		"AssociateSubnetCidrBlock":    {Reads: "SubnetId Ipv6CidrBlock", Do: s.associateSubnetBlock},
		"DisassociateSubnetCidrBlock": {Reads: "AssociationId", Do: s.disassociateSubnetBlock},
	}
}

func (s *Service) createSubnet(q *core.Request) (protocol.Struct, error) {
	v, err := s.vpcs.get(q.In.String("VpcId"))
	if err != nil {
		return nil, err
	}
	zone, err := s.zoneOf(q.In)
	if err != nil {
		return nil, err
	}
	n := &subnet{vpcID: v.id, zone: zone, hostnameType: "ip-name"}
	native := q.In.Bool("Ipv6Native")
	switch {
	case native && (q.In.Has("CidrBlock") || !q.In.Has("Ipv6CidrBlock")):
		return nil, protocol.Fail("InvalidParameterCombination", "An IPv6 only subnet needs an IPv6 CIDR block and has no IPv4 CIDR block")
	case !native && !q.In.Has("CidrBlock"):
		return nil, protocol.Fail("MissingParameter", "Either 'cidrBlock' or 'ipv4IpamPoolId' should be provided.")
	case native:
		n.ipv6Addresses, n.hostnameType = true, "resource-name"
	default:
		if n.block, err = s.newIPv4Block(v, q.In.String("CidrBlock")); err != nil {
			return nil, err
		}
	}
	if q.In.Has("Ipv6CidrBlock") {
		b, err := s.newIPv6Block(v, q.In.String("Ipv6CidrBlock"))
		if err != nil {
			return nil, err
		}
		n.ipv6Blocks = []*block{b}
	}
	if !s.core.HasRoom(QuotaSubnets, len(s.subnets.where(func(other *subnet) bool { return other.vpcID == v.id }))) {
		return nil, protocol.Fail("SubnetLimitExceeded", "The maximum number of subnets has been reached.")
	}
	if n.meta, err = s.newMeta("subnet", s.subnets.kind, q); err != nil {
		return nil, err
	}
	s.subnets.add(n)
	return protocol.Struct{"Subnet": s.viewSubnet(n)}, nil
}

// newIPv4Block checks that a block is in one of the VPC's and overlaps with no other subnet.
func (s *Service) newIPv4Block(v *vpc, text string) (*block, error) {
	prefix, err := parseIPv4(text, "cidrBlock")
	if err != nil {
		return nil, err
	}
	if !isSizeOfVPC(prefix) || !isWithin(prefix, v.blocks) {
		return nil, protocol.Fail("InvalidSubnet.Range", "The CIDR '%s' is invalid.", prefix)
	}
	return s.newBlock(v, prefix)
}

// newIPv6Block checks that a block is a /64 of one of the VPC's and overlaps with no other subnet.
func (s *Service) newIPv6Block(v *vpc, text string) (*block, error) {
	prefix, err := parseIPv6(text, "ipv6CidrBlock")
	if err != nil {
		return nil, err
	}
	usable := slices.DeleteFunc(slices.Clone(v.ipv6Blocks), func(b *block) bool { return b.state != "associated" })
	if prefix.Bits() != 64 || !isWithin(prefix, usable) {
		return nil, protocol.Fail("InvalidSubnet.Range", "The CIDR '%s' is invalid.", prefix)
	}
	return s.newBlock(v, prefix)
}

func isWithin(prefix netip.Prefix, blocks []*block) bool {
	return slices.ContainsFunc(blocks, func(b *block) bool { return b.prefix.Bits() <= prefix.Bits() && b.prefix.Contains(prefix.Addr()) })
}

func (s *Service) newBlock(v *vpc, prefix netip.Prefix) (*block, error) {
	if s.hasSubnetIn(v, &block{prefix: prefix}) {
		return nil, protocol.Fail("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", prefix)
	}
	return &block{id: s.core.NewID("subnet-cidr-assoc"), prefix: prefix, state: "associated"}, nil
}

// zoneOf returns the zone that a request names by name or ID, or the first zone.
func (s *Service) zoneOf(in protocol.Struct) (string, error) {
	name, id := in.String("AvailabilityZone"), in.String("AvailabilityZoneId")
	if name == "" && id == "" {
		return s.core.Config.Zones[0], nil
	}
	for _, zone := range s.core.Config.Zones {
		if name == zone || name == "" && id == s.zoneID(zone) {
			return zone, nil
		}
	}
	return "", protocol.Fail("InvalidParameterValue", "Value (%s) for parameter availabilityZone is invalid. Subnets can currently only be created in the "+
		"following availability zones: %s.", name+id, strings.Join(s.core.Config.Zones, ", "))
}

// deleteSubnet deletes a subnet without network interfaces. Its associations and reservations go with it.
func (s *Service) deleteSubnet(q *core.Request) (protocol.Struct, error) {
	n, err := s.subnets.get(q.In.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	if len(s.subnetDependants(n.id)) > 0 {
		return nil, dependencyError("subnet", n.id)
	}
	for _, table := range s.routeTables.items {
		table.associations = slices.DeleteFunc(table.associations, func(a *association) bool { return a.subnetID == n.id })
	}
	for _, r := range s.reservations.where(func(r *cidrReservation) bool { return r.subnetID == n.id }) {
		s.reservations.remove(r.id)
	}
	s.subnets.remove(n.id)
	return nil, nil
}

func (s *Service) subnetDependants(id string) []string {
	return idsOf(s.interfaces.where(func(i *networkInterface) bool { return i.subnetID == id }))
}

// modifySubnetAttribute changes one attribute. AWS refuses two at once.
func (s *Service) modifySubnetAttribute(q *core.Request) (protocol.Struct, error) {
	n, err := s.subnets.get(q.In.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	if sent := len(q.In) - 1; sent != 1 {
		return nil, protocol.Fail("InvalidParameterCombination", "Exactly one attribute of a subnet can be modified at a time, %d given", sent)
	}
	for name, attribute := range map[string]*bool{
		"MapPublicIpOnLaunch": &n.publicAddresses, "AssignIpv6AddressOnCreation": &n.ipv6Addresses, "EnableDns64": &n.dns64,
		"EnableResourceNameDnsARecordOnLaunch": &n.aRecord, "EnableResourceNameDnsAAAARecordOnLaunch": &n.aaaaRecord,
	} {
		if !q.In.Has(name) {
			continue
		}
		value := q.In.Struct(name).Bool("Value")
		if name == "AssignIpv6AddressOnCreation" && value && len(n.ipv6Blocks) == 0 {
			return nil, protocol.Fail("InvalidParameterValue", "Invalid value '%s' for assignIpv6AddressOnCreation. The subnet '%s' has no IPv6 CIDR block",
				strconv.FormatBool(value), n.id)
		}
		*attribute = value
	}
	if hostnames := q.In.String("PrivateDnsHostnameTypeOnLaunch"); hostnames != "" {
		n.hostnameType = hostnames
	}
	return nil, nil
}

func (s *Service) associateSubnetBlock(q *core.Request) (protocol.Struct, error) {
	n, err := s.subnets.get(q.In.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	v, err := s.vpcs.get(n.vpcID)
	if err != nil {
		return nil, err
	}
	if len(n.ipv6Blocks) > 0 {
		return nil, protocol.Fail("InvalidParameterValue", "The subnet '%s' has an IPv6 CIDR block already", n.id)
	}
	b, err := s.newIPv6Block(v, q.In.String("Ipv6CidrBlock"))
	if err != nil {
		return nil, err
	}
	n.ipv6Blocks = append(n.ipv6Blocks, b)
	return protocol.Struct{"SubnetId": n.id, "Ipv6CidrBlockAssociation": b.ipv6View()}, nil
}

func (s *Service) disassociateSubnetBlock(q *core.Request) (protocol.Struct, error) {
	id := q.In.String("AssociationId")
	for _, n := range s.subnets.items {
		if i := slices.IndexFunc(n.ipv6Blocks, func(b *block) bool { return b.id == id }); i >= 0 {
			b := n.ipv6Blocks[i]
			n.ipv6Blocks = slices.Delete(n.ipv6Blocks, i, i+1)
			b.state = "disassociating"
			return protocol.Struct{"SubnetId": n.id, "Ipv6CidrBlockAssociation": b.ipv6View()}, nil
		}
	}
	return nil, protocol.Fail("InvalidSubnetCidrBlockAssociationID.NotFound", "The subnet CIDR block association ID '%s' does not exist", id)
}
