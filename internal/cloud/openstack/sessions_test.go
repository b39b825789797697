package openstack_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
)

func TestSessions_ConcurrentCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		stub := &stubCloud{login: func(*http.Request) int { <-gate; return 0 }}
		sessions := stub.sessions(openstack.Options{})

		got := make([]*openstack.Session, 100)
		var callers sync.WaitGroup
		for i := range got {
			callers.Go(func() {
				var err error
				got[i], err = sessions.Get(t.Context(), credentials(), "one")
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		close(gate)
		callers.Wait()

		assert.Equal(t, []string{loginRequest}, stub.seen())
		for _, session := range got {
			assert.Same(t, got[0], session)
		}
	})
}

func TestSessions_CallerCancelsDuringLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		stub := &stubCloud{login: func(req *http.Request) int {
			select {
			case <-gate:
				return 0
			case <-req.Context().Done():
				return http.StatusGatewayTimeout
			}
		}}
		sessions := stub.sessions(openstack.Options{})

		canceledCtx, cancel := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		callers.Go(func() {
			_, err := sessions.Get(canceledCtx, credentials(), "one")
			assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
			assert.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait() // the caller that cancels has started the login
		callers.Go(func() {
			_, err := sessions.Get(t.Context(), credentials(), "one")
			assert.NoError(t, err)
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(gate)
		callers.Wait()

		assert.Equal(t, 1, stub.logins())
	})
}

func TestSessions_Get_SharedByAccount(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*auth.Credentials)
		region string
		same   bool
	}{
		"the same credentials":                 {same: true},
		"the same Keystone, written otherwise": {change: func(c *auth.Credentials) { c.AuthURL += "/v3/" }, same: true},
		"another region":                       {region: "two"},
		"another secret":                       {change: func(c *auth.Credentials) { c.ApplicationCredentialSecret = "psst" }},
		"another Keystone":                     {change: func(c *auth.Credentials) { c.AuthURL = "https://other.test/identity" }},
		"unverified certificates":              {change: func(c *auth.Credentials) { c.Insecure = true }},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{}
			sessions := stub.sessions(openstack.Options{})
			first, err := sessions.Get(t.Context(), credentials(), "one")
			require.NoError(t, err)

			other := credentials()
			if tc.change != nil {
				tc.change(&other)
			}
			region := "one"
			if tc.region != "" {
				region = tc.region
			}
			second, err := sessions.Get(t.Context(), other, region)
			require.NoError(t, err)
			assert.Equal(t, tc.same, first == second)
			assert.Equal(t, map[bool]int{true: 1, false: 2}[tc.same], stub.logins())
		})
	}
}

func TestSessions_Get_AfterFailedLogin(t *testing.T) {
	accept := false
	stub := &stubCloud{login: func(*http.Request) int {
		if accept {
			return 0
		}
		return http.StatusUnauthorized
	}}
	sessions := stub.sessions(openstack.Options{})

	_, err := sessions.Get(t.Context(), credentials(), "one")
	require.ErrorContains(t, err, "Keystone does not accept the OpenStack credentials")
	assert.Equal(t, cloud.Unauthenticated, cloud.KindOf(err))
	assert.NotContains(t, err.Error(), "shh")

	accept = true
	_, err = sessions.Get(t.Context(), credentials(), "one")
	require.NoError(t, err)
	assert.Equal(t, 2, stub.logins())
}

func TestSessions_Get_NoKeystone(t *testing.T) {
	stub := &stubCloud{login: func(*http.Request) int { return http.StatusNotFound }}
	_, err := stub.sessions(openstack.Options{}).Get(t.Context(), credentials(), "one")
	require.ErrorContains(t, err, `no Keystone of version 3 answers at https://cloud.test/identity/v3/: if that lasts, check "authURL"`)
	assert.Equal(t, cloud.Unavailable, cloud.KindOf(err), "it may be a load balancer without a backend")
}

