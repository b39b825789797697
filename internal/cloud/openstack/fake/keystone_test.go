package fake_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
)

func TestLogins(t *testing.T) {
	cloud := start(t)
	app := cloud.AppCredentialID(fake.DefaultUser, fake.DefaultAppCredentialName)
	project := cloud.ProjectID(fake.DefaultProject)
	base := gophercloud.AuthOptions{IdentityEndpoint: cloud.AuthURL()}
	for name, test := range map[string]struct {
		opts gophercloud.AuthOptions
		want string
	}{
		"by names":        {gophercloud.AuthOptions{Username: "gardener", Password: "secret", DomainName: "Default", TenantName: "garden"}, ""},
		"by IDs":          {gophercloud.AuthOptions{UserID: cloud.UserID("gardener"), Password: "secret", TenantID: project}, ""},
		"by domain ID":    {gophercloud.AuthOptions{Username: "gardener", Password: "secret", DomainID: "default", TenantName: "garden"}, ""},
		"domain in caps":  {gophercloud.AuthOptions{Username: "gardener", Password: "secret", DomainName: "DEFAULT", TenantName: "garden"}, ""},
		"app by ID":       {gophercloud.AuthOptions{ApplicationCredentialID: app, ApplicationCredentialSecret: "app-secret"}, ""},
		"app by name":     {gophercloud.AuthOptions{ApplicationCredentialName: "trellis", Username: "gardener", DomainName: "Default", ApplicationCredentialSecret: "app-secret"}, ""},
		"wrong password":  {gophercloud.AuthOptions{Username: "gardener", Password: "wrong", DomainName: "Default", TenantName: "garden"}, "401 Unauthorized"},
		"unknown user":    {gophercloud.AuthOptions{Username: "nobody", Password: "secret", DomainName: "Default", TenantName: "garden"}, "401 Unauthorized"},
		"unknown project": {gophercloud.AuthOptions{Username: "gardener", Password: "secret", DomainName: "Default", TenantName: "desert"}, "401 Unauthorized"},
		"foreign project": {gophercloud.AuthOptions{Username: "gardener", Password: "secret", DomainName: "Default", TenantName: "admin"}, "401 Unauthorized"},
		"unknown domain":  {gophercloud.AuthOptions{Username: "gardener", Password: "secret", DomainName: "Other", TenantName: "garden"}, "401 Unauthorized"},
		"wrong secret":    {gophercloud.AuthOptions{ApplicationCredentialID: app, ApplicationCredentialSecret: "wrong"}, "401 Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := test.opts
			opts.IdentityEndpoint = base.IdentityEndpoint
			p, err := openstack.AuthenticatedClient(t.Context(), opts)
			require.Equal(t, test.want, errorText(err))
			if err == nil {
				got, err := tokens.Get(t.Context(), identity(t, p), p.Token()).ExtractProject()
				require.NoError(t, err)
				require.Equal(t, project, got.ID)
			}
		})
	}
}

func identity(t *testing.T, p *gophercloud.ProviderClient) *gophercloud.ServiceClient {
	t.Helper()
	sc, err := openstack.NewIdentityV3(p, gophercloud.EndpointOpts{})
	require.NoError(t, err)
	return sc
}

func TestAuthURL_WithoutVersion(t *testing.T) {
	cloud := start(t)
	opts := memberOptions(cloud)
	opts.IdentityEndpoint = cloud.URL() + "/identity"
	login(t, opts)
	require.Equal(t, "keystone GET /", cloud.Log()[0].Name())
}

func TestCatalog(t *testing.T) {
	for name, test := range map[string]struct {
		opts         []fake.Option
		region       string
		network      string // path of the endpoint
		loadBalancer string // "" when there is none
	}{
		"is unversioned unless told otherwise": {region: "RegionOne", network: "/network/", loadBalancer: "/load-balancer/"},
		"is versioned when told so": {
			opts: []fake.Option{fake.WithCatalog(fake.Versioned)}, region: "RegionOne", network: "/network/v2.0/", loadBalancer: "/load-balancer/v2.0/",
		},
		"lacks what the cloud lacks": {opts: []fake.Option{fake.WithoutServices(services.Octavia)}, region: "RegionOne", network: "/network/"},
		"knows several regions":      {opts: []fake.Option{fake.WithRegions("north", "south")}, region: "south", network: "/network/", loadBalancer: "/load-balancer/"},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := start(t, test.opts...)
			p, err := openstack.AuthenticatedClient(t.Context(), memberOptions(cloud))
			require.NoError(t, err)
			network, err := openstack.NewNetworkV2(p, gophercloud.EndpointOpts{Region: test.region})
			require.NoError(t, err)
			require.Equal(t, cloud.URL()+test.network, network.Endpoint)
			balancer, err := openstack.NewLoadBalancerV2(p, gophercloud.EndpointOpts{Region: test.region})
			if test.loadBalancer == "" {
				require.ErrorContains(t, err, "No suitable endpoint")
				return
			}
			require.NoError(t, err)
			require.Equal(t, cloud.URL()+test.loadBalancer, balancer.Endpoint)
		})
	}
}

