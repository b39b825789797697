package openstack_test

import (
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// The tests in this file use a stateful fake over real HTTP.

func startCloud(t *testing.T, options ...fake.Option) *fake.Cloud {
	t.Helper()
	c := fake.New(options...)
	require.NoError(t, c.Start("127.0.0.1:0"))
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func memberOf(t *testing.T, c *fake.Cloud) auth.Credentials {
	t.Helper()
	parsed, err := auth.ParseCredentials(secret(
		"username", fake.DefaultUser, "password", fake.DefaultPassword,
		"domainName", fake.DefaultDomain, "tenantName", fake.DefaultProject, "authURL", c.AuthURL(),
	))
	require.NoError(t, err)
	return parsed
}

func logInto(t *testing.T, c *fake.Cloud) *openstack.Session {
	t.Helper()
	sessions := openstack.NewSessions(openstack.Options{Retry: transport.RetryPolicy{FirstPause: time.Millisecond}})
	session, err := sessions.Get(t.Context(), memberOf(t, c), fake.DefaultRegion)
	require.NoError(t, err)
	return session
}

func callsOf(c *fake.Cloud) []string {
	var names []string
	for _, call := range c.Log() {
		names = append(names, call.Name())
	}
	return names
}

func TestSession_NetworkResources(t *testing.T) {
	for _, shape := range []fake.CatalogShape{fake.Unversioned, fake.Versioned} {
		t.Run(string(shape), func(t *testing.T) {
			c := startCloud(t, fake.WithCatalog(shape))
			s, ctx := logInto(t, c), t.Context()

			external, err := s.ListNetworks(ctx, openstack.NetworkFilter{Name: fake.ExternalNetwork, External: new(true)})
			require.NoError(t, err)
			require.Len(t, external, 1)
			network, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "shoot", Description: "mine"})
			require.NoError(t, err)
			subnet, err := s.CreateSubnet(ctx, openstack.SubnetCreate{NetworkID: network.ID, CIDR: "10.250.0.0/16", IPVersion: 4, Description: "mine"})
			require.NoError(t, err)
			router, err := s.CreateRouter(ctx, openstack.RouterCreate{Name: "shoot", Gateway: &openstack.ExternalGateway{NetworkID: external[0].ID}})
			require.NoError(t, err)
			assert.Len(t, router.Gateway.FixedIPs, 1)
			portID, err := s.AddRouterInterface(ctx, router.ID, subnet.ID)
			require.NoError(t, err)
			ports, err := s.ListPorts(ctx, openstack.PortFilter{SubnetIDs: []string{subnet.ID, "another"}})
			require.NoError(t, err)
			require.Len(t, ports, 1)
			assert.Equal(t, portID, ports[0].ID)
			group, err := s.CreateSecurityGroup(ctx, openstack.SecurityGroupCreate{Name: "shoot", Description: "mine"})
			require.NoError(t, err)
			rules, err := s.CreateSecurityGroupRules(ctx, []openstack.SecurityGroupRule{
				{SecurityGroupID: group.ID, Direction: "ingress", EtherType: "IPv4", RemoteGroupID: group.ID},
				{SecurityGroupID: group.ID, Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 30000, PortMax: 32767},
			})
			require.NoError(t, err)
			require.NoError(t, s.DeleteSecurityGroupRule(ctx, rules[0].ID))
			groups, err := s.ListSecurityGroups(ctx, openstack.SecurityGroupFilter{Description: "mine"})
			require.NoError(t, err)
			require.Len(t, groups, 1)
			assert.Len(t, groups[0].Rules, 3, "two of Neutron's own and one of ours: the rule is gone, the group is not")

			assert.Equal(t, cloud.InUse, cloud.KindOf(s.DeleteSubnet(ctx, subnet.ID)))
			assert.Equal(t, cloud.InUse, cloud.KindOf(s.DeleteRouter(ctx, router.ID)))
			assert.Equal(t, cloud.InUse, cloud.KindOf(s.DeletePort(ctx, portID)))
			require.NoError(t, s.RemoveRouterInterface(ctx, router.ID, subnet.ID))
			assert.True(t, cloud.IsNotFound(s.RemoveRouterInterface(ctx, router.ID, subnet.ID)))
			require.NoError(t, s.DeleteRouter(ctx, router.ID))
			assert.True(t, cloud.IsNotFound(s.DeleteRouter(ctx, router.ID)))
			require.NoError(t, s.DeleteSubnet(ctx, subnet.ID))
			require.NoError(t, s.DeleteNetwork(ctx, network.ID))
			require.NoError(t, s.DeleteSecurityGroup(ctx, group.ID))

			assert.Equal(t, 1, c.Logins())
			assert.Len(t, c.Log(), 21, "a login and what was asked for, nothing else:\n%s", c.Log())
		})
	}
}

