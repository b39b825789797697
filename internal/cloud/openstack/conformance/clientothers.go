package conformance

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func clientSecurityGroups() []Behaviour {
	return []Behaviour{
		behaviour("our client makes all rules of a security group in one request, and those that exist already do no harm", func(c *Case) {
			s, tap := c.sessionWithTap()
			ctx := c.Context()
			group, err := s.CreateSecurityGroup(ctx, openstack.SecurityGroupCreate{Name: "nodes", Description: "of the shoot"})
			require.NoError(c, err)
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/security-groups/"+group.ID)
			assert.Equal(c, []string{"nodes", "of the shoot", c.Member.ProjectID}, []string{group.Name, group.Description, group.ProjectID})
			require.Len(c, group.Rules, 2)
			assert.Equal(c, "egress", group.Rules[0].Direction)
			rules := []openstack.SecurityGroupRule{
				{SecurityGroupID: group.ID, Direction: "ingress", EtherType: "IPv4", RemoteGroupID: group.ID, Description: "among nodes"},
				{SecurityGroupID: group.ID, Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 30000, PortMax: 32767, RemoteIPPrefix: "0.0.0.0/0"},
				{SecurityGroupID: group.ID, Direction: "ingress", EtherType: "IPv6", Protocol: "udp", PortMin: 53, PortMax: 53},
			}
			tap.take()
			created, err := s.CreateSecurityGroupRules(ctx, rules[:2])
			require.NoError(c, err)
			assert.Len(c, tap.take(), 1)
			require.Len(c, created, 2)
			for i := range created {
				assert.NotEmpty(c, created[i].ID)
				created[i].ID = ""
			}
			assert.ElementsMatch(c, rules[:2], created, "what was asked for, and nothing else")
			created, err = s.CreateSecurityGroupRules(ctx, rules)
			require.NoError(c, err)
			require.Len(c, created, 1)
			assert.Equal(c, "udp", created[0].Protocol)
			assert.Len(c, tap.take(), 4, "all at once, and then one by one")
			groups, err := s.ListSecurityGroups(ctx, openstack.SecurityGroupFilter{IDs: []string{group.ID}, Name: "nodes", Description: "of the shoot"})
			require.NoError(c, err)
			require.Len(c, groups, 1)
			assert.Len(c, groups[0].Rules, 5)
			require.NoError(c, s.DeleteSecurityGroupRule(ctx, created[0].ID))
			c.requireResponseError(cloud.NotFound, s.DeleteSecurityGroupRule(ctx, created[0].ID))
			changed, err := s.UpdateSecurityGroup(ctx, group.ID, openstack.SecurityGroupUpdate{Name: new("renamed"), Description: new("")})
			require.NoError(c, err)
			assert.Equal(c, "renamed", changed.Name)
			require.NoError(c, s.DeleteSecurityGroup(ctx, group.ID))
			c.requireResponseError(cloud.NotFound, s.DeleteSecurityGroup(ctx, group.ID))
		}),
	}
}

