package proxy_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/proxy"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func startCloud(t *testing.T, opts ...fake.Option) *fake.Cloud {
	t.Helper()
	c := fake.New(opts...)
	require.NoError(t, c.Start("127.0.0.1:0"))
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func startProxy(t *testing.T, authURL string, opts ...proxy.Option) *proxy.Proxy {
	t.Helper()
	p, err := proxy.New(authURL, opts...)
	require.NoError(t, err)
	require.NoError(t, p.Start("127.0.0.1:0"))
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// startProxiedCloud returns a cloud and the proxy in front of it.
func startProxiedCloud(t *testing.T, opts ...fake.Option) (*fake.Cloud, *proxy.Proxy) {
	t.Helper()
	c := startCloud(t, opts...)
	return c, startProxy(t, c.AuthURL())
}

func logInto(t *testing.T, p *proxy.Proxy) *openstack.Session {
	t.Helper()
	sessions := openstack.NewSessions(openstack.Options{Retry: transport.RetryPolicy{FirstPause: time.Millisecond}})
	session, err := sessions.Get(t.Context(), auth.Credentials{
		AuthURL: p.AuthURL(), Username: fake.DefaultUser, Password: fake.DefaultPassword,
		DomainName: fake.DefaultDomain, TenantName: fake.DefaultProject,
	}, fake.DefaultRegion)
	require.NoError(t, err)
	return session
}

// token logs in without a Session.
func token(t *testing.T, p *proxy.Proxy) string {
	t.Helper()
	response, _ := send(t, p, "", http.MethodPost, "/identity/v3/auth/tokens", `{"auth":{
		"identity":{"methods":["password"],"password":{"user":{"name":"`+fake.DefaultUser+`","password":"`+fake.DefaultPassword+`","domain":{"name":"Default"}}}},
		"scope":{"project":{"name":"`+fake.DefaultProject+`","domain":{"name":"Default"}}}}}`)
	require.Equal(t, http.StatusCreated, response.StatusCode)
	return response.Header.Get("X-Subject-Token")
}

// send does a request and follows no redirect.
func send(t *testing.T, p *proxy.Proxy, token, method, path, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("X-Auth-Token", token)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(got)
}

func create(ctx context.Context, s *openstack.Session) error {
	_, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "n"})
	return err
}

func countNetworks(c *fake.Cloud) int { return len(c.State(fake.DefaultProject).Networks) }

func TestProxy_Log_Lifecycle(t *testing.T) {
	const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMEm0k5b3DIXsOFsHqU4GyH7dnL5Yv4o2fJ6d1cF0mJX shoot"
	for _, shape := range []fake.CatalogShape{fake.Unversioned, fake.Versioned} {
		t.Run(string(shape), func(t *testing.T) {
			c, p := startProxiedCloud(t, fake.WithCatalog(shape))
			before := c.State("")
			s, ctx := logInto(t, p), t.Context()
			external, err := s.ListNetworks(ctx, openstack.NetworkFilter{Name: fake.ExternalNetwork, External: new(true)})
			require.NoError(t, err)
			require.Len(t, external, 1)
			network, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "shoot"})
			require.NoError(t, err)
			subnet, err := s.CreateSubnet(ctx, openstack.SubnetCreate{NetworkID: network.ID, CIDR: "10.250.0.0/16", IPVersion: 4})
			require.NoError(t, err)
			router, err := s.CreateRouter(ctx, openstack.RouterCreate{Name: "shoot", Gateway: &openstack.ExternalGateway{NetworkID: external[0].ID}})
			require.NoError(t, err)
			_, err = s.AddRouterInterface(ctx, router.ID, subnet.ID)
			require.NoError(t, err)
			group, err := s.CreateSecurityGroup(ctx, openstack.SecurityGroupCreate{Name: "shoot"})
			require.NoError(t, err)
			_, err = s.CreateKeyPair(ctx, "shoot--a b", publicKey)
			require.NoError(t, err)
			key, err := s.GetKeyPair(ctx, "shoot--a b")
			require.NoError(t, err)
			require.Equal(t, publicKey, key.PublicKey)
			_, err = s.ListLoadBalancers(ctx, openstack.LoadBalancerFilter{})
			require.NoError(t, err)
			share, err := s.CreateShareNetwork(ctx, openstack.ShareNetworkCreate{Name: "shoot", NetworkID: network.ID, SubnetID: subnet.ID})
			require.NoError(t, err)
			require.Contains(t, c.Tree(fake.DefaultProject), "network shoot")

			require.NoError(t, s.DeleteShareNetwork(ctx, share.ID))
			require.NoError(t, s.DeleteKeyPair(ctx, "shoot--a b"))
			require.Equal(t, cloud.InUse, cloud.KindOf(s.DeleteRouter(ctx, router.ID)))
			require.NoError(t, s.RemoveRouterInterface(ctx, router.ID, subnet.ID))
			require.NoError(t, s.DeleteRouter(ctx, router.ID))
			require.NoError(t, s.DeleteSubnet(ctx, subnet.ID))
			require.NoError(t, s.DeleteNetwork(ctx, network.ID))
			require.NoError(t, s.DeleteSecurityGroup(ctx, group.ID))
			require.True(t, cloud.IsNotFound(s.DeleteSecurityGroup(ctx, group.ID)))

			came, went := fake.Diff(before, c.State(""))
			require.Empty(t, came)
			require.Empty(t, went)
			require.Len(t, p.Log(), 20)
			require.Equal(t, 1, p.Logins())
			require.Equal(t, c.Log().String(), p.Log().String())
		})
	}
}

