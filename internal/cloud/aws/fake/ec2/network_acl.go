package ec2

import (
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// networkACL is the default network ACL of a VPC, which allows everything. Others cannot be created.
type networkACL struct {
	meta

	vpcID string
}

func (s *Service) newACLs() *collection[*networkACL] {
	return &collection[*networkACL]{
		kind: "network-acl", ids: "NetworkAclIds", answer: "NetworkAcls", view: s.viewACL,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidNetworkAclID.NotFound", "The networkAcl ID '%s' does not exist", id)
		},
		filters: map[string]func(*networkACL) []string{
			"network-acl-id": one(func(a *networkACL) string { return a.id }),
			"vpc-id":         one(func(a *networkACL) string { return a.vpcID }),
			"default":        one(func(*networkACL) string { return "true" }),
			"owner-id":       one(func(*networkACL) string { return s.owner() }),
		},
	}
}

func (s *Service) viewACL(a *networkACL) protocol.Struct {
	entries := []any{}
	for _, egress := range []bool{true, false} {
		for _, e := range []protocol.Struct{{"RuleNumber": 100, "RuleAction": "allow"}, {"RuleNumber": 32767, "RuleAction": "deny"}} {
			e["Egress"], e["Protocol"], e["CidrBlock"] = egress, "-1", "0.0.0.0/0"
			entries = append(entries, e)
		}
	}
	associations := []any{}
	for _, n := range s.subnets.where(func(n *subnet) bool { return n.vpcID == a.vpcID }) {
		associations = append(associations, protocol.Struct{
			"NetworkAclAssociationId": "aclassoc-" + n.id[len("subnet-"):], "NetworkAclId": a.id, "SubnetId": n.id,
		})
	}
	return protocol.Struct{
		"NetworkAclId": a.id, "VpcId": a.vpcID, "IsDefault": true, "OwnerId": s.owner(), "Entries": entries, "Associations": associations, "Tags": a.tagList(),
	}
}