func clientComputeAndBalancers() []Behaviour {
	return []Behaviour{
		behaviour("our client makes a key pair once, reads it back and deletes it", func(c *Case) {
			s, ctx := c.session(), c.Context()
			c.DeleteAtCleanup(c.Member, Compute, keyPairPath("shoot--garden--one"))
			created, err := s.CreateKeyPair(ctx, "shoot--garden--one", onePublicKey)
			require.NoError(c, err)
			assert.Equal(c, openstack.KeyPair{Name: "shoot--garden--one", PublicKey: onePublicKey, Fingerprint: onesFingerprint}, created)
			got, err := s.GetKeyPair(ctx, "shoot--garden--one")
			require.NoError(c, err)
			assert.Equal(c, created, got)
			_, err = s.CreateKeyPair(ctx, "shoot--garden--one", onePublicKey)
			c.requireResponseError(cloud.Conflict, err)
			require.NoError(c, s.DeleteKeyPair(ctx, "shoot--garden--one"))
			c.requireResponseError(cloud.NotFound, s.DeleteKeyPair(ctx, "shoot--garden--one"))
			_, err = s.GetKeyPair(ctx, "shoot--garden--one")
			c.requireResponseError(cloud.NotFound, err)
		}),
		behaviour("our client finds load balancers and their floating IPs, and takes them down with all they have", func(c *Case) {
			s, ctx := c.session(), c.Context()
			balancer, _, _ := c.LoadBalancerWithPool()
			subnetID, networkID, portID := balancer.Text("vip_subnet_id"), balancer.Text("vip_network_id"), balancer.Text("vip_port_id")
			router := c.RouterWithGateway()
			c.Interface(router, Object{"id": subnetID})
			floating := c.Fixture(Network, "/v2.0/floatingips", Body{"floatingip": Body{"floating_network_id": c.External.ID(), "port_id": portID, "description": "of the shoot"}})
			ids := idsOf(c, func(b openstack.LoadBalancer) string { return b.ID })
			assert.Equal(c, []string{balancer.ID()}, ids(s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{VIPNetworkID: networkID})))
			assert.Equal(c, []string{balancer.ID()}, ids(s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{VIPSubnetID: subnetID, Name: "given"})))
			assert.Empty(c, ids(s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{VIPSubnetID: subnetID, Name: "other"})))
			listed, err := s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{})
			require.NoError(c, err)
			created, err := time.Parse("2006-01-02T15:04:05", balancer.Text("created_at")) // in UTC, without a zone
			require.NoError(c, err)
			assert.Equal(c, []openstack.LoadBalancer{{
				ID: balancer.ID(), Name: "given", CreatedAt: openstack.Time{Time: created}, ProjectID: c.Member.ProjectID, ProvisioningStatus: "ACTIVE", VIPAddress: balancer.Text("vip_address"),
				VIPPortID: portID, VIPSubnetID: subnetID, VIPNetworkID: networkID, Tags: []string{},
			}}, listed)
			addresses, err := s.ListFloatingIPs(ctx, openstack.FloatingIPFilter{PortIDs: []string{portID, unknownBalancerID}})
			require.NoError(c, err)
			require.Len(c, addresses, 1)
			ip := addresses[0]
			assert.Equal(c, []string{floating.ID(), "of the shoot", c.Member.ProjectID, c.External.ID(), portID, balancer.Text("vip_address"), router.ID()},
				[]string{ip.ID, ip.Description, ip.ProjectID, ip.FloatingNetworkID, ip.PortID, ip.FixedIP, ip.RouterID})
			assert.Equal(c, floating.Text("floating_ip_address"), ip.Address)
			found := idsOf(c, func(f openstack.FloatingIP) string { return f.ID })
			assert.Equal(c, []string{ip.ID}, found(s.ListFloatingIPs(ctx, openstack.FloatingIPFilter{RouterID: router.ID(), FloatingNetworkID: c.External.ID()})))
			assert.Empty(c, found(s.ListFloatingIPs(ctx, openstack.FloatingIPFilter{RouterID: router.ID(), Description: "of another"})))
			assert.Equal(c, 400, c.requireResponseError(cloud.Unknown, s.DeleteLoadBalancer(ctx, balancer.ID(), false)).Status)
			require.NoError(c, s.DeleteLoadBalancer(ctx, balancer.ID(), true))
			c.WaitUntil("our client says that the load balancer is gone", func() bool {
				left, err := s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{VIPNetworkID: networkID})
				require.NoError(c, err)
				return len(left) == 0
			})
			c.requireResponseError(cloud.NotFound, s.DeleteLoadBalancer(ctx, balancer.ID(), true))
			left, err := s.ListFloatingIPs(ctx, openstack.FloatingIPFilter{Description: "of the shoot"})
			require.NoError(c, err)
			require.Len(c, left, 1)
			assert.Empty(c, left[0].PortID)
			require.NoError(c, s.DeleteFloatingIP(ctx, ip.ID))
			c.requireResponseError(cloud.NotFound, s.DeleteFloatingIP(ctx, ip.ID))
		}),
		behaviour("our client names the server that keeps a port and a security group", func(c *Case) {
			s, ctx := c.session(), c.Context()
			network, _ := c.NetworkForServers()
			group := c.SecurityGroup()
			server := c.Server(Body{"name": "shoot--garden--one-node", "networks": []Body{{"uuid": network.ID()}}, "security_groups": []Body{{"name": group.ID()}}})
			ports, err := s.ListPorts(ctx, openstack.PortFilter{NetworkID: network.ID(), DeviceID: server.ID()})
			require.NoError(c, err)
			require.Len(c, ports, 1)
			assert.Regexp(c, "^compute:", ports[0].DeviceOwner)
			assert.Equal(c, []string{group.ID()}, ports[0].SecurityGroupIDs)
			got, err := s.GetServer(ctx, ports[0].DeviceID)
			require.NoError(c, err)
			assert.Equal(c, []string{server.ID(), "shoot--garden--one-node", openstack.ServerActive}, []string{got.ID, got.Name, got.Status})
			c.requireResponseError(cloud.InUse, s.DeleteSecurityGroup(ctx, group.ID()))
			c.requireResponseError(cloud.InUse, s.DeleteNetwork(ctx, network.ID()))
			_, err = s.GetServer(ctx, unknownBalancerID)
			c.requireResponseError(cloud.NotFound, err)
		}),
	}
}