func TestSessions_Get_ApplicationCredentialNotFound(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want cloud.Kind
	}{
		"Keystone does not know it": {
			`{"error": {"code": 404, "title": "Not Found", "message": "Could not find Application Credential: one."}}`, cloud.Unauthenticated,
		},
		"somebody else has no such page": {`<html><h1>404 Not Found</h1></html>`, cloud.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			portal := roundTripper(func(*http.Request) (*http.Response, error) {
				recorder := httptest.NewRecorder()
				reply(recorder, http.StatusNotFound, tc.body)
				return recorder.Result(), nil
			})
			sessions := openstack.NewSessions(openstack.Options{Transport: func(http.RoundTripper) http.RoundTripper { return portal }})
			gone := auth.Credentials{AuthURL: "https://cloud.test/identity", ApplicationCredentialID: "one", ApplicationCredentialSecret: "shh"}
			_, err := sessions.Get(t.Context(), gone, "one")
			assert.Equal(t, tc.want, cloud.KindOf(err))
		})
	}
}

func TestSessions_Get_ExpiryWithoutZone(t *testing.T) {
	portal := roundTripper(func(*http.Request) (*http.Response, error) {
		recorder := httptest.NewRecorder()
		recorder.Header().Set("X-Subject-Token", "token")
		reply(recorder, http.StatusCreated, `{"token": {"issued_at": "2026-01-01T00:00:00.000000Z", "expires_at": "2026-01-01T00:20:00"}}`)
		return recorder.Result(), nil
	})
	sessions := openstack.NewSessions(openstack.Options{Transport: func(http.RoundTripper) http.RoundTripper { return portal }})
	session, err := sessions.Get(t.Context(), credentials(), "one")
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(20*time.Minute), session.Token().ExpiresAt, time.Minute)
}

func TestSessions_Get_LoginWithoutToken(t *testing.T) {
	for name, body := range map[string]string{
		"no token at all":          `{"token": {}}`,
		"one that has expired":     `{"token": {"issued_at": "2026-01-02T00:00:00Z", "expires_at": "2026-01-01T00:00:00Z"}}`,
		"one with a date of wood":  `{"token": {"expires_at": "soon"}}`,
		"no JSON but another page": `<html>`,
	} {
		t.Run(name, func(t *testing.T) {
			portal := roundTripper(func(*http.Request) (*http.Response, error) {
				recorder := httptest.NewRecorder()
				recorder.Header().Set("X-Subject-Token", "token")
				reply(recorder, http.StatusCreated, body)
				return recorder.Result(), nil
			})
			sessions := openstack.NewSessions(openstack.Options{Transport: func(http.RoundTripper) http.RoundTripper { return portal }})
			_, err := sessions.Get(t.Context(), credentials(), "one")
			require.ErrorContains(t, err, "logging in at https://cloud.test/identity/v3/")
			assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
		})
	}
}

func TestSessions_Get_WithoutAuthURL(t *testing.T) {
	stub := &stubCloud{}
	incomplete := credentials()
	incomplete.AuthURL = ""
	_, err := stub.sessions(openstack.Options{}).Get(t.Context(), incomplete, "one")
	require.ErrorContains(t, err, `"authURL" is missing`)
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	assert.Empty(t, stub.seen())
}

func TestSessions_IdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &stubCloud{lifetime: 24 * time.Hour}
		sessions := stub.sessions(openstack.Options{IdleTimeout: time.Hour})
		first, err := sessions.Get(t.Context(), credentials(), "one")
		require.NoError(t, err)

		time.Sleep(50 * time.Minute)
		require.NoError(t, listNetworks(t.Context(), first)) // a call keeps the session
		time.Sleep(50 * time.Minute)
		second, err := sessions.Get(t.Context(), credentials(), "one")
		require.NoError(t, err)
		assert.Same(t, first, second)

		time.Sleep(61 * time.Minute)
		third, err := sessions.Get(t.Context(), credentials(), "one")
		require.NoError(t, err)
		assert.NotSame(t, first, third)
		assert.Equal(t, 2, stub.logins())
		assert.NoError(t, listNetworks(t.Context(), first), "whoever holds a forgotten session can go on")
	})
}

func TestSession_Token(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &stubCloud{lifetime: 2 * time.Hour, skew: -5 * time.Hour}
		token := stub.session(t, openstack.Options{}).Token()
		assert.Equal(t, openstack.Token{
			ProjectID: "project-1", UserID: "user-1", DomainID: "domain-1", ExpiresAt: time.Now().Add(2 * time.Hour),
		}, token)
	})
}
