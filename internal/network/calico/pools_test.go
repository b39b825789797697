package calico

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/network"
)

func TestPools(t *testing.T) {
	podPool := func(cidr string, blockSize int64, ipip, vxlan string, nat bool) map[string]any {
		return map[string]any{
			"allowedUses": []any{"Workload", "Tunnel"}, "assignmentMode": "Automatic", "blockSize": blockSize, "cidr": cidr, "ipipMode": ipip, "natOutgoing": nat,
			"nodeSelector": "all()", "vxlanMode": vxlan,
		}
	}
	nodePool := func(cidr string) map[string]any {
		return map[string]any{
			"cidr": cidr, "disabled": true, "disableBGPExport": true, "ipipMode": "Never", "natOutgoing": false,
			"nodeSelector": "all()", "vxlanMode": "Never",
		}
	}
	const pods4, pods6 = "100.96.0.0/11", "2001:db8:1::/48"
	for sentence, test := range map[string]struct {
		config     string
		variations []variation
		want       map[string]map[string]any
	}{
		"there is a pool if the user says nothing": {want: map[string]map[string]any{poolIPv4: podPool(pods4, 26, "Always", "Never", true)}},
		"VXLAN": {
			config: "{overlay: {enabled: true}, vxlan: {enabled: true}}",
			want:   map[string]map[string]any{poolIPv4: podPool(pods4, 26, "Never", "Always", true)},
		},
		"CrossSubnet still wraps, and nodes see nodes' addresses": {
			config: "ipv4: {mode: CrossSubnet}",
			want:   map[string]map[string]any{poolIPv4: podPool(pods4, 26, "CrossSubnet", "Never", true)},
		},
		"without a tunnel nodes see pods' addresses": {
			config: "overlay: {enabled: false}",
			want:   map[string]map[string]any{poolIPv4: podPool(pods4, 26, "Never", "Never", true), poolNoSNAT: nodePool("10.250.0.0/16")},
		},
		"in all ranges of nodes, none twice": {
			config:     "overlay: {enabled: false}",
			variations: []variation{withNodeRanges("10.250.0.0/16", "10.250.128.0/17", "10.251.0.7/16", "10.250.0.0/16")},
			want: map[string]map[string]any{
				poolIPv4: podPool(pods4, 26, "Never", "Never", true), poolNoSNAT: nodePool("10.250.0.0/16"),
				poolNoSNAT + "-2": nodePool("10.251.0.0/16"),
			},
		},
		"which may be unknown": {
			config: "overlay: {enabled: false}", variations: []variation{withNodeRanges()},
			want: map[string]map[string]any{poolIPv4: podPool(pods4, 26, "Never", "Never", true)},
		},
		"pools do not overlap": {
			config: "overlay: {enabled: false}", variations: []variation{withNodeRanges("100.64.0.0/10")},
			want: map[string]map[string]any{poolIPv4: podPool(pods4, 26, "Never", "Never", true)},
		},
		"addresses of IPv6 are seen outside": {
			variations: []variation{withFamilies(ipv6)},
			want:       map[string]map[string]any{poolIPv6: podPool(pods6, 122, "Never", "Never", false)},
		},
		"unless the user says otherwise": {
			config: "ipv6: {sourceNATEnabled: true}", variations: []variation{withFamilies(ipv6)},
			want: map[string]map[string]any{poolIPv6: podPool(pods6, 122, "Never", "Never", true), poolNoSNAT: nodePool("2001:db8:2::/64")},
		},
		"two families have a pool each": {
			variations: []variation{withFamilies(ipv6, ipv4)},
			want: map[string]map[string]any{
				poolIPv4: podPool(pods4, 26, "Never", "Never", true), poolIPv6: podPool(pods6, 122, "Never", "Never", false),
				poolNoSNAT: nodePool("10.250.0.0/16"),
			},
		},
		"a family that is not deployed has none": {
			variations: []variation{func(s *network.Shoot) { s.PodRanges = append(s.PodRanges, pods6) }},
			want:       map[string]map[string]any{poolIPv4: podPool(pods4, 26, "Always", "Never", true)},
		},
		"a range that a cloud adds has a pool of its own": {
			variations: []variation{func(s *network.Shoot) { s.PodRanges = append(s.PodRanges, "10.0.0.0/16") }},
			want:       map[string]map[string]any{poolIPv4: podPool(pods4, 26, "Always", "Never", true), poolIPv4 + "-2": podPool("10.0.0.0/16", 26, "Always", "Never", true)},
		},
		"a block is not larger than its pool": {
			variations: []variation{func(s *network.Shoot) { s.PodRanges = []string{"10.0.0.0/27"} }},
			want:       map[string]map[string]any{poolIPv4: podPool("10.0.0.0/27", 27, "Always", "Never", true)},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			decided, err := decide(shootOn(t, "aws", test.config, test.variations...))
			require.NoError(t, err)
			objects, err := decided.settings.poolObjects()
			require.NoError(t, err)
			got := map[string]map[string]any{}
			for _, object := range objects {
				pool := object.(*unstructured.Unstructured)
				assert.Equal(t, "IPPool", pool.GetKind())
				got[pool.GetName()] = pool.Object["spec"].(map[string]any)
			}
			assert.Empty(t, cmp.Diff(test.want, got), "%v", slices.Sorted(maps.Keys(got)))
			assert.Len(t, objects, len(got), "no name twice")
		})
	}
}
