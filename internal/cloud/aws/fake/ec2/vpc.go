package ec2

import (
	"fmt"
	"net/netip"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

type vpc struct {
	meta

	blocks                   []*block // IPv4, the first is that of the creation
	ipv6Blocks               []*block
	dhcpID, tenancy          string
	dnsSupport, dnsHostnames bool
	usageMetrics             bool
}

// block is a CIDR block of a VPC or subnet.
type block struct {
	id     string // of the association
	prefix netip.Prefix
	state  string
	pool   string // of an IPv6 block of a VPC
}

func (b *block) status() protocol.Struct { return protocol.Struct{"State": b.state} }

// ipv6View is the block as responses about subnets have it; those about VPCs have more.
func (b *block) ipv6View() protocol.Struct {
	return protocol.Struct{"AssociationId": b.id, "Ipv6CidrBlock": b.prefix.String(), "Ipv6CidrBlockState": b.status()}
}

func (s *Service) vpcIPv6View(b *block) protocol.Struct {
	view := b.ipv6View()
	view["Ipv6Pool"], view["NetworkBorderGroup"] = b.pool, s.core.Config.Region
	return view
}

func prefixesOf(blocks []*block) []string {
	var out []string
	for _, b := range blocks {
		out = append(out, b.prefix.String())
	}
	return out
}

func (s *Service) newVPCs() *collection[*vpc] {
	return &collection[*vpc]{
		kind: "vpc", ids: "VpcIds", answer: "Vpcs", view: s.viewVPC,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", id)
		},
		filters: map[string]func(*vpc) []string{
			"vpc-id":                            one(func(v *vpc) string { return v.id }),
			"cidr":                              one(func(v *vpc) string { return v.blocks[0].prefix.String() }),
			"cidr-block-association.cidr-block": func(v *vpc) []string { return prefixesOf(v.blocks) },
			"ipv6-cidr-block-association.ipv6-cidr-block": func(v *vpc) []string { return prefixesOf(v.ipv6Blocks) },
			"dhcp-options-id": one(func(v *vpc) string { return v.dhcpID }),
			"state":           one(func(*vpc) string { return "available" }),
			"is-default":      one(func(*vpc) string { return "false" }),
			"owner-id":        one(func(*vpc) string { return s.owner() }),
		},
	}
}

func (s *Service) viewVPC(v *vpc) protocol.Struct {
	blocks, ipv6 := []any{}, []any{}
	for _, b := range v.blocks {
		blocks = append(blocks, protocol.Struct{"AssociationId": b.id, "CidrBlock": b.prefix.String(), "CidrBlockState": b.status()})
	}
	for _, b := range v.ipv6Blocks {
		s.core.CountRead(b.id)
		ipv6 = append(ipv6, s.vpcIPv6View(b))
	}
	return protocol.Struct{
		"VpcId": v.id, "OwnerId": s.owner(), "State": "available", "CidrBlock": v.blocks[0].prefix.String(), "DhcpOptionsId": v.dhcpID,
		"InstanceTenancy": v.tenancy, "IsDefault": false, "CidrBlockAssociationSet": blocks, "Ipv6CidrBlockAssociationSet": ipv6, "Tags": v.tagList(),
	}
}

func (s *Service) vpcActions() map[string]core.Action {
	const ipv6 = " AmazonProvidedIpv6CidrBlock Ipv6IpamPoolId Ipv6CidrBlock Ipv6NetmaskLength"
	return map[string]core.Action{
		"CreateVpc":            {Reads: "CidrBlock InstanceTenancy TagSpecifications" + ipv6, Do: s.createVPC},
		"DescribeVpcs":         describing(s, s.vpcs),
		"DeleteVpc":            {Reads: "VpcId", Do: s.deleteVPC},
		"DescribeVpcAttribute": {Reads: "VpcId Attribute", Do: s.describeVPCAttribute},
		"ModifyVpcAttribute":   {Reads: "VpcId EnableDnsSupport EnableDnsHostnames EnableNetworkAddressUsageMetrics", Do: s.modifyVPCAttribute},
		"AssociateDhcpOptions": {Reads: "VpcId DhcpOptionsId", Do: s.associateDHCPOptions},
		"DescribeNetworkAcls":  describing(s, s.acls),
	}
}

// createVPC creates a VPC with what AWS makes with it: a main route table, a default security group and a default network ACL.
func (s *Service) createVPC(q *core.Request) (protocol.Struct, error) {
	if !q.In.Has("CidrBlock") {
		return nil, protocol.Fail("MissingParameter", "Either 'cidrBlock' or 'ipv4IpamPoolId' should be provided.")
	}
	prefix, err := parseIPv4(q.In.String("CidrBlock"), "cidrBlock")
	if err != nil {
		return nil, err
	}
	if !isSizeOfVPC(prefix) {
		return nil, protocol.Fail("InvalidVpc.Range", "The CIDR '%s' is invalid.", prefix)
	}
	if !s.core.HasRoom(QuotaVPCs, len(s.vpcs.items)) {
		return nil, protocol.Fail("VpcLimitExceeded", "The maximum number of VPCs has been reached.")
	}
	created, err := s.newMeta("vpc", s.vpcs.kind, q)
	if err != nil {
		return nil, err
	}
	tenancy := q.In.String("InstanceTenancy")
	if tenancy == "" {
		tenancy = "default"
	}
	v := &vpc{
		meta: created, dhcpID: s.defaultDHCPOptions, tenancy: tenancy, dnsSupport: true,
		blocks: []*block{{id: s.core.NewID("vpc-cidr-assoc"), prefix: prefix, state: "associated"}},
	}
	if wantsIPv6(q) {
		b, err := s.newVPCBlock(q)
		if err != nil {
			return nil, err
		}
		s.addVPCBlock(v, b)
	}
	s.vpcs.add(v)
	s.addMainRouteTable(v)
	s.addDefaultGroup(v)
	s.acls.add(&networkACL{meta: s.bareMeta("acl"), vpcID: v.id})
	return protocol.Struct{"Vpc": s.viewVPC(v)}, nil
}

