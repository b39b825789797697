package conformance

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws"
)

// group makes a security group.
func (c *Case) group(vpcID, name string) aws.SecurityGroup {
	c.Helper()
	created := must[aws.SecurityGroup](c)(c.s.CreateSecurityGroup(c.Context(), vpcID, name, "for tests", c.tags()))
	c.cleanup(func(ctx context.Context) error { return c.s.DeleteSecurityGroup(ctx, created.ID) })
	return created
}

// rulesOf reads the rules of a group.
func (c *Case) rulesOf(id string) []aws.Rule {
	c.Helper()
	found := must[[]aws.SecurityGroup](c)(c.s.ListSecurityGroups(c.Context(), aws.Filter{IDs: []string{id}}))
	if len(found) == 0 {
		return nil
	}
	return found[0].Rules
}

// nodePorts is a rule.
func nodePorts(protocol, cidr string) aws.Rule {
	return aws.Rule{Protocol: protocol, FromPort: 30000, ToPort: 32767, CIDR: cidr}
}

func securityGroups() []Behaviour {
	return []Behaviour{
		{"a new security group lets everything out", groupGuide, func(c *Case) {
			id := c.group(c.vpc().ID, c.name).ID
			c.eventually("it is listed", func() bool { return len(c.rulesOf(id)) > 0 })
			assert.Equal(c, []aws.Rule{{Egress: true, Protocol: aws.AllProtocols, CIDR: "0.0.0.0/0"}}, c.rulesOf(id))
		}},
		{"a name of a security group is taken once in a VPC", errorCodes, func(c *Case) {
			vpc := c.vpc()
			c.group(vpc.ID, c.name)
			_, err := c.s.CreateSecurityGroup(c.Context(), vpc.ID, c.name, "for tests", c.tags())
			c.requireKind(err, cloud.Conflict, "InvalidGroup.Duplicate")
		}},
		{"rules of the same protocol and ports are merged, and none is lost", upstreamTest, func(c *Case) {
			id := c.group(c.vpc().ID, c.name).ID
			rules := []aws.Rule{
				nodePorts("tcp", "0.0.0.0/0"), nodePorts("udp", "0.0.0.0/0"), nodePorts("tcp", oneRange), nodePorts("tcp", otherRange),
				{Protocol: aws.AllProtocols, GroupID: id},
				nodePorts("tcp", "::/0"),
			}
			require.NoError(c, c.s.AddRules(c.Context(), id, rules))
			want := append(rules, aws.Rule{Egress: true, Protocol: aws.AllProtocols, CIDR: "0.0.0.0/0"}) //nolint:gocritic // another list
			c.eventually("all are listed", func() bool { return len(c.rulesOf(id)) == len(want) })
			assert.ElementsMatch(c, want, c.rulesOf(id))
		}},
		{"a rule exists once", errorCodes, func(c *Case) {
			id := c.group(c.vpc().ID, c.name).ID
			require.NoError(c, c.s.AddRules(c.Context(), id, []aws.Rule{nodePorts("tcp", oneRange)}))
			c.requireKind(c.s.AddRules(c.Context(), id, []aws.Rule{nodePorts("tcp", oneRange)}), cloud.Conflict, "InvalidPermission.Duplicate")
		}},
		{"a rule that does not exist cannot be removed", errorCodes, func(c *Case) {
			id := c.group(c.vpc().ID, c.name).ID
			c.requireKind(c.s.RemoveRules(c.Context(), id, []aws.Rule{nodePorts("tcp", oneRange)}), cloud.NotFound, "InvalidPermission.NotFound")
		}},
		{"a security group that a rule of another one names cannot be deleted", ec2("DeleteSecurityGroup"), func(c *Case) {
			vpc := c.vpc()
			one, other := c.group(vpc.ID, c.name+"-one"), c.group(vpc.ID, c.name+"-other")
			rule := []aws.Rule{{Protocol: aws.AllProtocols, GroupID: other.ID}}
			require.NoError(c, c.s.AddRules(c.Context(), one.ID, rule))
			c.requireKind(c.s.DeleteSecurityGroup(c.Context(), other.ID), cloud.InUse, "DependencyViolation")
			require.NoError(c, c.s.RemoveRules(c.Context(), one.ID, rule))
		}},
		{"a security group that names itself can be deleted", ec2("DeleteSecurityGroup"), func(c *Case) {
			id := c.group(c.vpc().ID, c.name).ID
			require.NoError(c, c.s.AddRules(c.Context(), id, []aws.Rule{{Protocol: aws.AllProtocols, GroupID: id}}))
			require.NoError(c, c.s.DeleteSecurityGroup(c.Context(), id))
		}},
	}
}

func tagsAndLists() []Behaviour {
	return []Behaviour{
		{"a filter by the key of a tag finds resources with any value of it", cloudController, func(c *Case) {
			id := c.vpc().ID
			key := "kubernetes.io/cluster/" + c.name
			found := func() []aws.VPC {
				return must[[]aws.VPC](c)(c.s.ListVPCs(c.Context(), aws.Filter{TagKeys: []string{key}}))
			}
			c.eventually("it is found", func() bool { return len(found()) == 1 })
			require.NoError(c, c.s.SetTags(c.Context(), []string{id}, aws.Tags{key: "1"}))
			c.eventually("the value has changed", func() bool { vpcs := found(); return len(vpcs) == 1 && vpcs[0].Tags[key] == "1" })
		}},
		{"a filter by a tag does not find a longer key, nor another value", ec2("Filter"), func(c *Case) {
			id := c.vpc().ID
			for _, filter := range []aws.Filter{
				{TagKeys: []string{"kubernetes.io/cluster/" + c.name[:len(c.name)-1]}},
				{Tags: aws.Tags{"kubernetes.io/cluster/" + c.name: "Owned"}},
			} {
				for _, vpc := range must[[]aws.VPC](c)(c.s.ListVPCs(c.Context(), filter)) {
					assert.NotEqual(c, id, vpc.ID)
				}
			}
		}},
		{"a filter by the ID of what does not exist finds nothing", consistency, func(c *Case) {
			assert.Empty(c, must[[]aws.VPC](c)(c.s.ListVPCs(c.Context(), aws.Filter{IDs: []string{"vpc-0123456789abcdef0"}})))
		}},
		{"a tag is removed whatever its value is, and twice", ec2("DeleteTags"), func(c *Case) {
			id := c.vpc().ID
			for range 2 {
				require.NoError(c, c.s.RemoveTags(c.Context(), []string{id}, []string{"Name"}))
			}
			c.eventually("it is gone", func() bool {
				_, found := must[[]aws.VPC](c)(c.s.ListVPCs(c.Context(), aws.Filter{IDs: []string{id}}))[0].Tags["Name"]
				return !found
			})
		}},
	}
}