func TestSession_KeyPairs(t *testing.T) {
	const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMEm0k5b3DIXsOFsHqU4GyH7dnL5Yv4o2fJ6d1cF0mJX shoot"
	c := startCloud(t)
	s, ctx := logInto(t, c), t.Context()
	_, err := s.GetKeyPair(ctx, "shoot")
	assert.True(t, cloud.IsNotFound(err))
	_, err = s.CreateKeyPair(ctx, "shoot", publicKey)
	require.NoError(t, err)
	_, err = s.CreateKeyPair(ctx, "shoot", publicKey)
	assert.Equal(t, cloud.Conflict, cloud.KindOf(err))
	found, err := s.GetKeyPair(ctx, "shoot")
	require.NoError(t, err)
	assert.Equal(t, publicKey, found.PublicKey)
	require.NoError(t, c.SetQuota(fake.DefaultProject, "key_pairs", 1))
	_, err = s.CreateKeyPair(ctx, "another", publicKey)
	assert.Equal(t, cloud.QuotaExceeded, cloud.KindOf(err))
	require.NoError(t, s.DeleteKeyPair(ctx, "shoot"))
	assert.True(t, cloud.IsNotFound(s.DeleteKeyPair(ctx, "shoot")))
}

func TestSessions_ConcurrentCallersOverHTTP(t *testing.T) {
	c := startCloud(t, fake.WithLatency(5*time.Millisecond))
	sessions := openstack.NewSessions(openstack.Options{})
	for round := range 2 {
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				session, err := sessions.Get(t.Context(), memberOf(t, c), fake.DefaultRegion)
				if assert.NoError(t, err) {
					assert.NoError(t, listNetworks(t.Context(), session))
				}
			})
		}
		callers.Wait()
		assert.Equal(t, round+1, c.Logins())
		c.RevokeTokens()
	}
}

func TestSessions_ApplicationCredential(t *testing.T) {
	c := startCloud(t)
	for name, form := range map[string]map[string][]byte{
		"by ID": secret("applicationCredentialID", c.AppCredentialID(fake.DefaultUser, fake.DefaultAppCredentialName),
			"applicationCredentialSecret", fake.DefaultAppCredentialSecret),
		"by name": secret("username", fake.DefaultUser, "domainName", fake.DefaultDomain,
			"applicationCredentialName", fake.DefaultAppCredentialName, "applicationCredentialSecret", fake.DefaultAppCredentialSecret),
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := auth.ParseCredentials(form)
			require.NoError(t, err)
			parsed.AuthURL = c.AuthURL()
			session, err := openstack.NewSessions(openstack.Options{}).Get(t.Context(), parsed, fake.DefaultRegion)
			require.NoError(t, err)
			assert.Equal(t, c.ProjectID(fake.DefaultProject), session.Token().ProjectID)
			require.NoError(t, listNetworks(t.Context(), session))
		})
	}
}

func TestSessions_WrongPassword(t *testing.T) {
	c := startCloud(t)
	wrong := memberOf(t, c)
	wrong.Password = "wrong"
	_, err := openstack.NewSessions(openstack.Options{}).Get(t.Context(), wrong, fake.DefaultRegion)
	assert.Equal(t, cloud.Unauthenticated, cloud.KindOf(err))
}

func TestSession_CreateResponseLost(t *testing.T) {
	for name, tc := range map[string]struct {
		fault wire.Fault
		made  int
	}{
		"the connection is lost before the effect": {wire.Fault{Drop: wire.DropBefore}, 0},
		"the connection is lost after the effect":  {wire.Fault{Drop: wire.DropAfter}, 1},
		"a gateway times out":                      {wire.Fault{Status: http.StatusGatewayTimeout, AfterEffect: true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := startCloud(t)
			s := logInto(t, c)
			require.NoError(t, listNetworks(t.Context(), s)) // from here on the connection is reused
			tc.fault.Match = wire.Match{Method: http.MethodPost, Path: "/v2.0/networks"}
			c.Inject(tc.fault)
			_, err := s.CreateNetwork(t.Context(), openstack.NetworkCreate{Name: "shoot"})
			assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))

			found, err := s.ListNetworks(t.Context(), openstack.NetworkFilter{Name: "shoot"})
			require.NoError(t, err)
			assert.Len(t, found, tc.made)
			assert.Equal(t, 1, c.Log().Count()["neutron POST /v2.0/networks"])
		})
	}
}