func isSizeOfVPC(prefix netip.Prefix) bool { return prefix.Bits() >= 16 && prefix.Bits() <= 28 }

// parseIPv4 reads a block and returns its canonical form, as AWS does.
func parseIPv4(text, parameter string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || !prefix.Addr().Is4() {
		return prefix, protocol.Fail("InvalidParameterValue", "Value (%s) for parameter %s is invalid. This is not a valid CIDR block.", text, parameter)
	}
	return prefix.Masked(), nil
}

func parseIPv6(text, parameter string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || !prefix.Addr().Is6() {
		return prefix, protocol.Fail("InvalidParameterValue", "Value (%s) for parameter %s is invalid. This is not a valid IPv6 CIDR block.", text, parameter)
	}
	return prefix.Masked(), nil
}

// deleteVPC deletes the VPC with what was made with it. Anything else in it prevents that.
func (s *Service) deleteVPC(q *core.Request) (protocol.Struct, error) {
	v, err := s.vpcs.get(q.In.String("VpcId"))
	if err != nil {
		return nil, err
	}
	if len(s.vpcDependants(v.id)) > 0 {
		return nil, dependencyError("vpc", v.id)
	}
	for _, table := range s.routeTables.where(func(t *routeTable) bool { return t.vpcID == v.id }) {
		s.routeTables.remove(table.id)
	}
	for _, group := range s.groups.where(func(g *securityGroup) bool { return g.vpcID == v.id }) {
		s.removeGroup(group)
	}
	for _, acl := range s.acls.where(func(a *networkACL) bool { return a.vpcID == v.id }) {
		s.acls.remove(acl.id)
	}
	s.vpcs.remove(v.id)
	return nil, nil
}

// vpcDependants lists what prevents the deletion of a VPC.
func (s *Service) vpcDependants(id string) []string {
	var out []string
	out = append(out, idsOf(s.subnets.where(func(n *subnet) bool { return n.vpcID == id }))...)
	out = append(out, idsOf(s.gateways.where(func(g *internetGateway) bool { return g.vpcID == id }))...)
	out = append(out, idsOf(s.egressGateways.where(func(g *egressOnlyGateway) bool { return g.vpcID == id }))...)
	out = append(out, idsOf(s.routeTables.where(func(t *routeTable) bool { return t.vpcID == id && !t.isMain() }))...)
	out = append(out, idsOf(s.groups.where(func(g *securityGroup) bool { return g.vpcID == id && !g.isDefault }))...)
	out = append(out, idsOf(s.endpoints.where(func(e *endpoint) bool { return e.vpcID == id }))...)
	return out
}

func (s *Service) describeVPCAttribute(q *core.Request) (protocol.Struct, error) {
	v, err := s.vpcs.get(q.In.String("VpcId"))
	if err != nil {
		return nil, err
	}
	out := protocol.Struct{"VpcId": v.id}
	switch attribute := q.In.String("Attribute"); attribute {
	case "enableDnsSupport":
		out["EnableDnsSupport"] = protocol.Struct{"Value": v.dnsSupport}
	case "enableDnsHostnames":
		out["EnableDnsHostnames"] = protocol.Struct{"Value": v.dnsHostnames}
	case "enableNetworkAddressUsageMetrics":
		out["EnableNetworkAddressUsageMetrics"] = protocol.Struct{"Value": v.usageMetrics}
	default:
		return nil, fmt.Errorf("the attribute %s is not implemented", attribute)
	}
	return out, nil
}

// modifyVPCAttribute changes one attribute. AWS refuses two at once.
func (s *Service) modifyVPCAttribute(q *core.Request) (protocol.Struct, error) {
	v, err := s.vpcs.get(q.In.String("VpcId"))
	if err != nil {
		return nil, err
	}
	attributes := map[string]*bool{
		"EnableDnsSupport": &v.dnsSupport, "EnableDnsHostnames": &v.dnsHostnames, "EnableNetworkAddressUsageMetrics": &v.usageMetrics,
	}
	sent := 0
	for name := range attributes {
		if q.In.Has(name) {
			sent++
		}
	}
	if sent != 1 {
		return nil, protocol.Fail("InvalidParameterCombination", "Exactly one attribute of a VPC can be modified at a time, %d given", sent)
	}
	for name, attribute := range attributes {
		if q.In.Has(name) {
			*attribute = q.In.Struct(name).Bool("Value")
		}
	}
	return nil, nil
}
