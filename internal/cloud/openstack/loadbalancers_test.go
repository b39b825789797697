package openstack_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

func TestSession_ListLoadBalancers_LaterPageKeepsFilter(t *testing.T) {
	c := startCloud(t, fake.WithPageSize(2))
	s, ctx := logInto(t, c), t.Context()
	subnets := map[string]string{}
	for name, cidr := range map[string]string{"ours": "10.1.0.0/24", "others": "10.2.0.0/24"} {
		network, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: name})
		require.NoError(t, err)
		subnet, err := s.CreateSubnet(ctx, openstack.SubnetCreate{NetworkID: network.ID, CIDR: cidr, IPVersion: 4})
		require.NoError(t, err)
		subnets[name] = subnet.ID
	}
	for range 3 {
		for _, id := range subnets {
			_, err := c.CreateResource(fake.DefaultProject, "loadbalancers", fake.Attrs{"vip_subnet_id": id})
			require.NoError(t, err)
		}
	}
	c.ResetLog()
	found, err := s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{VIPSubnetID: subnets["ours"]})
	require.NoError(t, err)
	assert.Len(t, found, 3)
	assert.Len(t, c.Log(), 2, "the links of Octavia do not repeat the filter")
}
