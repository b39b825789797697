package fake_test

import (
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/keypairs"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/external"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/rules"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

func TestTheResourcesOfAShootComeAndGo(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	ctx := t.Context()

	pages, err := networks.List(c.network, external.ListOptsExt{ListOptsBuilder: networks.ListOpts{Name: fake.ExternalNetwork}, External: new(true)}).AllPages(ctx)
	require.NoError(t, err)
	all, err := networks.ExtractNetworks(pages)
	require.NoError(t, err)
	require.Len(t, all, 1)
	public := all[0]
	require.Len(t, public.Subnets, 2)

	network, err := networks.Create(ctx, c.network, networks.CreateOpts{Name: "shoot"}).Extract()
	require.NoError(t, err)
	subnet, err := subnets.Create(ctx, c.network, subnets.CreateOpts{
		NetworkID: network.ID, IPVersion: 4, CIDR: "10.250.0.0/16", DNSNameservers: []string{"8.8.8.8"},
	}).Extract()
	require.NoError(t, err)
	require.Equal(t, "10.250.0.1", subnet.GatewayIP)
	require.Equal(t, []subnets.AllocationPool{{Start: "10.250.0.2", End: "10.250.255.254"}}, subnet.AllocationPools)

	router, err := routers.Create(ctx, c.network, routers.CreateOpts{Name: "shoot", GatewayInfo: &routers.GatewayInfo{NetworkID: public.ID}}).Extract()
	require.NoError(t, err)
	require.Len(t, router.GatewayInfo.ExternalFixedIPs, 1)
	require.True(t, *router.GatewayInfo.EnableSNAT)

	info, err := routers.AddInterface(ctx, c.network, router.ID, routers.AddInterfaceOpts{SubnetID: subnet.ID}).Extract()
	require.NoError(t, err)
	port, err := ports.Get(ctx, c.network, info.PortID).Extract()
	require.NoError(t, err)
	require.Equal(t, "ACTIVE", port.Status)
	require.Equal(t, "network:router_interface", port.DeviceOwner)
	require.Equal(t, []ports.IP{{SubnetID: subnet.ID, IPAddress: "10.250.0.1"}}, port.FixedIPs)

	group, err := groups.Create(ctx, c.network, groups.CreateOpts{Name: "shoot", Description: "nodes"}).Extract()
	require.NoError(t, err)
	require.Len(t, group.Rules, 2)
	made, err := rules.CreateBulk(ctx, c.network, []rules.CreateOpts{
		{SecGroupID: group.ID, Direction: rules.DirIngress, EtherType: rules.EtherType4, RemoteGroupID: group.ID},
		{SecGroupID: group.ID, Direction: rules.DirIngress, EtherType: rules.EtherType4, Protocol: rules.ProtocolTCP, PortRangeMin: 30000, PortRangeMax: 32767, RemoteIPPrefix: "0.0.0.0/0"},
	}).Extract()
	require.NoError(t, err)
	require.Len(t, made, 2)

	key, err := keypairs.Create(ctx, c.compute, keypairs.CreateOpts{Name: "shoot"}).Extract()
	require.NoError(t, err)
	require.NotEmpty(t, key.PrivateKey)

	_, err = routers.RemoveInterface(ctx, c.network, router.ID, routers.RemoveInterfaceOpts{SubnetID: subnet.ID}).Extract()
	require.NoError(t, err)
	require.NoError(t, routers.Delete(ctx, c.network, router.ID).ExtractErr())
	require.NoError(t, subnets.Delete(ctx, c.network, subnet.ID).ExtractErr())
	require.NoError(t, networks.Delete(ctx, c.network, network.ID).ExtractErr())
	require.NoError(t, groups.Delete(ctx, c.network, group.ID).ExtractErr())
	require.NoError(t, keypairs.Delete(ctx, c.compute, "shoot", nil).ExtractErr())
	require.Equal(t, 1, cloud.Logins())
}