func TestTokenExpiry(t *testing.T) {
	for name, test := range map[string]struct {
		opts []fake.Option
		end  func(*testing.T, *fake.Cloud)
	}{
		"when revoked":                  {end: func(_ *testing.T, c *fake.Cloud) { c.RevokeTokens() }},
		"when the password changes":     {end: func(t *testing.T, c *fake.Cloud) { require.NoError(t, c.SetPassword("gardener", "secret")) }},
		"when the cloud's clock is set": {end: func(_ *testing.T, c *fake.Cloud) { c.SetClockOffset(2 * time.Hour) }},
		"when they expire": {
			opts: []fake.Option{fake.WithTokenLifetime(time.Nanosecond)}, end: func(*testing.T, *fake.Cloud) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := start(t, test.opts...)
			opts := memberOptions(cloud)
			opts.AllowReauth = false
			p, err := openstack.AuthenticatedClient(t.Context(), opts)
			require.NoError(t, err)
			sc := &gophercloud.ServiceClient{ProviderClient: p, Endpoint: cloud.URL() + "/network/", ResourceBase: cloud.URL() + "/network/v2.0/"}
			test.end(t, cloud)
			_, err = networks.List(sc, nil).AllPages(t.Context())
			require.Equal(t, "401 Unauthorized", errorText(err))
		})
	}
}

func TestClockOffset_NewTokens(t *testing.T) {
	for _, offset := range []time.Duration{-48 * time.Hour, 48 * time.Hour} {
		cloud := start(t)
		cloud.SetClockOffset(offset)
		c := member(t, cloud)
		_, err := networks.List(c.network, nil).AllPages(t.Context())
		require.NoError(t, err, "a token is valid by the clock that issued it")
		token, err := tokens.Get(t.Context(), identity(t, c.provider), c.provider.Token()).ExtractToken()
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(offset+time.Hour), token.ExpiresAt, time.Minute)
	}
}

func TestRevokeTokens_ClientReauthenticates(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	cloud.RevokeTokens()
	_, err := networks.List(c.network, nil).AllPages(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, cloud.Logins())
}

func TestApplicationCredentials_OtherUser(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	id, user := identity(t, c.provider), cloud.UserID(fake.DefaultUser)
	made, err := applicationcredentials.Create(t.Context(), id, user, applicationcredentials.CreateOpts{Name: "ci"}).Extract()
	require.NoError(t, err)
	_, err = applicationcredentials.Create(t.Context(), id, user, applicationcredentials.CreateOpts{Name: "ci"}).Extract()
	require.Equal(t, "409 Conflict", errorText(err))

	app, err := openstack.AuthenticatedClient(t.Context(), gophercloud.AuthOptions{
		IdentityEndpoint: cloud.AuthURL(), ApplicationCredentialID: made.ID, ApplicationCredentialSecret: made.Secret,
	})
	require.NoError(t, err)
	_, err = applicationcredentials.Create(t.Context(), identity(t, app), user, applicationcredentials.CreateOpts{Name: "more"}).Extract()
	require.Equal(t, "403 Forbidden", errorText(err), "an application credential makes no others")

	require.NoError(t, applicationcredentials.Delete(t.Context(), id, user, made.ID).ExtractErr())
	err = tokens.Get(t.Context(), identity(t, app), app.Token()).Err
	require.Equal(t, "404 Not Found", errorText(err), "its tokens end with it, and Keystone itself speaks of the credential")
}

func TestApplicationCredentials_WithScope(t *testing.T) {
	cloud := start(t)
	body := `{"auth": {"identity": {"methods": ["application_credential"], "application_credential": {"id": "` +
		cloud.AppCredentialID("gardener", "trellis") + `", "secret": "app-secret"}}, "scope": {"project": {"id": "` + cloud.ProjectID("garden") + `"}}}}`
	response, err := http.Post(cloud.AuthURL()+"/auth/tokens", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)
	require.Contains(t, string(text), "Application credentials cannot request a scope.")
}
