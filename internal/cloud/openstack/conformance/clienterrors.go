package conformance

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func clientQuotaErrors() []Behaviour {
	return []Behaviour{
		behaviour("to our client whatever something depends on is IN USE", func(c *Case) {
			s, ctx := c.session(), c.Context()
			network, subnet := c.NetworkForLoadBalancers()
			router := c.RouterWithGateway()
			created := c.Interface(router, subnet)
			port := c.Port(network)
			c.Fixture(Network, "/v2.0/floatingips", Body{"floatingip": Body{"floating_network_id": c.External.ID(), "port_id": port.ID()}})
			group := c.SecurityGroup()
			c.Fixture(Network, "/v2.0/ports", Body{"port": Body{"network_id": network.ID(), "security_groups": []string{group.ID()}}})
			for name, response := range map[string]error{
				"a network with ports":             s.DeleteNetwork(ctx, network.ID()),
				"a subnet with addresses":          s.DeleteSubnet(ctx, subnet.ID()),
				"a router with an interface":       s.DeleteRouter(ctx, router.ID()),
				"the port of an interface":         s.DeletePort(ctx, created.Text("port_id")),
				"an interface below a floating IP": s.RemoveRouterInterface(ctx, router.ID(), subnet.ID()),
				"a security group of a port":       s.DeleteSecurityGroup(ctx, group.ID()),
			} {
				fault := c.requireResponseError(cloud.InUse, response)
				assert.Equal(c, 409, fault.Status, name)
				assert.Equal(c, "network", fault.Service, name)
				assert.Regexp(c, "^req-", fault.RequestID, name)
			}
		}),
		behaviour("to our client an interface that a route needs is IN USE", func(c *Case) {
			s, ctx := c.session(), c.Context()
			_, subnet := c.NetworkForLoadBalancers()
			router := c.Router()
			c.Interface(router, subnet)
			routes := []openstack.Route{{Destination: "10.96.0.0/24", NextHop: "10.250.0.9"}}
			_, err := s.UpdateRouter(ctx, router.ID(), openstack.RouterUpdate{Routes: &routes})
			require.NoError(c, err)
			c.requireResponseError(cloud.InUse, s.RemoveRouterInterface(ctx, router.ID(), subnet.ID()))
			_, err = s.UpdateRouter(ctx, router.ID(), openstack.RouterUpdate{Routes: new([]openstack.Route)})
			require.NoError(c, err)
		}),
		behaviour("to our client one too many of anything is QUOTA EXCEEDED, of key pairs too", func(c *Case) {
			s, ctx := c.session(), c.Context()
			group := c.SecurityGroup()
			network := c.Network()
			c.SetQuota(Network, Body{"network": 1, "subnet": 0, "router": 0, "security_group": 0, "security_group_rule": 1})
			c.SetQuota(Compute, Body{"key_pairs": 0})
			_, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "one"})
			c.requireResponseError(cloud.QuotaExceeded, err)
			_, err = s.CreateSubnet(ctx, openstack.SubnetCreate{NetworkID: network.ID(), CIDR: "10.250.0.0/16", IPVersion: 4})
			c.requireResponseError(cloud.QuotaExceeded, err)
			_, err = s.CreateRouter(ctx, openstack.RouterCreate{Name: "one"})
			c.requireResponseError(cloud.QuotaExceeded, err)
			_, err = s.CreateSecurityGroup(ctx, openstack.SecurityGroupCreate{Name: "one"})
			c.requireResponseError(cloud.QuotaExceeded, err)
			_, err = s.CreateSecurityGroupRules(ctx, []openstack.SecurityGroupRule{
				{SecurityGroupID: group.ID(), Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 22, PortMax: 22},
				{SecurityGroupID: group.ID(), Direction: "ingress", EtherType: "IPv4", Protocol: "udp", PortMin: 53, PortMax: 53},
			})
			c.requireResponseError(cloud.QuotaExceeded, err)
			_, err = s.CreateKeyPair(ctx, "one", onePublicKey)
			assert.Equal(c, 403, c.requireResponseError(cloud.QuotaExceeded, err).Status)
		}),
		behaviour("to our client an external network without an address left is DEPLETED", func(c *Case) {
			s, ctx := c.session(), c.Context()
			network := c.FixtureAs(c.Operator, Network, "/v2.0/networks", Body{"network": Body{"name": c.Login.Project + "-tight", "router:external": true}})
			c.FixtureAs(c.Operator, Network, "/v2.0/subnets", Body{"subnet": Body{
				"network_id": network.ID(), "cidr": "198.18.252.0/30", "ip_version": 4, "enable_dhcp": false,
			}})
			gateway := openstack.RouterCreate{Name: "one", Gateway: &openstack.ExternalGateway{NetworkID: network.ID()}}
			c.router(s, gateway)
			_, err := s.CreateRouter(ctx, gateway)
			c.requireResponseError(cloud.Depleted, err)
			left, err := s.ListRouters(ctx, openstack.RouterFilter{Name: "one"})
			require.NoError(c, err)
			assert.Len(c, left, 1, "a router without its gateway is not left behind")
		}),
	}
}

