package conformance

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// What passes through our own client is not written down: here counts what the client makes of it.
func trellisClient() []Behaviour {
	return slices.Concat(clientLogins(), clientSessions(), clientNetworks(), clientRouters(), clientSecurityGroups(),
		clientComputeAndBalancers(), clientQuotaErrors(), clientErrors())
}

// requestTap sees the requests of a session.
type requestTap struct {
	base http.RoundTripper

	mu     sync.Mutex
	seen   []string // "POST /v2.0/networks"
	tokens []string // that Keystone handed out
}

// RoundTrip implements http.RoundTripper.
func (w *requestTap) RoundTrip(req *http.Request) (*http.Response, error) {
	response, err := w.base.RoundTrip(req)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, req.Method+" "+req.URL.Path)
	if err == nil && response.Header.Get("X-Subject-Token") != "" {
		w.tokens = append(w.tokens, response.Header.Get("X-Subject-Token"))
	}
	return response, err
}

// take returns the requests since the last time.
func (w *requestTap) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = nil
	return seen
}

func (w *requestTap) logins() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.tokens)
}

// sessions are the client's, with a wiretap below them.
func (c *Case) sessions(options openstack.Options) (*openstack.Sessions, *requestTap) {
	tap := &requestTap{}
	options.QPS = -1
	options.Retry.FirstPause = 10 * time.Millisecond
	options.Transport = func(base http.RoundTripper) http.RoundTripper {
		if plain, ok := base.(*http.Transport); ok && c.cloud.TLS != nil {
			plain.TLSClientConfig = c.cloud.TLS
		}
		tap.base = base
		return tap
	}
	return openstack.NewSessions(options), tap
}

// credentials are those of a user with a password.
func (c *Case) credentials(login Login) auth.Credentials {
	return auth.Credentials{
		AuthURL: c.cloud.AuthURL, Username: login.User, Password: login.Password, TenantName: login.Project, DomainName: "Default",
	}
}

// session is the member's.
func (c *Case) session() *openstack.Session {
	c.Helper()
	session, _ := c.sessionWithTap()
	return session
}

func (c *Case) sessionWithTap() (*openstack.Session, *requestTap) {
	c.Helper()
	sessions, tap := c.sessions(openstack.Options{})
	session, err := sessions.Get(c.Context(), c.credentials(c.Login), c.cloud.Region)
	require.NoError(c, err)
	return session, tap
}

// requireResponseError asserts the kind of an error, and that its cause is what a service answered, which it returns.
func (c *Case) requireResponseError(kind cloud.Kind, err error) openstack.ResponseError {
	c.Helper()
	require.Error(c, err)
	assert.Equalf(c, kind.String(), cloud.KindOf(err).String(), "%v", err)
	var response *openstack.ResponseError
	require.ErrorAs(c, err, &response)
	assert.NotEmptyf(c, response.Message, "%v", err)
	return *response
}

func clientLogins() []Behaviour {
	return []Behaviour{
		behaviour("our client logs in once for an account, whatever is asked and however often", func(c *Case) {
			sessions, tap := c.sessions(openstack.Options{})
			for range 3 {
				session, err := sessions.Get(c.Context(), c.credentials(c.Login), c.cloud.Region)
				require.NoError(c, err)
				assert.Equal(c, c.Member.ProjectID, session.Token().ProjectID)
				assert.Equal(c, c.Member.UserID, session.Token().UserID)
				assert.Greater(c, time.Until(session.Token().ExpiresAt), 10*time.Minute)
				assert.True(c, session.HasLoadBalancers())
				_, err = session.ListNetworks(c.Context(), openstack.NetworkFilter{Name: c.cloud.ExternalNetwork})
				require.NoError(c, err)
			}
			assert.Equal(c, 1, tap.logins())
			assert.Len(c, tap.take(), 4, "no question for versions")
		}),
		behaviour("our client logs in by names and by IDs, and with an application credential by ID and by name", func(c *Case) {
			var created Object
			c.WithoutRecording(func() {
				path := "/v3/users/" + c.Member.UserID + "/application_credentials"
				created = c.Member.Post(Identity, path, Body{"application_credential": Body{"name": "ours", "secret": "s3cret"}}).RequireStatus(201)
				c.DeleteAtCleanup(c.Member, Identity, path+"/"+created.ID())
			})
			for name, credentials := range map[string]auth.Credentials{
				"by IDs": {Username: c.Login.User, Password: c.Login.Password, TenantID: c.Member.ProjectID, UserDomainID: "default"},
				"by the domain's ID": {
					Username: c.Login.User, Password: c.Login.Password, TenantName: c.Login.Project, DomainID: "default", UserDomainName: "Default",
				},
				"by credential":           {ApplicationCredentialID: created.ID(), ApplicationCredentialSecret: "s3cret"},
				"by a credential's name":  {Username: c.Login.User, DomainName: "Default", ApplicationCredentialName: "ours", ApplicationCredentialSecret: "s3cret"},
				"by credential, and more": {ApplicationCredentialID: created.ID(), ApplicationCredentialSecret: "s3cret", TenantName: "other", DomainName: "other"},
			} {
				sessions, _ := c.sessions(openstack.Options{})
				credentials.AuthURL = c.cloud.AuthURL
				session, err := sessions.Get(c.Context(), credentials, c.cloud.Region)
				require.NoError(c, err, name)
				assert.Equal(c, c.Member.ProjectID, session.Token().ProjectID, name)
				_, err = session.ListRouters(c.Context(), openstack.RouterFilter{Name: "nope"})
				require.NoError(c, err, name)
			}
		}),
		behaviour("to our client whoever is not let in is UNAUTHENTICATED, whatever is wrong", func(c *Case) {
			for name, change := range map[string]func(*auth.Credentials){
				"the password":         func(k *auth.Credentials) { k.Password = "wrong" },
				"the user":             func(k *auth.Credentials) { k.Username = "nobody" },
				"the user's domain":    func(k *auth.Credentials) { k.UserDomainName = "nowhere" },
				"the project":          func(k *auth.Credentials) { k.TenantName = "nothing" },
				"the project's ID":     func(k *auth.Credentials) { k.TenantName, k.TenantID = "", "0123456789abcdef0123456789abcdef" },
				"the project's domain": func(k *auth.Credentials) { k.DomainName, k.UserDomainName = "nowhere", "Default" },
				"a project of others":  func(k *auth.Credentials) { k.TenantName = c.OtherLogin.Project },
				"the name of a credential": func(k *auth.Credentials) {
					k.Password, k.ApplicationCredentialName, k.ApplicationCredentialSecret = "", "nope", "x"
				},
				"the ID of a credential": func(k *auth.Credentials) {
					*k = auth.Credentials{AuthURL: k.AuthURL, ApplicationCredentialID: "0123456789abcdef0123456789abcdef", ApplicationCredentialSecret: "x"}
				},
			} {
				sessions, _ := c.sessions(openstack.Options{})
				credentials := c.credentials(c.Login)
				change(&credentials)
				_, err := sessions.Get(c.Context(), credentials, c.cloud.Region)
				assert.Equalf(c, cloud.Unauthenticated.String(), cloud.KindOf(err).String(), "%s: %v", name, err)
				assert.ErrorContains(c, err, "Keystone does not accept the OpenStack credentials", name)
			}
		}),
		behaviour("an address without a Keystone is UNAVAILABLE to our client, even to an application credential", func(c *Case) {
			for _, credentials := range []auth.Credentials{
				c.credentials(c.Login), {ApplicationCredentialID: c.Member.ProjectID, ApplicationCredentialSecret: "x"},
			} {
				credentials.AuthURL = c.cloud.AuthURL + "/nowhere/v3"
				sessions, _ := c.sessions(openstack.Options{})
				_, err := sessions.Get(c.Context(), credentials, c.cloud.Region)
				assert.Equal(c, cloud.Unavailable, cloud.KindOf(err))
				assert.ErrorContains(c, err, "no Keystone of version 3 answers")
			}
		}),
	}
}

