package wire_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func TestError_ResponseFor(t *testing.T) {
	for name, test := range map[string]struct {
		service wire.Service
		err     wire.Error
		want    string
	}{
		"Keystone":            {wire.Keystone, wire.Error{Status: 404, Message: "gone"}, `{"error":{"code":404,"message":"gone","title":"Not Found"}}`},
		"Neutron":             {wire.Neutron, wire.Error{Status: 409, Type: "OverQuota", Message: "full"}, `{"NeutronError":{"detail":"","message":"full","type":"OverQuota"}}`},
		"Neutron, by status":  {wire.Neutron, wire.Error{Status: 503}, `{"NeutronError":{"detail":"","message":"Service Unavailable","type":"HTTPServiceUnavailable"}}`},
		"Nova":                {wire.Nova, wire.Error{Status: 409, Message: "taken"}, `{"conflictingRequest":{"code":409,"message":"taken"}}`},
		"Nova, by type":       {wire.Nova, wire.Error{Status: 403, Type: "overQuota"}, `{"overQuota":{"code":403,"message":"Forbidden"}}`},
		"Nova, for a while":   {wire.Nova, wire.Error{Status: 429, RetryAfter: 1500 * time.Millisecond}, `{"overLimit":{"code":429,"message":"Too Many Requests","retryAfter":"2"}}`},
		"Cinder":              {wire.Cinder, wire.Error{Status: 413}, `{"overLimit":{"code":413,"message":"Request Entity Too Large","retryAfter":"0"}}`},
		"Manila":              {wire.Manila, wire.Error{Status: 404}, `{"itemNotFound":{"code":404,"message":"Not Found"}}`},
		"Octavia":             {wire.Octavia, wire.Error{Status: 409, Message: "immutable"}, `{"debuginfo":null,"faultcode":"Client","faultstring":"immutable"}`},
		"Octavia, by status":  {wire.Octavia, wire.Error{Status: 500, Message: "broken"}, `{"debuginfo":null,"faultcode":"Server","faultstring":"broken"}`},
		"anybody without you": {wire.Nova, wire.Error{Status: 401, Message: "who?"}, `{"error":{"code":401,"message":"who?","title":"Unauthorized"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			response := test.err.ResponseFor(test.service)
			require.Equal(t, test.err.Status, response.Status)
			require.Equal(t, test.want, string(response.Body))
			require.Equal(t, "application/json", response.Header.Get("Content-Type"))
			require.Equal(t, test.err.RetryAfter > 0, response.Header.Get("Retry-After") == "2")
		})
	}
}

func TestError_ResponseFor_Glance(t *testing.T) {
	response := (&wire.Error{Status: http.StatusNotFound, Message: "no image"}).ResponseFor(wire.Glance)
	require.JSONEq(t, `{"code":"404 Not Found","message":"no image<br /><br />\n\n\n","title":"Not Found"}`, string(response.Body))
	require.Equal(t, "application/json", response.Header.Get("Content-Type"))
}