func clientErrors() []Behaviour {
	return []Behaviour{
		behaviour("to our client what the policy forbids is UNAUTHORIZED", func(c *Case) {
			s, ctx := c.session(), c.Context()
			_, err := s.CreateRouter(ctx, openstack.RouterCreate{Name: "one", Gateway: &openstack.ExternalGateway{NetworkID: c.External.ID(), EnableSNAT: new(false)}})
			assert.Equal(c, "PolicyNotAuthorized", c.requireResponseError(cloud.Unauthorized, err).Type)
			router := c.RouterWithGateway()
			_, err = s.UpdateRouter(ctx, router.ID(), openstack.RouterUpdate{Gateway: &openstack.ExternalGateway{NetworkID: c.External.ID(), EnableSNAT: new(true)}})
			c.requireResponseError(cloud.Unauthorized, err)
			plain := c.otherUserWithRole("member")
			sessions, _ := c.sessions(openstack.Options{})
			login := Login{User: c.Login.User + "-colleague", Password: "colleague", Project: c.Login.Project}
			other, err := sessions.Get(ctx, c.credentials(login), c.cloud.Region)
			require.NoError(c, err)
			assert.Equal(c, plain.UserID, other.Token().UserID)
			_, err = other.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{})
			c.requireResponseError(cloud.Unauthorized, err)
		}),
		behaviour("to our client a value that only the user can have chosen is CONFIGURATION, and other nonsense is nobody's fault", func(c *Case) {
			s, ctx := c.session(), c.Context()
			network, subnet := c.NetworkForLoadBalancers()
			_, err := s.CreateRouter(ctx, openstack.RouterCreate{Name: "one", AvailabilityZoneHints: []string{"nowhere"}})
			c.requireResponseError(cloud.Configuration, err)
			_, err = s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "one", AvailabilityZoneHints: []string{"nowhere"}})
			c.requireResponseError(cloud.Configuration, err)
			_, err = s.CreateSubnet(ctx, openstack.SubnetCreate{NetworkID: network.ID(), CIDR: "10.250.0.0/25", IPVersion: 4})
			assert.Equal(c, 400, c.requireResponseError(cloud.Unknown, err).Status)
			router := c.Router()
			c.Interface(router, subnet)
			_, err = s.AddRouterInterface(ctx, router.ID(), subnet.ID())
			assert.Equal(c, 400, c.requireResponseError(cloud.Unknown, err).Status)
			_, err = s.CreateKeyPair(ctx, "one", "no key")
			assert.Equal(c, 400, c.requireResponseError(cloud.Unknown, err).Status)
		}),
		behaviour("to our client what a request refers to is NOT FOUND, too", func(c *Case) {
			s, ctx := c.session(), c.Context()
			router := c.Router()
			_, err := s.CreateSubnet(ctx, openstack.SubnetCreate{NetworkID: unknownBalancerID, CIDR: "10.250.0.0/16", IPVersion: 4})
			c.requireResponseError(cloud.NotFound, err)
			_, err = s.AddRouterInterface(ctx, router.ID(), unknownBalancerID)
			c.requireResponseError(cloud.NotFound, err)
			_, err = s.AddRouterInterface(ctx, unknownBalancerID, unknownBalancerID)
			c.requireResponseError(cloud.NotFound, err)
			_, err = s.CreateRouter(ctx, openstack.RouterCreate{Name: "one", Gateway: &openstack.ExternalGateway{NetworkID: unknownBalancerID}})
			c.requireResponseError(cloud.NotFound, err)
			_, err = s.CreateSecurityGroupRules(ctx, []openstack.SecurityGroupRule{{SecurityGroupID: unknownBalancerID, Direction: "ingress", EtherType: "IPv4"}})
			c.requireResponseError(cloud.NotFound, err)
			_, err = s.GetPort(ctx, unknownBalancerID)
			c.requireResponseError(cloud.NotFound, err)
		}),
		behaviour("our client sees nothing of strangers, and what it names is NOT FOUND", func(c *Case) {
			s, ctx := c.session(), c.Context()
			network := c.FixtureAs(c.OtherMember, Network, "/v2.0/networks", Body{"network": Body{"name": "theirs"}})
			group := c.FixtureAs(c.OtherMember, Network, "/v2.0/security-groups", Body{"security_group": Body{"name": "theirs"}})
			networks, err := s.ListNetworks(ctx, openstack.NetworkFilter{IDs: []string{network.ID()}})
			require.NoError(c, err)
			assert.Empty(c, networks)
			c.requireResponseError(cloud.NotFound, s.DeleteNetwork(ctx, network.ID()))
			c.requireResponseError(cloud.NotFound, s.DeleteSecurityGroup(ctx, group.ID()))
		}),
		behaviour("our client tells names that are taken from names that are free", func(c *Case) {
			s, ctx := c.session(), c.Context()
			_, err := s.CreateSecurityGroup(ctx, openstack.SecurityGroupCreate{Name: "default"})
			c.requireResponseError(cloud.Conflict, err)
			one, two := c.network(s, "same"), c.network(s, "same")
			assert.NotEqual(c, one.ID, two.ID)
		}),
	}
}
