package example_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/cloud/example/fake"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

func startCloud(t *testing.T) (*fake.Cloud, *example.Session) {
	t.Helper()
	c, err := fake.Start()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	session, err := example.NewSessions(example.Options{Registerer: prometheus.NewRegistry()}).Get(example.Credentials{URL: c.URL(), Key: fake.Key})
	require.NoError(t, err)
	return c, session
}

func TestCollection(t *testing.T) {
	c, session := startCloud(t)
	network, err := session.Networks().Create(t.Context(), example.Network{Name: "one", Owner: "uid"})
	require.NoError(t, err)
	assert.Equal(t, example.Network{ID: "networks-1", Name: "one", Owner: "uid"}, network)
	subnet, err := session.Subnets().Create(t.Context(), example.Subnet{Name: "one", Owner: "uid", Network: network.ID, CIDR: "10.250.0.0/16"})
	require.NoError(t, err)
	group, err := session.Groups().Create(t.Context(), example.Group{Name: "pool", Owner: "uid"})
	require.NoError(t, err)
	wanted := example.Server{
		Name: "node", Owner: "uid", Zone: "zone", Network: network.ID, Group: group.ID, MachineType: "small", Image: "linux", Feature: true,
		UserData: []byte("#!/bin/true"),
	}
	server, err := session.Servers().Create(t.Context(), wanted)
	require.NoError(t, err)
	wanted.ID = server.ID
	assert.Equal(t, wanted, server)

	for _, filter := range []example.Filter{{}, {Name: "node"}, {Owner: "uid"}, {Name: "node", Owner: "uid"}} {
		listed, err := session.Servers().List(t.Context(), filter)
		require.NoError(t, err)
		require.Len(t, listed, 1, filter)
		assert.Nil(t, listed[0].UserData)
	}
	for _, filter := range []example.Filter{{Name: "nod"}, {Owner: "uid-2"}, {Name: "node", Owner: "uid-2"}} {
		listed, err := session.Servers().List(t.Context(), filter)
		require.NoError(t, err)
		assert.Empty(t, listed, filter)
	}

	require.NoError(t, session.Servers().Delete(t.Context(), server.ID))
	require.NoError(t, session.Groups().Delete(t.Context(), group.ID))
	require.NoError(t, session.Subnets().Delete(t.Context(), subnet.ID))
	require.NoError(t, session.Networks().Delete(t.Context(), network.ID))
	assert.Empty(t, c.Resources())
	assert.True(t, cloud.IsNotFound(session.Networks().Delete(t.Context(), network.ID)))
}

// respond returns a session whose requests get a response, or an error without one.
func respond(t *testing.T, response *http.Response, failure error) *example.Session {
	t.Helper()
	sessions := example.NewSessions(example.Options{
		Retry: transport.RetryPolicy{Attempts: 1},
		Transport: func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(*http.Request) (*http.Response, error) { return response, failure })
		},
	})
	session, err := sessions.Get(example.Credentials{URL: "https://cloud.example.org/", Key: "top secret"})
	require.NoError(t, err)
	return session
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func TestSession_Errors(t *testing.T) {
	for sentence, test := range map[string]struct {
		status     int
		header     http.Header
		body       string
		kind       cloud.Kind
		retryAfter time.Duration
		want       string
	}{
		"an unknown key":         {status: 401, kind: cloud.Unauthenticated, want: "POST /networks returned 401"},
		"a missing permission":   {status: 403, kind: cloud.Unauthorized},
		"an exceeded quota":      {status: 403, body: `{"code":"QuotaExceeded"}`, kind: cloud.QuotaExceeded, want: "POST /networks returned 403 QuotaExceeded"},
		"a missing resource":     {status: 404, kind: cloud.NotFound},
		"a used resource":        {status: 409, body: `{"code":"InUse","message":"it has\nsubnets"}`, kind: cloud.InUse, want: "POST /networks returned 409 InUse: it has subnets"},
		"a conflict":             {status: 409, kind: cloud.Conflict},
		"an invalid value":       {status: 422, kind: cloud.Unknown},
		"too many requests":      {status: 429, header: http.Header{"Retry-After": {"7"}}, kind: cloud.RateLimited, retryAfter: 7 * time.Second},
		"a failure":              {status: 500, body: "<html>", kind: cloud.Unavailable, want: "POST /networks returned 500"},
		"a redirection":          {status: 307, header: http.Header{"Location": {"https://other.example.org"}}, kind: cloud.Unknown},
		"an unreadable response": {status: 201, body: "<html>", kind: cloud.Unavailable, want: "POST /networks: decoding the response"},
		"a repeated key":         {status: 422, body: `{"message":"top secret is wrong"}`, kind: cloud.Unknown, want: "POST /networks returned 422 [key] is wrong"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if test.header == nil {
				test.header = http.Header{}
			}
			session := respond(t, &http.Response{StatusCode: test.status, Header: test.header, Body: io.NopCloser(strings.NewReader(test.body))}, nil)
			_, err := session.Networks().Create(t.Context(), example.Network{Name: "one"})
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, test.kind, cloud.KindOf(err))
			assert.Equal(t, test.retryAfter, cloud.RetryAfter(err))
		})
	}
}

func TestSession_NoResponse(t *testing.T) {
	_, err := respond(t, nil, context.Canceled).Networks().List(t.Context(), example.Filter{Owner: "uid"})
	require.EqualError(t, err, "GET /networks?owner=uid: context canceled")
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
}

func TestSessions_Get(t *testing.T) {
	sessions := example.NewSessions(example.Options{})
	credentials := example.Credentials{URL: "https://cloud.example.org", Key: "key"}
	first, err := sessions.Get(credentials)
	require.NoError(t, err)
	again, err := sessions.Get(credentials)
	require.NoError(t, err)
	assert.Same(t, first, again)
	for _, other := range []example.Credentials{credentials.WithURL("https://other.example.org"), {URL: credentials.URL, Key: "other"}} {
		session, err := sessions.Get(other)
		require.NoError(t, err)
		assert.NotSame(t, first, session)
	}
	for _, address := range []string{"", "cloud.example.org", "ftp://cloud.example.org"} {
		_, err := sessions.Get(credentials.WithURL(address))
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err), address)
	}
}

func TestParseCredentials(t *testing.T) {
	credentials, err := example.ParseCredentials(map[string][]byte{"key": []byte(" key\n"), "url": []byte("https://cloud.example.org")})
	require.NoError(t, err)
	assert.Equal(t, "key", credentials.Key)
	assert.Equal(t, "https://cloud.example.org", credentials.URL)
	encoded, err := json.Marshal(credentials)
	require.NoError(t, err)
	for _, printed := range []string{string(encoded), fmt.Sprintf("%v %+v %#v", credentials, credentials, &credentials)} {
		assert.NotContains(t, strings.ReplaceAll(printed, "example credentials", ""), "key")
	}
	_, err = example.ParseCredentials(map[string][]byte{"key": []byte("  ")})
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
}
