package openstack_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

func TestSession_ReadOnly(t *testing.T) {
	for request, do := range requestsByName() {
		t.Run(request, func(t *testing.T) {
			stub := &stubCloud{}
			session := stub.session(t, openstack.Options{ReadOnly: true})
			err := do(t.Context(), session)
			if request == "GET" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, transport.ErrReadOnly)
			assert.Equal(t, cloud.Unauthorized, cloud.KindOf(err))
			assert.Empty(t, stub.calls(), "nothing left the process")
		})
	}
}

func TestTransport_RequestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }
		stub := &stubCloud{serve: hang}
		session := stub.session(t, openstack.Options{
			RequestTimeout: 20 * time.Second, Retry: transport.RetryPolicy{Attempts: 2},
		})
		err := listNetworks(t.Context(), session)
		require.ErrorContains(t, err, "no answer within 20s")
		assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
		require.NotErrorIs(t, err, context.DeadlineExceeded, "the caller's own time is not up")
		assert.Len(t, stub.calls(), 2)

		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err = listNetworks(ctx, session)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Len(t, stub.calls(), 3)
	})
}

func TestTransport_ChangeOutlivesCaller(t *testing.T) {
	for name, test := range map[string]struct {
		takes time.Duration
		err   error
	}{
		"its answer counts":           {takes: 10 * time.Second},
		"which has an end of its own": {takes: 40 * time.Second, err: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub := &stubCloud{serve: func(w http.ResponseWriter, req *http.Request) {
					select {
					case <-time.After(test.takes):
						w.WriteHeader(http.StatusCreated)
						_, _ = io.WriteString(w, `{"network": {"id": "made"}}`)
					case <-req.Context().Done():
					}
				}}
				session := stub.session(t, openstack.Options{RequestTimeout: time.Minute})
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				started := time.Now()
				made, err := session.CreateNetwork(ctx, openstack.NetworkCreate{Name: "one"})
				require.ErrorIs(t, err, test.err)
				if test.err == nil {
					assert.Equal(t, "made", made.ID)
				} else {
					assert.Equal(t, 16*time.Second, time.Since(started))
				}

				_, err = session.CreateNetwork(ctx, openstack.NetworkCreate{Name: "two"})
				require.ErrorIs(t, err, context.Canceled)
				assert.Len(t, stub.calls(), 1, "nothing begins after the end")
			})
		})
	}
}

func TestTransport_RateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &stubCloud{}
		session := stub.session(t, openstack.Options{QPS: 2, Burst: 3}) // the login takes one of the three
		started := time.Now()
		for range 6 {
			require.NoError(t, listNetworks(t.Context(), session))
		}
		assert.Equal(t, 2*time.Second, time.Since(started))

		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := listNetworks(ctx, session)
		assert.Equal(t, cloud.RateLimited, cloud.KindOf(err))
		assert.Equal(t, 500*time.Millisecond, cloud.RetryAfter(err))
		assert.Len(t, stub.calls(), 6)
	})
}

func TestTransport_NoRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := &stubCloud{}
		session := stub.session(t, openstack.Options{QPS: -1})
		started := time.Now()
		for range 1000 {
			require.NoError(t, listNetworks(t.Context(), session))
		}
		assert.Zero(t, time.Since(started))
	})
}

func TestTransport_RedirectNotFollowed(t *testing.T) {
	stub := &stubCloud{serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://evil.test/network/v2.0/networks")
		w.WriteHeader(http.StatusFound)
	}}
	require.Error(t, listNetworks(t.Context(), stub.session(t, openstack.Options{})))
	assert.Equal(t, []string{"GET /network/v2.0/networks"}, stub.calls())
}

func TestMetrics_Requests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		stub := &stubCloud{serve: inSequence(status(503, `{}`), drop, status(200, `{"networks": []}`))}
		session := stub.session(t, openstack.Options{Registerer: registry})
		require.NoError(t, listNetworks(t.Context(), session))
		_, err := stub.sessions(openstack.Options{Registerer: registry}).Get(t.Context(), credentials(), "two")
		require.NoError(t, err, "a second cache shares the metrics")
		stub.login = func(*http.Request) int { return http.StatusUnauthorized }
		_, err = stub.sessions(openstack.Options{Registerer: registry}).Get(t.Context(), credentials(), "one")
		require.Error(t, err)

		assert.ElementsMatch(t, []string{
			"trellis_cloud_logins_total openstack failure: 1",
			"trellis_cloud_logins_total openstack success: 2",
			"trellis_cloud_requests_total openstack 201 POST identity: 2",
			"trellis_cloud_requests_total openstack 401 POST identity: 1",
			"trellis_cloud_requests_total openstack 200 GET network: 1",
			"trellis_cloud_requests_total openstack 503 GET network: 1",
			"trellis_cloud_requests_total openstack none GET network: 1",
			"trellis_cloud_request_duration_seconds openstack POST identity: 3",
			"trellis_cloud_request_duration_seconds openstack GET network: 3",
		}, counted(t, registry))
	})
}

