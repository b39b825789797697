package conformance

import (
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// idsOf are the IDs of what a list call returned.
func idsOf[T any](c *Case, id func(T) string) func([]T, error) []string {
	return func(all []T, err error) []string {
		c.Helper()
		require.NoError(c, err)
		ids := []string{}
		for _, one := range all {
			ids = append(ids, id(one))
		}
		slices.Sort(ids)
		return ids
	}
}

func sorted(ids ...string) []string { return slices.Sorted(slices.Values(ids)) }

// network makes a network with our client.
func (c *Case) network(session *openstack.Session, name string) openstack.Network {
	c.Helper()
	created, err := session.CreateNetwork(c.Context(), openstack.NetworkCreate{Name: name, Description: "of the shoot"})
	require.NoError(c, err)
	c.DeleteAtCleanup(c.Member, Network, "/v2.0/networks/"+created.ID)
	return created
}

// subnet makes a subnet with our client.
func (c *Case) subnet(session *openstack.Session, subnet openstack.SubnetCreate) openstack.Subnet {
	c.Helper()
	created, err := session.CreateSubnet(c.Context(), subnet)
	require.NoError(c, err)
	c.DeleteAtCleanup(c.Member, Network, "/v2.0/subnets/"+created.ID)
	return created
}

func (c *Case) router(session *openstack.Session, router openstack.RouterCreate) openstack.Router {
	c.Helper()
	created, err := session.CreateRouter(c.Context(), router)
	require.NoError(c, err)
	c.DeleteAtCleanup(c.Member, Network, "/v2.0/routers/"+created.ID)
	return created
}

func (c *Case) connect(session *openstack.Session, router openstack.Router, subnet openstack.Subnet) (portID string) {
	c.Helper()
	portID, err := session.AddRouterInterface(c.Context(), router.ID, subnet.ID)
	require.NoError(c, err)
	c.RequestAtCleanup(c.Member, "PUT", Network, "/v2.0/routers/"+router.ID+"/remove_router_interface", Body{"subnet_id": subnet.ID})
	return portID
}

func clientNetworks() []Behaviour {
	return []Behaviour{
		behaviour("our client makes a network, finds it in every way, changes it and deletes it", func(c *Case) {
			s, ctx := c.session(), c.Context()
			created, other := c.network(s, "shoot--garden--one"), c.network(s, "shoot--garden--two")
			assert.Equal(c, []string{"shoot--garden--one", "of the shoot", c.Member.ProjectID, "ACTIVE"}, []string{created.Name, created.Description, created.ProjectID, created.Status})
			assert.True(c, created.AdminStateUp)
			assert.False(c, created.External || created.Shared)
			assert.Positive(c, created.MTU)
			assert.Positive(c, created.RevisionNumber)
			assert.Empty(c, created.SubnetIDs)
			ids := idsOf(c, func(n openstack.Network) string { return n.ID })
			assert.Equal(c, sorted(created.ID, other.ID), ids(s.ListNetworks(ctx, openstack.NetworkFilter{IDs: []string{created.ID, other.ID, unknownBalancerID}})))
			assert.Equal(c, []string{created.ID}, ids(s.ListNetworks(ctx, openstack.NetworkFilter{Name: created.Name, Description: "of the shoot"})))
			assert.Empty(c, ids(s.ListNetworks(ctx, openstack.NetworkFilter{Name: created.Name, Description: "of"})))
			assert.Equal(c, []string{c.External.ID()}, ids(s.ListNetworks(ctx, openstack.NetworkFilter{Name: c.cloud.ExternalNetwork, External: new(true)})))
			assert.Empty(c, ids(s.ListNetworks(ctx, openstack.NetworkFilter{Name: created.Name, External: new(true)})))
			changed, err := s.UpdateNetwork(ctx, created.ID, openstack.NetworkUpdate{Name: new("renamed"), Description: new(""), MTU: new(1300), AdminStateUp: new(false)})
			require.NoError(c, err)
			assert.Equal(c, "renamed", changed.Name)
			assert.Equal(c, 1300, changed.MTU)
			assert.Empty(c, changed.Description)
			assert.False(c, changed.AdminStateUp)
			require.NoError(c, s.DeleteNetwork(ctx, created.ID))
			c.requireResponseError(cloud.NotFound, s.DeleteNetwork(ctx, created.ID))
		}),
		behaviour("our client makes subnets of both families, finds them in every way, changes them and deletes them", func(c *Case) {
			s, ctx := c.session(), c.Context()
			network := c.network(s, "one")
			four := c.subnet(s, openstack.SubnetCreate{
				NetworkID: network.ID, Name: "nodes", Description: "of the shoot", CIDR: "10.250.0.0/16", IPVersion: 4, DNSServers: []string{"192.0.2.1", "192.0.2.2"},
			})
			assert.Equal(c, []string{"nodes", "of the shoot", c.Member.ProjectID, network.ID, "10.250.0.0/16", "10.250.0.1"},
				[]string{four.Name, four.Description, four.ProjectID, four.NetworkID, four.CIDR, four.GatewayIP})
			assert.Equal(c, []string{"192.0.2.1", "192.0.2.2"}, four.DNSServers)
			assert.Equal(c, []openstack.AllocationPool{{Start: "10.250.0.2", End: "10.250.255.254"}}, four.AllocationPools)
			assert.Equal(c, 4, four.IPVersion)
			assert.True(c, four.DHCP)
			six := c.subnet(s, openstack.SubnetCreate{
				NetworkID: network.ID, Name: "nodes", CIDR: "fd00:10:250::/64", IPVersion: 6, IPv6AddressMode: "dhcpv6-stateless", IPv6RAMode: "dhcpv6-stateless",
			})
			assert.Equal(c, []string{"dhcpv6-stateless", "dhcpv6-stateless", "fd00:10:250::"}, []string{six.IPv6AddressMode, six.IPv6RAMode, six.GatewayIP})
			ids := idsOf(c, func(n openstack.Subnet) string { return n.ID })
			assert.Equal(c, sorted(four.ID, six.ID), ids(s.ListSubnets(ctx, openstack.SubnetFilter{NetworkID: network.ID, Name: "nodes"})))
			assert.Equal(c, sorted(four.ID, six.ID), ids(s.ListSubnets(ctx, openstack.SubnetFilter{IDs: []string{four.ID, six.ID}})))
			assert.Equal(c, []string{four.ID}, ids(s.ListSubnets(ctx, openstack.SubnetFilter{NetworkID: network.ID, Description: "of the shoot"})))
			networks, err := s.ListNetworks(ctx, openstack.NetworkFilter{IDs: []string{network.ID}})
			require.NoError(c, err)
			assert.ElementsMatch(c, []string{four.ID, six.ID}, networks[0].SubnetIDs)
			changed, err := s.UpdateSubnet(ctx, four.ID, openstack.SubnetUpdate{Name: new("renamed"), DNSServers: new([]string)})
			require.NoError(c, err)
			assert.Equal(c, "renamed", changed.Name)
			assert.Empty(c, changed.DNSServers)
			changed, err = s.UpdateSubnet(ctx, four.ID, openstack.SubnetUpdate{DHCP: new(false), DNSServers: &[]string{"192.0.2.3"}})
			require.NoError(c, err)
			assert.False(c, changed.DHCP)
			assert.Equal(c, []string{"192.0.2.3"}, changed.DNSServers)
			require.NoError(c, s.DeleteSubnet(ctx, four.ID))
			c.requireResponseError(cloud.NotFound, s.DeleteSubnet(ctx, four.ID))
		}),
		behaviour("our client takes subnets out of a subnet pool until that is empty", func(c *Case) {
			s, ctx := c.session(), c.Context()
			pool := c.Fixture(Network, "/v2.0/subnetpools", Body{"subnetpool": Body{
				"name": "nodes", "prefixes": []string{"10.96.0.0/22"}, "default_prefixlen": 24, "min_prefixlen": 23, "max_prefixlen": 26,
			}})
			got, err := s.GetSubnetPool(ctx, pool.ID())
			require.NoError(c, err)
			assert.Equal(c, openstack.SubnetPool{
				ID: pool.ID(), Name: "nodes", IPVersion: 4, Prefixes: []string{"10.96.0.0/22"}, DefaultPrefixLen: 24, MinPrefixLen: 23, MaxPrefixLen: 26,
			}, got)
			listed, err := s.ListSubnetPools(ctx, openstack.SubnetPoolFilter{IDs: []string{pool.ID()}, Name: "nodes"})
			require.NoError(c, err)
			assert.Equal(c, []openstack.SubnetPool{got}, listed)
			network := c.network(s, "one")
			subnet := func(length int) openstack.SubnetCreate {
				return openstack.SubnetCreate{NetworkID: network.ID, SubnetPoolID: pool.ID(), PrefixLength: length, IPVersion: 4}
			}
			assert.Equal(c, pool.ID(), c.subnet(s, subnet(0)).SubnetPoolID)
			c.subnet(s, subnet(23))
			_, err = s.CreateSubnet(ctx, subnet(23))
			c.requireResponseError(cloud.Depleted, err)
			_, err = s.CreateSubnet(ctx, subnet(16))
			c.requireResponseError(cloud.Configuration, err)
			_, err = s.CreateSubnet(ctx, subnet(28))
			c.requireResponseError(cloud.Configuration, err)
			_, err = s.GetSubnetPool(ctx, unknownBalancerID)
			c.requireResponseError(cloud.NotFound, err)
		}),
	}
}

func clientRouters() []Behaviour {
	return []Behaviour{
		behaviour("our client makes a router with a gateway, connects a subnet, and finds their ports", func(c *Case) {
			s, ctx := c.session(), c.Context()
			router := c.router(s, openstack.RouterCreate{Name: "one", Description: "of the shoot", Gateway: &openstack.ExternalGateway{NetworkID: c.External.ID()}})
			assert.Equal(c, []string{"one", "of the shoot", c.Member.ProjectID, "ACTIVE"}, []string{router.Name, router.Description, router.ProjectID, router.Status})
			require.NotNil(c, router.Gateway)
			assert.Equal(c, c.External.ID(), router.Gateway.NetworkID)
			require.NotEmpty(c, router.Gateway.FixedIPs)
			assert.NotEmpty(c, router.Gateway.FixedIPs[0].IPAddress)
			assert.Contains(c, c.External.Texts("subnets"), router.Gateway.FixedIPs[0].SubnetID)
			require.NotNil(c, router.Gateway.EnableSNAT)
			assert.True(c, *router.Gateway.EnableSNAT)
			network := c.network(s, "one")
			subnet := c.subnet(s, openstack.SubnetCreate{NetworkID: network.ID, CIDR: "10.250.0.0/16", IPVersion: 4})
			portID := c.connect(s, router, subnet)
			port, err := s.GetPort(ctx, portID)
			require.NoError(c, err)
			assert.Equal(c, []string{router.ID, "network:router_interface", network.ID}, []string{port.DeviceID, port.DeviceOwner, port.NetworkID})
			assert.Equal(c, []openstack.FixedIP{{SubnetID: subnet.ID, IPAddress: "10.250.0.1"}}, port.FixedIPs)
			given := c.Port(Object{"id": network.ID})
			ids := idsOf(c, func(p openstack.Port) string { return p.ID })
			assert.Equal(c, []string{portID}, ids(s.ListPorts(ctx, openstack.PortFilter{DeviceID: router.ID, SubnetIDs: []string{subnet.ID}})))
			assert.Equal(c, []string{portID}, ids(s.ListPorts(ctx, openstack.PortFilter{DeviceOwner: "network:router_interface", NetworkID: network.ID})))
			assert.Equal(c, sorted(portID, given.ID()), ids(s.ListPorts(ctx, openstack.PortFilter{NetworkID: network.ID})))
			assert.Equal(c, sorted(portID, given.ID()), ids(s.ListPorts(ctx, openstack.PortFilter{IDs: []string{portID, given.ID()}})))
			assert.Equal(c, sorted(portID, given.ID()), ids(s.ListPorts(ctx, openstack.PortFilter{SubnetIDs: []string{subnet.ID, unknownBalancerID}})))
			assert.Equal(c, []string{given.ID()}, ids(s.ListPorts(ctx, openstack.PortFilter{NetworkID: network.ID, Name: "given"})))
			require.NoError(c, s.DeletePort(ctx, given.ID()))
			c.requireResponseError(cloud.NotFound, s.DeletePort(ctx, given.ID()))
			require.NoError(c, s.RemoveRouterInterface(ctx, router.ID, subnet.ID))
			c.requireResponseError(cloud.NotFound, s.RemoveRouterInterface(ctx, router.ID, subnet.ID))
			require.NoError(c, s.DeleteRouter(ctx, router.ID))
			_, err = s.GetRouter(ctx, router.ID)
			c.requireResponseError(cloud.NotFound, err)
			c.requireResponseError(cloud.NotFound, s.DeleteRouter(ctx, router.ID))
		}),
		behaviour("our client changes a router only as long as nobody else has, if that matters", func(c *Case) {
			s, ctx := c.session(), c.Context()
			network := c.network(s, "one")
			subnet := c.subnet(s, openstack.SubnetCreate{NetworkID: network.ID, CIDR: "10.250.0.0/16", IPVersion: 4})
			created := c.router(s, openstack.RouterCreate{Name: "one"})
			assert.Nil(c, created.Gateway)
			c.connect(s, created, subnet)
			before, err := s.GetRouter(ctx, created.ID)
			require.NoError(c, err)
			routes := []openstack.Route{{Destination: "10.96.0.0/24", NextHop: "10.250.0.9"}}
			changed, err := s.UpdateRouter(ctx, created.ID, openstack.RouterUpdate{Routes: &routes, IfRevision: before.RevisionNumber})
			require.NoError(c, err)
			assert.Equal(c, routes, changed.Routes)
			assert.Greater(c, changed.RevisionNumber, before.RevisionNumber)
			_, err = s.UpdateRouter(ctx, created.ID, openstack.RouterUpdate{Routes: new([]openstack.Route), IfRevision: before.RevisionNumber})
			assert.Equal(c, 412, c.requireResponseError(cloud.Conflict, err).Status)
			after, err := s.GetRouter(ctx, created.ID)
			require.NoError(c, err)
			assert.Equal(c, changed, after)
			changed, err = s.UpdateRouter(ctx, created.ID, openstack.RouterUpdate{Routes: new([]openstack.Route)})
			require.NoError(c, err)
			assert.Empty(c, changed.Routes)
			changed, err = s.UpdateRouter(ctx, created.ID, openstack.RouterUpdate{Name: new("two"), Gateway: &openstack.ExternalGateway{NetworkID: c.External.ID()}})
			require.NoError(c, err)
			assert.Equal(c, "two", changed.Name)
			require.NotNil(c, changed.Gateway)
			ids := idsOf(c, func(r openstack.Router) string { return r.ID })
			assert.Equal(c, []string{created.ID}, ids(s.ListRouters(ctx, openstack.RouterFilter{IDs: []string{created.ID, unknownBalancerID}, Name: "two"})))
			assert.Empty(c, ids(s.ListRouters(ctx, openstack.RouterFilter{IDs: []string{created.ID}, Description: "of another"})))
		}),
	}
}