func TestSession_DeleteResponseLost(t *testing.T) {
	c := startCloud(t)
	s, ctx := logInto(t, c), t.Context()
	network, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "shoot"})
	require.NoError(t, err)
	c.Inject(wire.Fault{Match: wire.Match{Method: http.MethodDelete}, Drop: wire.DropAfter})
	assert.True(t, cloud.IsNotFound(s.DeleteNetwork(ctx, network.ID)), "the second attempt finds it gone")
	assert.Equal(t, 2, c.Log().Count()["neutron DELETE /v2.0/networks/{id}"])
}

func TestSession_ListSeveralPages(t *testing.T) {
	c := startCloud(t, fake.WithPageSize(2))
	s, ctx := logInto(t, c), t.Context()
	for range 5 {
		_, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "many"})
		require.NoError(t, err)
	}
	c.ResetLog()
	found, err := s.ListNetworks(ctx, openstack.NetworkFilter{Name: "many"})
	require.NoError(t, err)
	assert.Len(t, found, 5)
	assert.Len(t, c.Log(), 3)
}

func TestSession_ListPorts_SeveralPages(t *testing.T) {
	const pageOfPorts = 1000
	for name, test := range map[string]struct{ ports, pages int }{
		"fewer than a page has": {pageOfPorts - 1, 1}, "more than a page has": {pageOfPorts + 3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			c := startCloud(t)
			s, ctx := logInto(t, c), t.Context()
			network, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "many"})
			require.NoError(t, err)
			for range test.ports {
				_, err := c.CreateResource(fake.DefaultProject, "ports", fake.Attrs{"network_id": network.ID})
				require.NoError(t, err)
			}
			c.ResetLog()
			found, err := s.ListPorts(ctx, openstack.PortFilter{NetworkID: network.ID})
			require.NoError(t, err)
			assert.Len(t, found, test.ports)
			assert.Len(t, c.Log(), test.pages)
		})
	}
}

// The last port of a page may be deleted before the request of the next page. Neutron then responds that the port is not found.
func TestSession_ListPorts_DeletedWhileListing(t *testing.T) {
	for name, test := range map[string]struct {
		ends int
		want string
	}{
		"once: the list begins anew":                 {ends: 1},
		"again and again: the list ends in an error": {ends: -1, want: "reading the next page: the last object of the page before was deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			c := startCloud(t, fake.WithPageSize(2))
			s, ctx := logInto(t, c), t.Context()
			network, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "shoot"})
			require.NoError(t, err)
			for range 9 {
				_, err := c.CreateResource(fake.DefaultProject, "ports", fake.Attrs{"network_id": network.ID})
				require.NoError(t, err)
			}
			pages, ends := 0, 0
			c.SetHook(func(event wire.Event) wire.HookResult {
				if event.Phase != wire.Before {
					return wire.Proceed
				}
				if pages++; pages%2 == 0 && (test.ends < 0 || ends < test.ends) {
					ends++
					query, err := url.ParseQuery(event.Call.Query)
					assert.NoError(t, err)
					_, err = c.DoAsOperator(fake.DefaultProject, http.MethodDelete, services.Neutron, "/v2.0/ports/"+query.Get("marker"), nil)
					assert.NoError(t, err)
				}
				return wire.Proceed
			})
			c.ResetLog()
			found, err := s.ListPorts(ctx, openstack.PortFilter{NetworkID: network.ID})
			if test.want == "" {
				require.NoError(t, err)
				assert.Len(t, found, 9-ends)
				return
			}
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, cloud.Unavailable, cloud.KindOf(err), "nothing says that what was looked for is gone")
			assert.Equal(t, 6, pages, "two in each of three attempts")
		})
	}
}

func TestSession_UpdateRouter_IfRevision(t *testing.T) {
	c := startCloud(t)
	s, ctx := logInto(t, c), t.Context()
	router, err := s.CreateRouter(ctx, openstack.RouterCreate{Name: "shoot"})
	require.NoError(t, err)
	read, err := s.UpdateRouter(ctx, router.ID, openstack.RouterUpdate{Description: new("first")})
	require.NoError(t, err)
	_, err = s.UpdateRouter(ctx, router.ID, openstack.RouterUpdate{Routes: &[]openstack.Route{}, IfRevision: read.RevisionNumber})
	require.NoError(t, err)
	_, err = s.UpdateRouter(ctx, router.ID, openstack.RouterUpdate{Routes: &[]openstack.Route{}, IfRevision: read.RevisionNumber})
	assert.Equal(t, cloud.Conflict, cloud.KindOf(err))
}

