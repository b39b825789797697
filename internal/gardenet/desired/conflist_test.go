package desired

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompute_Conflist(t *testing.T) {
	const (
		portmapNFT      = `{"type": "portmap", "capabilities": {"portMappings": true}, "snat": true, "backend": "nftables"}`
		portmapIPTables = `{"type": "portmap", "capabilities": {"portMappings": true}, "snat": true, "backend": "iptables"}`
		bandwidth       = `{"type": "bandwidth", "capabilities": {"bandwidth": true}}`
		bothRanges      = `[[{"subnet": "100.96.0.0/24"}], [{"subnet": "fd00:96::/80"}]]`
		bothRoutes      = `[{"dst": "0.0.0.0/0"}, {"dst": "::/0"}]`
	)
	tests := map[string]struct {
		change         func(*Input)
		ranges, routes string
		others         []string
	}{
		"a host with nft uses it for host ports": {change: func(*Input) {}, ranges: bothRanges, routes: bothRoutes, others: []string{portmapNFT, bandwidth}},
		"a host without nft uses iptables": {
			change: func(input *Input) { input.Facts.HostHasNFT = false }, ranges: bothRanges, routes: bothRoutes, others: []string{portmapIPTables, bandwidth},
		},
		"host ports are off": {
			change: func(input *Input) { input.Config.HostPorts = false }, ranges: bothRanges, routes: bothRoutes, others: []string{bandwidth},
		},
		"bandwidth is off": {
			change: func(input *Input) { input.Config.Bandwidth = false }, ranges: bothRanges, routes: bothRoutes, others: []string{portmapNFT},
		},
		"both are off": {
			change: func(input *Input) { input.Config.HostPorts, input.Config.Bandwidth = false, false }, ranges: bothRanges, routes: bothRoutes,
		},
		"pods get no address of a family that the shoot lacks": {
			change: onlyIPv4, ranges: `[[{"subnet": "100.96.0.0/24"}]]`, routes: `[{"dst": "0.0.0.0/0"}]`, others: []string{portmapNFT, bandwidth},
		},
		"pods have IPv6 only": {
			change: onlyIPv6, ranges: `[[{"subnet": "fd00:96::/80"}]]`, routes: `[{"dst": "::/0"}]`, others: []string{portmapNFT, bandwidth},
		},
		"ranges are in the node's order": {
			change: func(input *Input) { input.Node.PodRanges = prefixes("fd00:96::/80", "100.96.0.0/24") },
			ranges: `[[{"subnet": "fd00:96::/80"}], [{"subnet": "100.96.0.0/24"}]]`, routes: `[{"dst": "::/0"}, {"dst": "0.0.0.0/0"}]`,
			others: []string{portmapNFT, bandwidth},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var list struct {
				CNIVersion, Name string
				Plugins          []json.RawMessage
			}
			require.NoError(t, json.Unmarshal([]byte(compute(t, test.change).Conflist), &list))
			assert.Equal(t, "1.0.0", list.CNIVersion)
			assert.Equal(t, "gardenet", list.Name)
			require.Len(t, list.Plugins, 1+len(test.others))
			var ptp struct {
				Type   string
				IPMasq bool
				IPAM   struct{ Ranges, Routes json.RawMessage }
			}
			require.NoError(t, json.Unmarshal(list.Plugins[0], &ptp))
			assert.Equal(t, "ptp", ptp.Type)
			assert.False(t, ptp.IPMasq, "the agent masquerades")
			assert.JSONEq(t, test.ranges, string(ptp.IPAM.Ranges))
			assert.JSONEq(t, test.routes, string(ptp.IPAM.Routes))
			for i, want := range test.others {
				assert.JSONEq(t, want, string(list.Plugins[1+i]))
			}
		})
	}
}
