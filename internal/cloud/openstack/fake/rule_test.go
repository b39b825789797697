package fake_test

import (
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/rules"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

func TestSecurityGroupRules(t *testing.T) {
	tcp := rules.CreateOpts{Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortRangeMin: 80, PortRangeMax: 80, RemoteIPPrefix: "10.0.0.0/8"}
	change := func(f func(*rules.CreateOpts)) rules.CreateOpts {
		out := tcp
		f(&out)
		return out
	}
	for name, test := range map[string]struct {
		rule rules.CreateOpts
		want string
	}{
		"another port":                     {change(func(r *rules.CreateOpts) { r.PortRangeMin, r.PortRangeMax = 81, 81 }), ""},
		"another source":                   {change(func(r *rules.CreateOpts) { r.RemoteIPPrefix = "11.0.0.0/8" }), ""},
		"a protocol by number":             {change(func(r *rules.CreateOpts) { r.Protocol, r.PortRangeMin, r.PortRangeMax = "4", 0, 0 }), ""},
		"the same":                         {tcp, "409 SecurityGroupRuleExists"},
		"the same, described otherwise":    {change(func(r *rules.CreateOpts) { r.Description = "again" }), "409 SecurityGroupRuleExists"},
		"the same, protocol by number":     {change(func(r *rules.CreateOpts) { r.Protocol = "6" }), "409 SecurityGroupRuleExists"},
		"another range by its host bits":   {change(func(r *rules.CreateOpts) { r.RemoteIPPrefix = "10.7.0.0/8" }), ""},
		"what the group was born with":     {rules.CreateOpts{Direction: "egress", EtherType: "IPv4", RemoteIPPrefix: "0.0.0.0/0"}, "409 SecurityGroupRuleExists"},
		"an unknown direction":             {change(func(r *rules.CreateOpts) { r.Direction = "sideways" }), "400 HTTPBadRequest"},
		"an unknown ether type":            {change(func(r *rules.CreateOpts) { r.EtherType = "IPv5" }), "400 SecurityGroupRuleInvalidEtherType"},
		"an unknown protocol":              {change(func(r *rules.CreateOpts) { r.Protocol = "smoke" }), "400 SecurityGroupRuleInvalidProtocol"},
		"ports without a protocol":         {change(func(r *rules.CreateOpts) { r.Protocol = "" }), "400 SecurityGroupProtocolRequiredWithPorts"},
		"ports backwards":                  {change(func(r *rules.CreateOpts) { r.PortRangeMin = 90 }), "400 SecurityGroupInvalidPortRange"},
		"a range of the other version":     {change(func(r *rules.CreateOpts) { r.RemoteIPPrefix = "fd00::/8" }), "400 SecurityGroupRuleParameterConflict"},
		"no range":                         {change(func(r *rules.CreateOpts) { r.RemoteIPPrefix = "ten" }), "400 InvalidCIDR"},
		"range and group":                  {change(func(r *rules.CreateOpts) { r.RemoteGroupID = "x" }), "400 SecurityGroupMultipleRemoteEntites"},
		"a remote group that is not there": {change(func(r *rules.CreateOpts) { r.RemoteIPPrefix, r.RemoteGroupID = "", "nope" }), "404 SecurityGroupNotFound"},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := start(t)
			c := member(t, cloud)
			group, err := groups.Create(t.Context(), c.network, groups.CreateOpts{Name: "g"}).Extract()
			require.NoError(t, err)
			require.Len(t, group.Rules, 2, "egress for IPv4 and IPv6")
			first, second := tcp, test.rule
			first.SecGroupID, second.SecGroupID = group.ID, group.ID
			require.NoError(t, rules.Create(t.Context(), c.network, first).Err)
			require.Equal(t, test.want, errorText(rules.Create(t.Context(), c.network, second).Err))
		})
	}
}

func TestSecurityGroupRules_Bulk(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	group := createResource(t, cloud, "security-groups", fake.Attrs{"name": "g"})
	rule := func(port int) rules.CreateOpts {
		return rules.CreateOpts{SecGroupID: group, Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortRangeMin: port, PortRangeMax: port}
	}
	count := func() int {
		g, err := groups.Get(t.Context(), c.network, group).Extract()
		require.NoError(t, err)
		return len(g.Rules)
	}
	made, err := rules.CreateBulk(t.Context(), c.network, []rules.CreateOpts{rule(1), rule(2)}).Extract()
	require.NoError(t, err)
	require.Len(t, made, 2)
	require.Equal(t, 4, count())

	require.Equal(t, "409 SecurityGroupRuleExists", errorText(rules.CreateBulk(t.Context(), c.network, []rules.CreateOpts{rule(3), rule(2)}).Err))
	require.Equal(t, "409 DuplicateSecurityGroupRuleInPost", errorText(rules.CreateBulk(t.Context(), c.network, []rules.CreateOpts{rule(3), rule(3)}).Err))
	require.NoError(t, cloud.SetQuota("garden", "security_group_rule", 8+1)) // the default group has four, this one four
	require.Equal(t, "409 OverQuota", errorText(rules.CreateBulk(t.Context(), c.network, []rules.CreateOpts{rule(3), rule(4)}).Err))
	require.Equal(t, 4, count())

	require.NoError(t, rules.Delete(t.Context(), c.network, made[0].ID).ExtractErr())
	require.Equal(t, "404 SecurityGroupRuleNotFound", errorText(rules.Delete(t.Context(), c.network, made[0].ID).ExtractErr()))
	require.Equal(t, 3, count())
}

func TestDeleteSecurityGroup_ReferringRules(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	a, b := createResource(t, cloud, "security-groups", fake.Attrs{"name": "a"}), createResource(t, cloud, "security-groups", fake.Attrs{"name": "b"})
	createResource(t, cloud, "security-group-rules", fake.Attrs{"security_group_id": a, "direction": "ingress", "remote_group_id": b})
	require.NoError(t, groups.Delete(t.Context(), c.network, b).ExtractErr())
	pages, err := rules.List(c.network, rules.ListOpts{SecGroupID: a, Direction: "ingress"}).AllPages(t.Context())
	require.NoError(t, err)
	left, err := rules.ExtractRules(pages)
	require.NoError(t, err)
	require.Empty(t, left)
}
