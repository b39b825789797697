package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

func TestDefault(t *testing.T) {
	open := []string{"0.0.0.0/0"}
	off := &v1alpha1.ShareNetwork{}
	for sentence, test := range map[string]struct{ given, want v1alpha1.Networks }{
		"nothing given": {
			v1alpha1.Networks{},
			v1alpha1.Networks{ShareNetwork: off, NodePortSourceRanges: open},
		},
		"the deprecated range moves to its new name": {
			v1alpha1.Networks{Worker: "10.0.0.0/24"},
			v1alpha1.Networks{Workers: "10.0.0.0/24", ShareNetwork: off, NodePortSourceRanges: open},
		},
		"the deprecated range goes when it says the same": {
			v1alpha1.Networks{Worker: "10.0.0.0/24", Workers: "10.0.0.0/24"},
			v1alpha1.Networks{Workers: "10.0.0.0/24", ShareNetwork: off, NodePortSourceRanges: open},
		},
		"the deprecated range goes when it says something else, as with the upstream extension": {
			v1alpha1.Networks{Worker: "10.0.1.0/24", Workers: "10.0.0.0/24"},
			v1alpha1.Networks{Workers: "10.0.0.0/24", ShareNetwork: off, NodePortSourceRanges: open},
		},
		"dual stack opens node ports for both families": {
			v1alpha1.Networks{IPv6: &v1alpha1.IPv6Config{}},
			v1alpha1.Networks{IPv6: &v1alpha1.IPv6Config{}, ShareNetwork: off, NodePortSourceRanges: []string{"0.0.0.0/0", "::/0"}},
		},
		"given sources of node ports stay": {
			v1alpha1.Networks{NodePortSourceRanges: []string{"192.0.2.0/24"}},
			v1alpha1.Networks{NodePortSourceRanges: []string{"192.0.2.0/24"}, ShareNetwork: off},
		},
		"closed node ports stay closed": {
			v1alpha1.Networks{NodePortSourceRanges: []string{}},
			v1alpha1.Networks{NodePortSourceRanges: []string{}, ShareNetwork: off},
		},
		"nothing is opened in a given security group": {
			v1alpha1.Networks{SecurityGroupID: new("a")},
			v1alpha1.Networks{SecurityGroupID: new("a"), ShareNetwork: off},
		},
		"an enabled share network stays": {
			v1alpha1.Networks{ShareNetwork: &v1alpha1.ShareNetwork{Enabled: true}},
			v1alpha1.Networks{ShareNetwork: &v1alpha1.ShareNetwork{Enabled: true}, NodePortSourceRanges: open},
		},
		"empty zone hints go": {
			v1alpha1.Networks{AvailabilityZoneHints: &v1alpha1.AvailabilityZoneHints{Network: []string{}}},
			v1alpha1.Networks{ShareNetwork: off, NodePortSourceRanges: open},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			config := &v1alpha1.InfrastructureConfig{Networks: test.given}
			config.Default()
			require.Empty(t, cmp.Diff(test.want, config.Networks))

			once := config.DeepCopy()
			config.Default()
			require.Empty(t, cmp.Diff(once, config), "defaulting twice changes nothing")
		})
	}
}
