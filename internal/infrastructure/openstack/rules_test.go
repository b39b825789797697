package openstack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

type rule = cloudopenstack.SecurityGroupRule

func defaultGroup() securityGroupSpec {
	return securityGroupSpec{families: []int{4}, nodePortSources: []string{"0.0.0.0/0"}}
}

func TestWantedRules_AsUpstream(t *testing.T) {
	want := []rule{
		{SecurityGroupID: "g", Direction: "egress", EtherType: "IPv4", Description: "IPv4: allow all outgoing traffic"},
		{SecurityGroupID: "g", Direction: "egress", EtherType: "IPv6", Description: "IPv6: allow all outgoing traffic"},
		{SecurityGroupID: "g", Direction: "ingress", EtherType: "IPv4", RemoteGroupID: "g", Description: "IPv4: allow all incoming traffic within the same security group"},
		{
			SecurityGroupID: "g", Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 30000, PortMax: 32767, RemoteIPPrefix: "0.0.0.0/0",
			Description: "IPv4: allow all incoming tcp traffic with port range 30000-32767",
		},
		{
			SecurityGroupID: "g", Direction: "ingress", EtherType: "IPv4", Protocol: "udp", PortMin: 30000, PortMax: 32767, RemoteIPPrefix: "0.0.0.0/0",
			Description: "IPv4: allow all incoming udp traffic with port range 30000-32767",
		},
	}
	assert.Empty(t, cmp.Diff(want, wantedRules(defaultGroup(), "g")))
}

func TestWantedRules(t *testing.T) {
	has := func(group securityGroupSpec, want string) bool {
		for _, rule := range wantedRules(group, "g") {
			if describeRule(rule) == want {
				return true
			}
		}
		return false
	}
	dual := securityGroupSpec{families: []int{4, 6}, nodePortSources: []string{"0.0.0.0/0", "::/0"}}
	assert.True(t, has(dual, "ingress IPv6 tcp 30000-32767 any"))
	assert.True(t, has(dual, "ingress IPv6 group g"))

	restricted := securityGroupSpec{families: []int{4}, nodePortSources: []string{"10.0.0.0/8", "2001:db8::/32"}}
	assert.True(t, has(restricted, "ingress IPv4 udp 30000-32767 10.0.0.0/8"))
	assert.False(t, has(restricted, "ingress IPv4 udp 30000-32767 any"), "only the given ranges")
	assert.False(t, has(restricted, "ingress IPv6 udp 30000-32767 2001:db8::/32"), "no IPv6 without dual stack")

	closed := securityGroupSpec{families: []int{4}, nodePortSources: []string{}}
	assert.Len(t, wantedRules(closed, "g"), 3, "an empty list closes the node ports")

	routed := securityGroupSpec{families: []int{4}, podRanges: []string{"100.96.0.0/11"}}
	assert.True(t, has(routed, "ingress IPv4 100.96.0.0/11"), "pods that are routed natively are let in")
}

func TestNormalise(t *testing.T) {
	tcp := rule{Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 30000, PortMax: 32767, RemoteIPPrefix: "0.0.0.0/0"}
	for name, test := range map[string]struct {
		other rule
		same  bool
	}{
		"the same":                     {rule{Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 30000, PortMax: 32767, RemoteIPPrefix: "0.0.0.0/0"}, true},
		"protocol as a number":         {rule{Direction: "ingress", EtherType: "IPv4", Protocol: "6", PortMin: 30000, PortMax: 32767, RemoteIPPrefix: "0.0.0.0/0"}, true},
		"protocol in capitals":         {rule{Direction: "ingress", EtherType: "IPv4", Protocol: "TCP", PortMin: 30000, PortMax: 32767, RemoteIPPrefix: "0.0.0.0/0"}, true},
		"no prefix is every address":   {rule{Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 30000, PortMax: 32767}, true},
		"the wording does not matter":  {rule{Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 30000, PortMax: 32767, Description: "x"}, true},
		"another protocol":             {rule{Direction: "ingress", EtherType: "IPv4", Protocol: "udp", PortMin: 30000, PortMax: 32767}, false},
		"another family":               {rule{Direction: "ingress", EtherType: "IPv6", Protocol: "tcp", PortMin: 30000, PortMax: 32767}, false},
		"fewer ports":                  {rule{Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 30000, PortMax: 30000}, false},
		"a group instead of addresses": {rule{Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 30000, PortMax: 32767, RemoteGroupID: "g"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.same, normalise(tcp) == normalise(test.other))
		})
	}
	for number, name := range map[string]string{"1": "icmp", "17": "udp", "58": "icmpv6", "ipv6-icmp": "icmpv6", "any": "", "0": "", "sctp": "sctp"} {
		assert.Equal(t, name, normaliseProtocol(number))
	}
	assert.Equal(t, "10.0.0.0/8", normalisePrefix("10.1.2.3/8"), "host bits are cut")
	assert.Equal(t, "10.1.2.3/32", normalisePrefix("10.1.2.3"), "an address is a range of one")
}

func TestDiffRules(t *testing.T) {
	full := wantedRules(defaultGroup(), "g")
	t.Run("D13: a group that has all rules needs nothing, whoever wrote them", func(t *testing.T) {
		have := wantedRules(defaultGroup(), "g")
		for i := range have {
			have[i].Description = ""
		}
		assert.Empty(t, diffRules(full, have))
	})
	t.Run("what is missing is created", func(t *testing.T) {
		assert.Equal(t, full[2:], diffRules(full, full[:2]).create)
	})
	t.Run("a foreign rule stays", func(t *testing.T) {
		ssh := rule{ID: "ssh", Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 22, PortMax: 22}
		changes := diffRules(full, append(wantedRules(defaultGroup(), "g"), ssh))
		assert.Equal(t, ruleChanges{unmanaged: []rule{ssh}}, changes)
	})
	t.Run("node ports that Gardener opened to the world are closed when sources are restricted", func(t *testing.T) {
		restricted := securityGroupSpec{families: []int{4}, nodePortSources: []string{"10.0.0.0/8"}}
		changes := diffRules(wantedRules(restricted, "g"), full)
		assert.Len(t, changes.create, 2)
		assert.Equal(t, full[3:], changes.remove)
	})
	t.Run("a rule in Gardener's words with other words behind is foreign", func(t *testing.T) {
		assert.False(t, isGardenerRule("IPv4: allow all incoming tcp traffic with port range 30000-32767, says Bob"))
		assert.False(t, isGardenerRule("allow all outgoing traffic"))
		assert.True(t, isGardenerRule("IPv6: allow all incoming udp traffic with port range 30000-32767 from 2001:db8::/32"))
	})
}