func clientSessions() []Behaviour {
	return []Behaviour{
		behaviour("our client names the regions when there is none of a name", func(c *Case) {
			sessions, _ := c.sessions(openstack.Options{})
			session, err := sessions.Get(c.Context(), c.credentials(c.Login), "nowhere")
			require.NoError(c, err)
			assert.False(c, session.HasLoadBalancers())
			_, err = session.ListNetworks(c.Context(), openstack.NetworkFilter{})
			assert.Equal(c, cloud.Configuration, cloud.KindOf(err))
			assert.True(c, openstack.IsServiceMissing(err))
			require.ErrorContains(c, err, "but in "+c.cloud.Region)
			_, err = session.ListLoadBalancers(c.Context(), openstack.LoadBalancerFilter{})
			assert.True(c, openstack.IsServiceMissing(err))
		}),
		behaviour("our client takes the first region of the catalog when nobody names one", func(c *Case) {
			sessions, _ := c.sessions(openstack.Options{})
			session, err := sessions.Get(c.Context(), c.credentials(c.Login), "")
			require.NoError(c, err)
			_, err = session.ListNetworks(c.Context(), openstack.NetworkFilter{Name: c.cloud.ExternalNetwork})
			require.NoError(c, err)
		}),
		behaviour("our client replaces a token that was revoked, silently and once", func(c *Case) {
			session, tap := c.sessionWithTap()
			c.WithoutRecording(func() {
				c.Member.Delete(Identity, "/v3/auth/tokens", "X-Subject-Token", tap.tokens[0]).RequireStatus(204)
			})
			tap.take()
			created, err := session.CreateSecurityGroup(c.Context(), openstack.SecurityGroupCreate{Name: "one"})
			require.NoError(c, err)
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/security-groups/"+created.ID)
			assert.Equal(c, 2, tap.logins())
			requests := tap.take()
			require.Len(c, requests, 3, "refused, logged in, done")
			assert.Equal(c, requests[0], requests[2])
			groups, err := session.ListSecurityGroups(c.Context(), openstack.SecurityGroupFilter{Name: "one"})
			require.NoError(c, err)
			assert.Len(c, groups, 1)
		}),
		behaviour("a session of our client that may only read does not write", func(c *Case) {
			sessions, tap := c.sessions(openstack.Options{ReadOnly: true})
			session, err := sessions.Get(c.Context(), c.credentials(c.Login), c.cloud.Region)
			require.NoError(c, err)
			_, err = session.ListNetworks(c.Context(), openstack.NetworkFilter{Name: c.cloud.ExternalNetwork})
			require.NoError(c, err)
			tap.take()
			_, err = session.CreateNetwork(c.Context(), openstack.NetworkCreate{Name: "one"})
			require.ErrorIs(c, err, transport.ErrReadOnly)
			assert.Equal(c, cloud.Unauthorized, cloud.KindOf(err))
			assert.Empty(c, tap.take())
		}),
	}
}
