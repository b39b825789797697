package services_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestResponse(t *testing.T) {
	for name, test := range map[string]struct {
		service wire.Service
		err     wire.Error
		want    string
	}{
		"Keystone":            {services.Keystone, wire.Error{Status: 404, Message: "gone"}, `{"error":{"code":404,"message":"gone","title":"Not Found"}}`},
		"Neutron":             {services.Neutron, wire.Error{Status: 409, Type: "OverQuota", Message: "full"}, `{"NeutronError":{"detail":"","message":"full","type":"OverQuota"}}`},
		"Neutron, by status":  {services.Neutron, wire.Error{Status: 503}, `{"NeutronError":{"detail":"","message":"Service Unavailable","type":"HTTPServiceUnavailable"}}`},
		"Nova":                {services.Nova, wire.Error{Status: 409, Message: "taken"}, `{"conflictingRequest":{"code":409,"message":"taken"}}`},
		"Nova, by type":       {services.Nova, wire.Error{Status: 403, Type: "overQuota"}, `{"overQuota":{"code":403,"message":"Forbidden"}}`},
		"Nova, for a while":   {services.Nova, wire.Error{Status: 429, RetryAfter: 1500 * time.Millisecond}, `{"overLimit":{"code":429,"message":"Too Many Requests","retryAfter":"2"}}`},
		"Cinder":              {services.Cinder, wire.Error{Status: 413}, `{"overLimit":{"code":413,"message":"Request Entity Too Large","retryAfter":"0"}}`},
		"Manila":              {services.Manila, wire.Error{Status: 404}, `{"itemNotFound":{"code":404,"message":"Not Found"}}`},
		"Octavia":             {services.Octavia, wire.Error{Status: 409, Message: "immutable"}, `{"debuginfo":null,"faultcode":"Client","faultstring":"immutable"}`},
		"Octavia, by status":  {services.Octavia, wire.Error{Status: 500, Message: "broken"}, `{"debuginfo":null,"faultcode":"Server","faultstring":"broken"}`},
		"anybody without you": {services.Nova, wire.Error{Status: 401, Message: "who?"}, `{"error":{"code":401,"message":"who?","title":"Unauthorized"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			response := services.Response(test.service, &test.err)
			require.Equal(t, test.err.Status, response.Status)
			require.Equal(t, test.want, string(response.Body))
			require.Equal(t, "application/json", response.Header.Get("Content-Type"))
			require.Equal(t, test.err.RetryAfter > 0, response.Header.Get("Retry-After") == "2")
		})
	}
}

func TestResponse_Glance(t *testing.T) {
	response := services.Response(services.Glance, &wire.Error{Status: http.StatusNotFound, Message: "no image"})
	require.JSONEq(t, `{"code":"404 Not Found","message":"no image<br /><br />\n\n\n","title":"Not Found"}`, string(response.Body))
	require.Equal(t, "application/json", response.Header.Get("Content-Type"))
}