func TestProxy_Log_Paths(t *testing.T) {
	const id, project = "5f3e81a4-8d7e-4f2a-9f6b-1f0a8f843d49", "b5f1c942e7944990a82dd059cc8e9adc"
	c, p := startProxiedCloud(t)
	subject := token(t, p)
	for _, path := range []string{
		"/identity/", "/identity/v3", "/identity/v3/", "/identity/v3/auth/projects", "/identity/v3/users/" + project + "/application_credentials",
		"/network/", "/network/v2.0", "/network/v2.0/networks?name=a%20b&tags=c", "/network/v2.0/networks/nope", "/network/v2.0/unknown/" + id,
		"/network/v2.0/extensions/quotas", "/network/v2.0/quotas/" + project, "/network/v2.0/ports/" + id + "/tags/a%2Fb", "/network/nothing",
		"/compute/", "/compute/v2.1/", "/compute/v2.1/servers/detail", "/compute/v2.1/servers/" + id + "/os-interface", "/compute/v2.1/os-keypairs/detail",
		"/compute/v2.1/os-keypairs/a%20b", "/compute/v2.1/flavors/detail", "/compute/v2.1/os-availability-zone", "/compute/v2.1/os-quota-sets/" + project,
		"/image/", "/image/v2/images", "/image/v2/images/" + id,
		"/load-balancer/", "/load-balancer/v2/lbaas/loadbalancers", "/load-balancer/v2.0/lbaas/pools/" + id + "/members/" + id,
		"/share/", "/share/v2", "/share/v2/share-networks/detail", "/share/v2/share-networks/" + id,
		"/volume/", "/volume/v3/" + project + "/volumes", "/volume/v3/" + project + "/volumes/detail", "/volume/v3/" + project + "/volumes/" + id,
	} {
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			c.ResetLog()
			p.ResetLog()
			response, _ := send(t, p, subject, method, path, "")
			require.Len(t, p.Log(), 1, path)
			require.Equal(t, response.StatusCode, p.Log()[0].Status, path)
			require.Equal(t, c.Log().String(), p.Log().String())
		}
	}
}

func TestProxy_Inject_ServiceErrorFormat(t *testing.T) {
	c, p := startProxiedCloud(t)
	subject := token(t, p)
	c.ResetLog()
	for path, want := range map[string]string{
		"/identity/v3/auth/projects":            `{"error":{"code":503,"message":"not now","title":"Service Unavailable"}}`,
		"/network/v2.0/networks":                `{"NeutronError":{"detail":"","message":"not now","type":"HTTPServiceUnavailable"}}`,
		"/compute/v2.1/servers":                 `{"serviceUnavailable":{"code":503,"message":"not now","retryAfter":"7"}}`,
		"/load-balancer/v2/lbaas/loadbalancers": `{"debuginfo":null,"faultcode":"Server","faultstring":"not now"}`,
	} {
		p.Inject(wire.Fault{Status: http.StatusServiceUnavailable, Message: "not now", RetryAfter: 7 * time.Second})
		response, body := send(t, p, subject, http.MethodGet, path, "")
		require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
		require.Equal(t, "7", response.Header.Get("Retry-After"))
		require.Equal(t, want, body)
	}
	p.Inject(wire.Fault{Status: http.StatusUnauthorized})
	response, _ := send(t, p, subject, http.MethodGet, "/network/v2.0/networks", "")
	require.Equal(t, `Keystone uri="`+p.URL()+`/identity"`, response.Header.Get("WWW-Authenticate"))
	require.Empty(t, c.Log(), "a refused call does not reach the cloud")
}

func TestProxy_Inject_Drop(t *testing.T) {
	for name, test := range map[string]struct {
		fault  wire.Fault
		effect int
		status int
	}{
		"cut off before it":      {wire.Fault{Drop: wire.DropBefore}, 0, 0},
		"cut off after it":       {wire.Fault{Drop: wire.DropAfter}, 1, http.StatusCreated},
		"refused before it":      {wire.Fault{Status: http.StatusGatewayTimeout}, 0, http.StatusGatewayTimeout},
		"refused in spite of it": {wire.Fault{Status: http.StatusGatewayTimeout, AfterEffect: true}, 1, http.StatusGatewayTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			c, p := startProxiedCloud(t)
			s := logInto(t, p)
			c.ResetLog()
			test.fault.Match = wire.Match{Service: services.Neutron, Method: http.MethodPost}
			struck := p.Inject(test.fault)
			require.Equal(t, cloud.Unavailable, cloud.KindOf(create(t.Context(), s)))
			require.NoError(t, p.WaitIdle(t.Context()))
			require.Equal(t, 1, struck())
			require.Len(t, c.Log(), test.effect)
			require.Equal(t, test.effect, countNetworks(c))
			log := p.Log()
			require.Equal(t, test.status, log[len(log)-1].Status)
			require.NoError(t, create(t.Context(), s))
		})
	}
}

