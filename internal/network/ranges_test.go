package network

import (
	"net/netip"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShoot_ValidateRanges(t *testing.T) {
	for sentence, test := range map[string]struct {
		shoot Shoot
		want  []string
	}{
		"a range of each family": {Shoot{
			Families: []extensionsv1alpha1.IPFamily{ipv4, ipv6}, PodRanges: []string{"10.0.0.0/8", "fd00::/48"}, NodeRanges: []string{"10.250.0.0/16"},
		}, nil},
		"a family without a range": {Shoot{Families: []extensionsv1alpha1.IPFamily{ipv4, ipv6}, PodRanges: []string{"10.0.0.0/8"}}, []string{
			"spec.networking.pods: Required value: pods are to have addresses of IPv6, for which there is no range: give one in CIDR notation, " +
				"or leave the family out of spec.networking.ipFamilies",
		}},
		"all that cannot be read at once": {Shoot{
			Families: []extensionsv1alpha1.IPFamily{ipv4}, PodRanges: []string{"pods"}, NodeRanges: []string{"nodes"}, ServiceRanges: []string{"services"},
		}, []string{
			`spec.networking.pods: Invalid value: ["pods"]: "pods" is no range: give ranges in CIDR notation, like 100.96.0.0/11`,
			`spec.networking.nodes: Invalid value: ["nodes"]: "nodes" is no range: give ranges in CIDR notation, like 10.250.0.0/16`,
			`spec.networking.services: Invalid value: ["services"]: "services" is no range: give ranges in CIDR notation, like 100.64.0.0/13`,
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			for _, err := range test.shoot.ValidateRanges() {
				got = append(got, err.Error())
			}
			assert.Empty(t, cmp.Diff(test.want, got))
		})
	}
}

func TestShoot_ConfiguredFamilies(t *testing.T) {
	shoot := Shoot{Network: &extensionsv1alpha1.Network{}, Families: []extensionsv1alpha1.IPFamily{ipv4}}
	assert.Equal(t, []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4}, shoot.ConfiguredFamilies())
	shoot.Network.Spec.IPFamilies = []extensionsv1alpha1.IPFamily{ipv6, ipv4}
	assert.Equal(t, []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv6, gardencorev1beta1.IPFamilyIPv4}, shoot.ConfiguredFamilies(), "one may not be deployed yet")
}

func TestRangesOfFamily(t *testing.T) {
	ranges, err := ParseRanges([]string{"10.0.0.7/8", "10.1.0.0/16", "fd00::/48", "192.168.0.0/16", "192.168.0.0/16"})
	require.NoError(t, err)
	prefixes := func(texts ...string) (list []netip.Prefix) {
		for _, text := range texts {
			list = append(list, netip.MustParsePrefix(text))
		}
		return list
	}
	assert.Equal(t, prefixes("10.0.0.0/8", "192.168.0.0/16"), RangesOfFamily(ipv4, ranges), "neither a part of another one nor one twice")
	assert.Equal(t, prefixes("fd00::/48"), RangesOfFamily(ipv6, ranges))
}
