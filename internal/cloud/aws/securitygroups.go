package aws

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// SecurityGroup is a security group of a VPC with its rules.
type SecurityGroup struct {
	ID, VPCID, Name, Description string
	Rules                        []Rule
	Tags                         Tags
}

// Rule permits connections in one direction with one peer. EC2 merges rules of the same protocol and ports in its answers; here each peer has a rule of its
// own, so that lists of rules can be compared.
type Rule struct {
	Egress bool
	// Protocol is "tcp", "udp", "icmp", "icmpv6", a number, or AllProtocols.
	Protocol string
	// FromPort and ToPort are the ports of TCP and UDP, and type and code of ICMP; both are 0 for all protocols.
	FromPort, ToPort int
	// Exactly one of these is the peer: an IPv4 or IPv6 range, a security group, or a prefix list.
	CIDR, GroupID, PrefixListID string
}

// AllProtocols is the protocol of a rule for everything.
const AllProtocols = "-1"

func securityGroupOf(g *types.SecurityGroup) SecurityGroup {
	return SecurityGroup{
		ID: aws.ToString(g.GroupId), VPCID: aws.ToString(g.VpcId), Name: aws.ToString(g.GroupName), Description: aws.ToString(g.Description),
		Rules: slices.Concat(rulesOf(false, g.IpPermissions), rulesOf(true, g.IpPermissionsEgress)), Tags: tagsOf(g.Tags),
	}
}

func rulesOf(egress bool, permissions []types.IpPermission) []Rule {
	var rules []Rule
	for i := range permissions {
		p := &permissions[i]
		rule := Rule{Egress: egress, Protocol: aws.ToString(p.IpProtocol)}
		if rule.Protocol != AllProtocols {
			rule.FromPort, rule.ToPort = int(aws.ToInt32(p.FromPort)), int(aws.ToInt32(p.ToPort))
		}
		with := func(set func(*Rule)) {
			one := rule
			set(&one)
			rules = append(rules, one)
		}
		for _, peer := range p.IpRanges {
			with(func(r *Rule) { r.CIDR = aws.ToString(peer.CidrIp) })
		}
		for _, peer := range p.Ipv6Ranges {
			with(func(r *Rule) { r.CIDR = aws.ToString(peer.CidrIpv6) })
		}
		for _, peer := range p.UserIdGroupPairs {
			with(func(r *Rule) { r.GroupID = aws.ToString(peer.GroupId) })
		}
		for _, peer := range p.PrefixListIds {
			with(func(r *Rule) { r.PrefixListID = aws.ToString(peer.PrefixListId) })
		}
	}
	return rules
}

// permissionsOf returns rules in the form of EC2's API, in a fixed order. Rules of the same protocol and ports are merged.
func permissionsOf(rules []Rule) []types.IpPermission {
	rules = slices.SortedFunc(slices.Values(rules), func(a, b Rule) int {
		return cmp.Or(
			strings.Compare(a.Protocol, b.Protocol), cmp.Compare(a.FromPort, b.FromPort), cmp.Compare(a.ToPort, b.ToPort),
			strings.Compare(a.CIDR, b.CIDR), strings.Compare(a.GroupID, b.GroupID), strings.Compare(a.PrefixListID, b.PrefixListID),
		)
	})
	var permissions []types.IpPermission
	for i, rule := range rules {
		if i == 0 || rule.Protocol != rules[i-1].Protocol || rule.FromPort != rules[i-1].FromPort || rule.ToPort != rules[i-1].ToPort {
			permissions = append(permissions, permissionOf(rule))
		}
		p := &permissions[len(permissions)-1]
		switch {
		case rule.GroupID != "":
			p.UserIdGroupPairs = append(p.UserIdGroupPairs, types.UserIdGroupPair{GroupId: aws.String(rule.GroupID)})
		case rule.PrefixListID != "":
			p.PrefixListIds = append(p.PrefixListIds, types.PrefixListId{PrefixListId: aws.String(rule.PrefixListID)})
		case isIPv6(rule.CIDR):
			p.Ipv6Ranges = append(p.Ipv6Ranges, types.Ipv6Range{CidrIpv6: aws.String(rule.CIDR)})
		default:
			p.IpRanges = append(p.IpRanges, types.IpRange{CidrIp: aws.String(rule.CIDR)})
		}
	}
	return permissions
}

// permissionOf has no peer yet.
func permissionOf(rule Rule) types.IpPermission {
	permission := types.IpPermission{IpProtocol: aws.String(rule.Protocol)}
	if rule.Protocol != AllProtocols {
		permission.FromPort, permission.ToPort = aws.Int32(int32(rule.FromPort)), aws.Int32(int32(rule.ToPort))
	}
	return permission
}