func TestProxy_ClientKilled(t *testing.T) {
	for _, where := range []string{"in the proxy", "in the cloud"} {
		t.Run(where, func(t *testing.T) {
			c, p := startProxiedCloud(t)
			s := logInto(t, p)
			entered, release := make(chan struct{}), make(chan struct{})
			hook := func(e wire.Event) wire.HookResult {
				if e.Phase == wire.Before {
					close(entered)
					<-release
				}
				return wire.Proceed
			}
			if where == "in the proxy" {
				p.SetHook(hook)
			} else {
				c.SetHook(hook)
			}
			ctx, kill := context.WithCancel(t.Context())
			dead := make(chan error)
			go func() { dead <- create(ctx, s) }()
			<-entered
			kill()
			require.ErrorIs(t, <-dead, context.Canceled)
			short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			require.ErrorIs(t, p.WaitIdle(short), context.DeadlineExceeded, "the call is still under way")
			require.Zero(t, countNetworks(c))
			close(release)
			require.NoError(t, p.WaitIdle(t.Context()))
			require.Equal(t, 1, countNetworks(c))
			log := p.Log()
			require.Equal(t, http.StatusCreated, log[len(log)-1].Status)
		})
	}
}

func TestProxy_Close_CallsInFlight(t *testing.T) {
	c, p := startProxiedCloud(t)
	s := logInto(t, p)
	entered, release := make(chan struct{}), make(chan struct{})
	c.SetHook(func(e wire.Event) wire.HookResult {
		if e.Phase == wire.Before {
			close(entered)
			<-release
		}
		return wire.Proceed
	})
	lost, closed := make(chan error), make(chan error)
	go func() { lost <- create(t.Context(), s) }()
	<-entered
	go func() { closed <- p.Close() }()
	require.Equal(t, cloud.Unavailable, cloud.KindOf(<-lost))
	select {
	case <-closed:
		t.Fatal("a call was under way")
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	require.NoError(t, <-closed)
	require.Equal(t, 1, countNetworks(c))
	require.NoError(t, p.Close())
	require.Equal(t, cloud.Unavailable, cloud.KindOf(create(t.Context(), s)))
}

func TestProxy_LatencyAndHook(t *testing.T) {
	c, p := startProxiedCloud(t)
	s := logInto(t, p)
	p.SetLatency(30 * time.Millisecond)
	begin := time.Now()
	require.NoError(t, create(t.Context(), s))
	require.GreaterOrEqual(t, time.Since(begin), 30*time.Millisecond)
	var seen []int
	p.SetHook(func(e wire.Event) wire.HookResult {
		seen = append(seen, countNetworks(c), e.Call.Status)
		return wire.Proceed
	})
	require.NoError(t, create(t.Context(), s))
	require.Equal(t, []int{1, 0, 2, http.StatusCreated}, seen)
}

func TestProxy_CloudUnreachable(t *testing.T) {
	c, p := startProxiedCloud(t)
	subject := token(t, p)
	require.NoError(t, c.Close())
	response, body := send(t, p, subject, http.MethodGet, "/network/v2.0/networks", "")
	require.Equal(t, http.StatusBadGateway, response.StatusCode)
	require.Contains(t, body, "NeutronError")
	require.Contains(t, body, "connection refused")
	require.Equal(t, http.StatusBadGateway, p.Log()[1].Status)
}

func TestProxy_UnknownPath(t *testing.T) {
	_, p := startProxiedCloud(t)
	for _, path := range []string{"/", "/network/v2.0/networks", "/identity-2/v3", "/identityfoo"} {
		response, _ := send(t, p, "", http.MethodGet, path, "")
		require.Equal(t, http.StatusNotFound, response.StatusCode, "before the first catalog")
	}
	require.Empty(t, p.Log())
}

func TestProxy_BodyTooLong(t *testing.T) {
	_, p := startProxiedCloud(t)
	response, _ := send(t, p, "", http.MethodPost, "/identity/v3/auth/tokens", strings.Repeat(" ", 16<<20+1))
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	require.Empty(t, p.Log())
}

func TestNew_InvalidAuthURL(t *testing.T) {
	for _, bad := range []string{"", "keystone:5000/v3", "ftp://keystone/v3", "http://%zz"} {
		_, err := proxy.New(bad)
		require.ErrorContains(t, err, "reading the address of Keystone", bad)
	}
}

func TestProxy_AuthURL(t *testing.T) {
	c := startCloud(t)
	for _, given := range []string{c.AuthURL(), c.AuthURL() + "/", strings.TrimSuffix(c.AuthURL(), "/v3"), strings.TrimSuffix(c.AuthURL(), "v3")} {
		p := startProxy(t, given)
		require.Equal(t, p.URL()+"/identity/v3", p.AuthURL())
		require.NoError(t, create(t.Context(), logInto(t, p)))
	}
}