func TestSession_QuotaExceededOrDepleted(t *testing.T) {
	c := startCloud(t)
	s, ctx := logInto(t, c), t.Context()
	require.NoError(t, c.SetQuota(fake.DefaultProject, "network", 0))
	_, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "shoot"})
	assert.Equal(t, cloud.QuotaExceeded, cloud.KindOf(err))

	external, err := s.ListNetworks(ctx, openstack.NetworkFilter{External: new(true)})
	require.NoError(t, err)
	require.NoError(t, c.ExhaustSubnet(fake.ExternalSubnetA, true))
	require.NoError(t, c.ExhaustSubnet(fake.ExternalSubnetB, true))
	_, err = s.CreateRouter(ctx, openstack.RouterCreate{Gateway: &openstack.ExternalGateway{NetworkID: external[0].ID}})
	assert.Equal(t, cloud.Depleted, cloud.KindOf(err))
}

func TestSession_CreateSecurityGroupRules_SomeExist(t *testing.T) {
	c := startCloud(t)
	s, ctx := logInto(t, c), t.Context()
	group, err := s.CreateSecurityGroup(ctx, openstack.SecurityGroupCreate{Name: "shoot"})
	require.NoError(t, err)
	wanted := []openstack.SecurityGroupRule{
		{SecurityGroupID: group.ID, Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 22, PortMax: 22},
		{SecurityGroupID: group.ID, Direction: "ingress", EtherType: "IPv4", Protocol: "udp", PortMin: 53, PortMax: 53},
	}
	_, err = s.CreateSecurityGroupRules(ctx, wanted[:1])
	require.NoError(t, err)
	created, err := s.CreateSecurityGroupRules(ctx, wanted)
	require.NoError(t, err)
	assert.Len(t, created, 1)
	groups, err := s.ListSecurityGroups(ctx, openstack.SecurityGroupFilter{IDs: []string{group.ID}})
	require.NoError(t, err)
	assert.Len(t, groups[0].Rules, 4)
}

func TestSession_LoadBalancersAndShareNetworks(t *testing.T) {
	c := startCloud(t)
	s, ctx := logInto(t, c), t.Context()
	assert.True(t, s.HasLoadBalancers())
	assert.True(t, s.HasShares())
	network, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "shoot"})
	require.NoError(t, err)
	subnet, err := s.CreateSubnet(ctx, openstack.SubnetCreate{NetworkID: network.ID, CIDR: "10.250.0.0/16", IPVersion: 4})
	require.NoError(t, err)

	planted, err := c.CreateResource(fake.DefaultProject, "loadbalancers", fake.Attrs{"name": "kube_service", "vip_subnet_id": subnet.ID})
	require.NoError(t, err)
	balancers, err := s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{VIPSubnetID: subnet.ID})
	require.NoError(t, err)
	require.Len(t, balancers, 1)
	assert.Equal(t, planted, balancers[0].ID)
	assert.Equal(t, network.ID, balancers[0].VIPNetworkID)
	require.NoError(t, s.DeleteLoadBalancer(ctx, planted, true))
	balancers, err = s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{VIPNetworkID: network.ID})
	require.NoError(t, err)
	assert.Empty(t, balancers)

	created, err := s.CreateShareNetwork(ctx, openstack.ShareNetworkCreate{Name: "shoot", NetworkID: network.ID, SubnetID: subnet.ID})
	require.NoError(t, err)
	shares, err := s.ListShareNetworks(ctx, openstack.ShareNetworkFilter{NetworkID: network.ID, SubnetID: subnet.ID})
	require.NoError(t, err)
	assert.Equal(t, []openstack.ShareNetwork{created}, shares)
	require.NoError(t, s.DeleteShareNetwork(ctx, created.ID))
	assert.True(t, cloud.IsNotFound(s.DeleteShareNetwork(ctx, created.ID)))
}

func TestSession_WithoutOctaviaAndManila(t *testing.T) {
	c := startCloud(t, fake.WithoutServices(services.Octavia, services.Manila))
	s := logInto(t, c)
	assert.False(t, s.HasLoadBalancers())
	assert.False(t, s.HasShares())
	_, err := s.ListLoadBalancers(t.Context(), openstack.LoadBalancerFilter{})
	assert.True(t, openstack.IsServiceMissing(err))
	require.NoError(t, listNetworks(t.Context(), s))
	assert.Equal(t, []string{"keystone POST /v3/auth/tokens", "neutron GET /v2.0/networks"}, callsOf(c))
}