// ListSecurityGroups returns the security groups that match the filter, with their rules.
func (s *Session) ListSecurityGroups(ctx context.Context, filter Filter) ([]SecurityGroup, error) {
	return listAll(ctx, s, ec2Read("DescribeSecurityGroups"), s.ec2.DescribeSecurityGroups, func(token *string) *ec2.DescribeSecurityGroupsInput {
		return &ec2.DescribeSecurityGroupsInput{
			Filters: filter.filters(names{id: "group-id", vpc: "vpc-id", name: "group-name"}), MaxResults: aws.Int32(pageSize), NextToken: token,
		}
	}, func(page *ec2.DescribeSecurityGroupsOutput) ([]SecurityGroup, *string) {
		return convert(page.SecurityGroups, securityGroupOf), page.NextToken
	})
}

// CreateSecurityGroup creates a security group, to which EC2 adds a rule for all egress by IPv4. It fails with cloud.Conflict if the VPC has one with the name.
func (s *Session) CreateSecurityGroup(ctx context.Context, vpcID, name, description string, tags Tags) (SecurityGroup, error) {
	output, err := invoke(ctx, s, ec2Create("CreateSecurityGroup", vpcID), s.ec2.CreateSecurityGroup, &ec2.CreateSecurityGroupInput{
		VpcId: aws.String(vpcID), GroupName: aws.String(name), Description: aws.String(description),
		TagSpecifications: tagSpecification(types.ResourceTypeSecurityGroup, tags),
	})
	if err != nil {
		return SecurityGroup{}, err
	}
	group := SecurityGroup{
		ID: aws.ToString(output.GroupId), VPCID: vpcID, Name: name, Description: description, Tags: tags,
		Rules: []Rule{{Egress: true, Protocol: AllProtocols, CIDR: "0.0.0.0/0"}},
	}
	s.created.add(group.ID)
	return group, nil
}

// AddRules adds rules to a security group: a request for each direction. It fails with cloud.Conflict if the group has one of them; those of the other
// direction are added all the same.
func (s *Session) AddRules(ctx context.Context, groupID string, rules []Rule) error {
	ingress, egress := byDirection(rules)
	return inBothDirections("InvalidPermission.Duplicate", func() error {
		if len(ingress) == 0 {
			return nil
		}
		_, err := invoke(ctx, s, ec2Change("AuthorizeSecurityGroupIngress", groupID), s.ec2.AuthorizeSecurityGroupIngress,
			&ec2.AuthorizeSecurityGroupIngressInput{GroupId: aws.String(groupID), IpPermissions: permissionsOf(ingress)})
		return err
	}, func() error {
		if len(egress) == 0 {
			return nil
		}
		_, err := invoke(ctx, s, ec2Change("AuthorizeSecurityGroupEgress", groupID), s.ec2.AuthorizeSecurityGroupEgress,
			&ec2.AuthorizeSecurityGroupEgressInput{GroupId: aws.String(groupID), IpPermissions: permissionsOf(egress)})
		return err
	})
}

// RemoveRules removes rules from a security group: a request for each direction. It fails with cloud.NotFound if the group has none of those of a direction;
// those of the other direction are removed all the same.
func (s *Session) RemoveRules(ctx context.Context, groupID string, rules []Rule) error {
	ingress, egress := byDirection(rules)
	return inBothDirections("InvalidPermission.NotFound", func() error {
		if len(ingress) == 0 {
			return nil
		}
		_, err := invoke(ctx, s, ec2Change("RevokeSecurityGroupIngress", groupID), s.ec2.RevokeSecurityGroupIngress,
			&ec2.RevokeSecurityGroupIngressInput{GroupId: aws.String(groupID), IpPermissions: permissionsOf(ingress)})
		return err
	}, func() error {
		if len(egress) == 0 {
			return nil
		}
		_, err := invoke(ctx, s, ec2Change("RevokeSecurityGroupEgress", groupID), s.ec2.RevokeSecurityGroupEgress,
			&ec2.RevokeSecurityGroupEgressInput{GroupId: aws.String(groupID), IpPermissions: permissionsOf(egress)})
		return err
	})
}

// inBothDirections makes the second change also if the first one was made before, which AWS answers with the code. It returns that error if there is no other.
func inBothDirections(madeBefore string, first, second func() error) error {
	before := first()
	if before != nil && CodeOf(before) != madeBefore {
		return before
	}
	if err := second(); err != nil {
		return err
	}
	return before
}

func byDirection(rules []Rule) (ingress, egress []Rule) {
	for _, rule := range rules {
		if rule.Egress {
			egress = append(egress, rule)
		} else {
			ingress = append(ingress, rule)
		}
	}
	return ingress, egress
}

// DeleteSecurityGroup deletes a security group. It fails with cloud.InUse while an interface has it, or a rule of another group names it.
func (s *Session) DeleteSecurityGroup(ctx context.Context, id string) error {
	_, err := invoke(ctx, s, ec2Change("DeleteSecurityGroup"), s.ec2.DeleteSecurityGroup, &ec2.DeleteSecurityGroupInput{GroupId: aws.String(id)})
	s.created.remove(id)
	return err
}

func isIPv6(cidr string) bool { return strings.Contains(cidr, ":") }

func stringOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return aws.String(text)
}
