package desired

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

func TestDisjoint(t *testing.T) {
	tests := map[string]struct{ ranges, want []string }{
		"none":                 {},
		"one":                  {ranges: []string{"10.0.0.0/8"}, want: []string{"10.0.0.0/8"}},
		"equal ranges are one": {ranges: []string{"10.0.0.0/8", "10.0.0.0/8"}, want: []string{"10.0.0.0/8"}},
		"a contained one is left out, whatever the order": {ranges: []string{"10.1.0.0/16", "10.0.0.0/8", "10.0.0.0/16"}, want: []string{"10.0.0.0/8"}},
		"two levels of containment":                       {ranges: []string{"10.1.2.0/24", "10.1.0.0/16", "10.0.0.0/8", "10.1.2.3/32"}, want: []string{"10.0.0.0/8"}},
		"one after a contained one stays":                 {ranges: []string{"10.0.0.0/8", "10.1.0.0/16", "11.0.0.0/8"}, want: []string{"10.0.0.0/8", "11.0.0.0/8"}},
		"adjacent ranges stay two":                        {ranges: []string{"10.0.1.0/24", "10.0.0.0/24"}, want: []string{"10.0.0.0/24", "10.0.1.0/24"}},
		"single addresses are written without a length":   {ranges: []string{"10.0.0.1/32", "fd00::1/128"}, want: []string{"10.0.0.1", "fd00::1"}},
		"a single address in a range is left out":         {ranges: []string{"10.0.0.255/32", "10.0.0.0/24"}, want: []string{"10.0.0.0/24"}},
		"a single address beside a range stays":           {ranges: []string{"10.0.1.0/32", "10.0.0.0/24"}, want: []string{"10.0.0.0/24", "10.0.1.0"}},
		"an equal single address is one":                  {ranges: []string{"10.0.0.1/32", "10.0.0.1/32"}, want: []string{"10.0.0.1"}},
		"ranges of IPv6":                                  {ranges: []string{"fd00:1::/64", "fd00::/16", "fe00::/16"}, want: []string{"fd00::/16", "fe00::/16"}},
		"everything of one family leaves the other":       {ranges: []string{"fd00::/8", "0.0.0.0/0", "10.0.0.0/8"}, want: []string{"0.0.0.0/0", "fd00::/8"}},
		"texts are sorted as texts":                       {ranges: []string{"9.0.0.0/8", "10.0.0.0/8"}, want: []string{"10.0.0.0/8", "9.0.0.0/8"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, disjoint(prefixes(test.ranges...)))
		})
	}
}

func TestCompute_Masquerade(t *testing.T) {
	const (
		all4 = "ip saddr @local-pods-ip ip daddr != @not-masqueraded-ip masquerade fully-random"
		all6 = "ip6 saddr @local-pods-ip6 ip6 daddr != @not-masqueraded-ip6 masquerade fully-random"
		dns4 = "ip saddr @local-pods-ip ip daddr != @not-masqueraded-ip meta l4proto { tcp, udp } th dport 53 masquerade fully-random"
		dns6 = "ip6 saddr @local-pods-ip6 ip6 daddr != @not-masqueraded-ip6 meta l4proto { tcp, udp } th dport 53 masquerade fully-random"
	)
	both := map[string][]string{
		"local-pods-ip": {"100.96.0.0/24"}, "not-masqueraded-ip": {"10.250.0.0/16", "100.96.0.0/11"},
		"local-pods-ip6": {"fd00:96::/80"}, "not-masqueraded-ip6": {"fd00:250::/64", "fd00:96::/64"},
	}
	tests := map[string]struct {
		change func(*Input)
		rules  []string
		sets   map[string][]string
	}{
		"what leaves the shoot":        {change: func(*Input) {}, rules: []string{all4, all6}, sets: both},
		"DNS alone":                    {change: func(input *Input) { input.Config.Masquerade = config.Masquerade{DNS: true} }, rules: []string{dns4, dns6}, sets: both},
		"DNS is a part of everything":  {change: func(input *Input) { input.Config.Masquerade.DNS = true }, rules: []string{all4, all6}, sets: both},
		"nothing":                      {change: func(input *Input) { input.Config.Masquerade = config.Masquerade{} }, sets: map[string][]string{}},
		"nothing, whatever the except": {change: func(input *Input) { input.Config.Masquerade = config.Masquerade{Except: prefixes("10.0.0.0/8")} }, sets: map[string][]string{}},
		"more ranges see pods' addresses, each in its family": {
			change: func(input *Input) {
				input.Config.Masquerade.Except = prefixes("192.168.0.0/16", "10.0.0.0/8", "fd00:1::1/128")
			},
			rules: []string{all4, all6},
			sets: map[string][]string{
				"local-pods-ip": {"100.96.0.0/24"}, "not-masqueraded-ip": {"10.0.0.0/8", "100.96.0.0/11", "192.168.0.0/16"},
				"local-pods-ip6": {"fd00:96::/80"}, "not-masqueraded-ip6": {"fd00:1::1", "fd00:250::/64", "fd00:96::/64"},
			},
		},
		"a family that the shoot lacks has no rule": {
			change: onlyIPv4, rules: []string{all4},
			sets: map[string][]string{"local-pods-ip": both["local-pods-ip"], "not-masqueraded-ip": both["not-masqueraded-ip"]},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			table := compute(t, func(input *Input) {
				input.Config.NetworkPolicy = nil
				test.change(input)
			}).Table
			sets := map[string][]string{}
			for _, set := range table.Sets {
				assert.True(t, set.Interval, set.Name)
				sets[set.Name] = set.Elements
			}
			assert.Equal(t, test.sets, sets)
			if test.rules == nil {
				assert.Empty(t, table.Chains)
				return
			}
			want := nft.Chain{Name: "postrouting", Base: "type nat hook postrouting priority srcnat - 5; policy accept;", Rules: test.rules}
			assert.Equal(t, []nft.Chain{want}, table.Chains)
		})
	}
}
