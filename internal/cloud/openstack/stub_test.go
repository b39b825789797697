package openstack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
)

// stubCloud is a Keystone in memory, with responses of other services from a test. It replaces the network, so that
// tests can run in a bubble of synctest, where waiting takes no time.
type stubCloud struct {
	// lifetime is that of a token; zero means an hour. skew is the difference of the cloud's clock.
	lifetime, skew time.Duration
	// endpoints are the catalog's public URLs by type of service; nil means networkOnly.
	endpoints map[string]string
	// login, if set, runs before each login; with a status other than 0 the login fails with it.
	login func(req *http.Request) (status int)
	// serve responds to everything except logins; nil means an empty list of networks.
	serve http.HandlerFunc

	mu       sync.Mutex
	requests []string // "GET /network/v2.0/networks?name=a", including logins
	bodies   []string
	tokens   int
	revoked  map[string]bool
}

const loginRequest = "POST /identity/v3/auth/tokens"

func networkOnly() map[string]string {
	return map[string]string{"network": "https://cloud.test/network"}
}

// dropped makes a handler drop the connection.
type dropped struct{}

// RoundTrip implements http.RoundTripper.
func (c *stubCloud) RoundTrip(req *http.Request) (*http.Response, error) {
	c.record(req)
	recorder := httptest.NewRecorder()
	done := make(chan error, 1)
	go func() {
		defer func() {
			switch what := recover(); what {
			case nil:
			case dropped{}:
				done <- io.ErrUnexpectedEOF
			default:
				panic(what)
			}
		}()
		c.handle(recorder, req)
		done <- nil
	}()
	select {
	case err := <-done:
		if err != nil {
			return nil, err
		}
		return recorder.Result(), nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

func (c *stubCloud) record(req *http.Request) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		req.Body = io.NopCloser(strings.NewReader(string(body)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, req.Method+" "+req.URL.RequestURI())
	c.bodies = append(c.bodies, string(body))
}

func (c *stubCloud) handle(w http.ResponseWriter, req *http.Request) {
	if req.Method+" "+req.URL.Path == loginRequest {
		c.handleLogin(w, req)
		return
	}
	c.mu.Lock()
	revoked := c.revoked[req.Header.Get("X-Auth-Token")]
	c.mu.Unlock()
	switch {
	case req.Header.Get("X-Auth-Token") == "" || revoked:
		reply(w, http.StatusUnauthorized, `{"error": {"code": 401, "title": "Unauthorized", "message": "who are you?"}}`)
	case c.serve == nil:
		reply(w, http.StatusOK, `{"networks": []}`)
	default:
		c.serve(w, req)
	}
}

func (c *stubCloud) handleLogin(w http.ResponseWriter, req *http.Request) {
	if c.login != nil {
		if status := c.login(req); status != 0 {
			reply(w, status, `{"error": {"code": 0, "title": "No", "message": "no"}}`)
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens++
	w.Header().Set("X-Subject-Token", fmt.Sprintf("token-%d", c.tokens))
	lifetime := c.lifetime
	if lifetime == 0 {
		lifetime = time.Hour
	}
	endpoints := c.endpoints
	if endpoints == nil {
		endpoints = networkOnly()
	}
	var catalog []any
	for kind, url := range endpoints {
		catalog = append(catalog, map[string]any{"type": kind, "endpoints": []any{
			map[string]any{"interface": "internal", "region": "one", "region_id": "one", "url": "https://internal.test"},
			map[string]any{"interface": "public", "region": "one", "region_id": "one", "url": url},
		}})
	}
	now := time.Now().Add(c.skew)
	body, err := json.Marshal(map[string]any{"token": map[string]any{
		"issued_at": now.UTC(), "expires_at": now.Add(lifetime).UTC(), "catalog": catalog,
		"user":    map[string]any{"id": "user-1"},
		"project": map[string]any{"id": "project-1", "domain": map[string]any{"id": "domain-1"}},
	}})
	if err != nil {
		panic(err)
	}
	reply(w, http.StatusCreated, string(body))
}

// revoke makes all issued tokens invalid.
func (c *stubCloud) revoke() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revoked = map[string]bool{}
	for i := range c.tokens {
		c.revoked[fmt.Sprintf("token-%d", i+1)] = true
	}
}

func (c *stubCloud) seen() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

func (c *stubCloud) logins() int {
	count := 0
	for _, request := range c.seen() {
		if request == loginRequest {
			count++
		}
	}
	return count
}

// calls are the requests other than logins.
func (c *stubCloud) calls() []string {
	return slices.DeleteFunc(c.seen(), func(request string) bool { return request == loginRequest })
}

func (c *stubCloud) lastBody() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bodies[len(c.bodies)-1]
}

// sessions returns a cache with the stub as network.
func (c *stubCloud) sessions(options openstack.Options) *openstack.Sessions {
	options.Transport = func(http.RoundTripper) http.RoundTripper { return c }
	return openstack.NewSessions(options)
}

// session returns a session that has logged in.
func (c *stubCloud) session(t *testing.T, options openstack.Options) *openstack.Session {
	t.Helper()
	session, err := c.sessions(options).Get(t.Context(), credentials(), "one")
	require.NoError(t, err)
	return session
}

func credentials() auth.Credentials {
	return auth.Credentials{
		AuthURL:                 "https://cloud.test/identity",
		ApplicationCredentialID: "id", ApplicationCredentialSecret: "shh",
	}
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// inSequence gives each request the next response, and the last one for all further ones.
func inSequence(responses ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	next := 0
	return func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		response := responses[min(next, len(responses)-1)]
		next++
		mu.Unlock()
		response(w, req)
	}
}

func drop(http.ResponseWriter, *http.Request) { panic(dropped{}) }

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { reply(w, code, body) }
}

func listNetworks(ctx context.Context, session *openstack.Session) error {
	_, err := session.ListNetworks(ctx, openstack.NetworkFilter{})
	return err
}