// counted lists all counters and histograms of a registry with their label values, sorted by label, and counts.
func counted(t *testing.T, registry *prometheus.Registry) []string {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	var lines []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			line := family.GetName()
			for _, label := range metric.GetLabel() {
				line += " " + label.GetValue()
			}
			count := metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			lines = append(lines, fmt.Sprintf("%s: %v", line, count))
		}
	}
	return lines
}

// overTLS serves a stub over real HTTP with an untrusted certificate.
func overTLS(t *testing.T, stub *stubCloud) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(stub.handleOverHTTP))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	stub.endpoints = map[string]string{"network": server.URL + "/network"}
	return server
}

func (c *stubCloud) handleOverHTTP(w http.ResponseWriter, req *http.Request) {
	c.record(req)
	c.handle(w, req)
}

func pemOf(server *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

func TestTransport_CertificateVerification(t *testing.T) {
	for name, tc := range map[string]struct {
		trust func(*auth.Credentials, *httptest.Server)
		fails bool
	}{
		"a certificate that nobody knows is refused": {trust: func(*auth.Credentials, *httptest.Server) {}, fails: true},
		"a certificate for another name is refused": {trust: func(c *auth.Credentials, s *httptest.Server) {
			c.CACert = pemOf(s)
			c.AuthURL = strings.Replace(c.AuthURL, "127.0.0.1", "localhost", 1)
		}, fails: true},
		"the CA bundle is trusted":  {trust: func(c *auth.Credentials, s *httptest.Server) { c.CACert = pemOf(s) }},
		"insecure trusts everybody": {trust: func(c *auth.Credentials, _ *httptest.Server) { c.Insecure = true }},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{}
			server := overTLS(t, stub)
			c := credentials()
			c.AuthURL = server.URL + "/identity"
			tc.trust(&c, server)
			session, err := openstack.NewSessions(openstack.Options{Retry: transport.RetryPolicy{Attempts: 1}}).Get(t.Context(), c, "one")
			if tc.fails {
				require.ErrorContains(t, err, "logging in at "+c.AuthURL+"/v3/: the cloud's certificate cannot be verified: "+
					`if that lasts, check "authURL" and "caCert"`)
				assert.Equal(t, cloud.Unavailable, cloud.KindOf(err), "it may be the cloud's error")
				assert.Empty(t, stub.seen())
				return
			}
			require.NoError(t, err)
			require.NoError(t, listNetworks(t.Context(), session))
		})
	}
}

func TestTransport_SharedByCABundle(t *testing.T) {
	stub := &stubCloud{}
	server := overTLS(t, stub)
	var clients sync.Map // by address: one per connection
	stub.serve = func(w http.ResponseWriter, req *http.Request) {
		clients.Store(req.RemoteAddr, req.Proto)
		reply(w, http.StatusOK, `{"networks": []}`)
	}
	sessions := openstack.NewSessions(openstack.Options{})
	for _, user := range []string{"a", "b", "c"} {
		c := credentials()
		c.AuthURL, c.CACert, c.ApplicationCredentialID = server.URL+"/identity", pemOf(server), user
		session, err := sessions.Get(t.Context(), c, "one")
		require.NoError(t, err)
		require.NoError(t, listNetworks(t.Context(), session))
	}
	assert.Equal(t, 3, stub.logins())
	var protocols []any
	clients.Range(func(_, protocol any) bool {
		protocols = append(protocols, protocol)
		return true
	})
	assert.Equal(t, []any{"HTTP/2.0"}, protocols)
}

func TestTransport_TruncatedResponse(t *testing.T) {
	truncated := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		reply(w, http.StatusOK, `{"networks": [`)
		panic(http.ErrAbortHandler)
	}
	stub := &stubCloud{serve: inSequence(truncated, status(200, `{"networks": [{"id": "n"}]}`))}
	server := overTLS(t, stub)
	c := credentials()
	c.AuthURL, c.Insecure = server.URL+"/identity", true
	session, err := openstack.NewSessions(openstack.Options{
		Retry: transport.RetryPolicy{FirstPause: time.Nanosecond},
	}).Get(t.Context(), c, "one")
	require.NoError(t, err)
	networks, err := session.ListNetworks(t.Context(), openstack.NetworkFilter{})
	require.NoError(t, err)
	assert.Equal(t, []openstack.Network{{ID: "n"}}, networks)
	assert.Len(t, stub.calls(), 2)
}
