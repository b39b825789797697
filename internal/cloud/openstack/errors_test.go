package openstack_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

func neutronFault(kind string) string {
	return `{"NeutronError": {"type": "` + kind + `", "message": "as Neutron says", "detail": ""}}`
}

func novaFault(key string) string { return `{"` + key + `": {"code": 0, "message": "as Nova says"}}` }

func TestClassifyResponse(t *testing.T) {
	for name, tc := range map[string]struct {
		code       int
		body       string
		retryAfter string
		want       cloud.Kind
		wantType   string
	}{
		"401":                               {code: 401, body: `{"error": {"title": "Unauthorized"}}`, want: cloud.Unauthenticated, wantType: "Unauthorized"},
		"403 of Neutron's policy":           {code: 403, body: neutronFault("PolicyNotAuthorized"), want: cloud.Unauthorized, wantType: "PolicyNotAuthorized"},
		"403 of Nova, whatever its message": {code: 403, body: `{"forbidden": {"message": "Quota exceeded, too many key pairs."}}`, want: cloud.Unauthorized, wantType: "forbidden"},
		"404":                               {code: 404, body: neutronFault("NetworkNotFound"), want: cloud.NotFound, wantType: "NetworkNotFound"},
		"404 for an availability zone of the user":     {code: 404, body: neutronFault("AvailabilityZoneNotFound"), want: cloud.Configuration, wantType: "AvailabilityZoneNotFound"},
		"quota of Neutron":                             {code: 409, body: neutronFault("OverQuota"), want: cloud.QuotaExceeded, wantType: "OverQuota"},
		"quota of a subnet pool":                       {code: 409, body: neutronFault("SubnetPoolQuotaExceeded"), want: cloud.QuotaExceeded, wantType: "SubnetPoolQuotaExceeded"},
		"quota of Nova, in its old format":             {code: 413, body: novaFault("overLimit"), want: cloud.QuotaExceeded, wantType: "overLimit"},
		"413 with Retry-After":                         {code: 413, body: novaFault("overLimit"), retryAfter: "30", want: cloud.RateLimited, wantType: "overLimit"},
		"413 with a Retry-After of zero":               {code: 413, body: novaFault("overLimit"), retryAfter: "0", want: cloud.QuotaExceeded, wantType: "overLimit"},
		"no free address":                              {code: 409, body: neutronFault("IpAddressGenerationFailure"), want: cloud.Depleted, wantType: "IpAddressGenerationFailure"},
		"no free address, as a bad request":            {code: 400, body: neutronFault("ExternalIpAddressExhausted"), want: cloud.Depleted, wantType: "ExternalIpAddressExhausted"},
		"no free network, as unavailable":              {code: 503, body: neutronFault("NoNetworkAvailable"), retryAfter: "99", want: cloud.Depleted, wantType: "NoNetworkAvailable"},
		"a network with ports":                         {code: 409, body: neutronFault("NetworkInUse"), want: cloud.InUse, wantType: "NetworkInUse"},
		"a subnet with ports":                          {code: 409, body: neutronFault("SubnetInUse"), want: cloud.InUse, wantType: "SubnetInUse"},
		"a router with ports":                          {code: 409, body: neutronFault("RouterInUse"), want: cloud.InUse, wantType: "RouterInUse"},
		"an interface with a route":                    {code: 409, body: neutronFault("RouterInterfaceInUseByRoute"), want: cloud.InUse, wantType: "RouterInterfaceInUseByRoute"},
		"a group with ports":                           {code: 409, body: neutronFault("SecurityGroupInUse"), want: cloud.InUse, wantType: "SecurityGroupInUse"},
		"a port that is an interface":                  {code: 409, body: neutronFault("ServicePortInUse"), want: cloud.InUse, wantType: "ServicePortInUse"},
		"an address in use":                            {code: 409, body: neutronFault("IpAddressInUse"), want: cloud.Conflict, wantType: "IpAddressInUse"},
		"any other conflict":                           {code: 409, body: novaFault("conflictingRequest"), want: cloud.Conflict, wantType: "conflictingRequest"},
		"an outdated revision number":                  {code: 412, body: neutronFault("RevisionNumberConstraintFailed"), want: cloud.Conflict, wantType: "RevisionNumberConstraintFailed"},
		"a bad request":                                {code: 400, body: neutronFault("InvalidInput"), want: cloud.Unknown, wantType: "InvalidInput"},
		"a prefix length outside of the pool's limits": {code: 400, body: neutronFault("MinPrefixSubnetAllocationError"), want: cloud.Configuration, wantType: "MinPrefixSubnetAllocationError"},
		"429":                       {code: 429, body: ``, retryAfter: "60", want: cloud.RateLimited},
		"500":                       {code: 500, body: neutronFault("HTTPInternalServerError"), want: cloud.Unavailable, wantType: "HTTPInternalServerError"},
		"503 of Octavia":            {code: 503, body: `{"faultcode": "Server", "faultstring": "as Octavia says", "debuginfo": null}`, want: cloud.Unavailable, wantType: "Server"},
		"504 of a gateway, in HTML": {code: 504, body: `<html>no</html>`, want: cloud.Unavailable},
		"a redirect":                {code: 300, body: `{"versions": []}`, want: cloud.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{serve: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Openstack-Request-Id", "req-1")
				if tc.retryAfter != "" {
					w.Header().Set("Retry-After", tc.retryAfter)
				}
				reply(w, tc.code, tc.body)
			}}
			session := stub.session(t, openstack.Options{Retry: transport.RetryPolicy{Attempts: 1}})
			err := session.DeleteNetwork(t.Context(), "n")
			assert.Equal(t, tc.want, cloud.KindOf(err), cloud.KindOf(err).String())

			var response *openstack.ResponseError
			require.ErrorAs(t, err, &response)
			response.Message = ""
			assert.Equal(t, &openstack.ResponseError{
				Service: "network", Method: "DELETE", Path: "networks/n", Status: tc.code, Type: tc.wantType, RequestID: "req-1",
			}, response)
		})
	}
}

func TestResponseError_Error(t *testing.T) {
	stub := &stubCloud{serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Openstack-Request-Id", "req-1")
		w.Header().Set("Retry-After", "90")
		reply(w, 409, neutronFault("NetworkInUse"))
	}}
	err := stub.session(t, openstack.Options{}).DeleteNetwork(t.Context(), "n")
	require.EqualError(t, err, "DELETE networks/n answered 409 NetworkInUse: as Neutron says (request req-1)")
	assert.Equal(t, 90*time.Second, cloud.RetryAfter(err))
}

func TestSession_InvalidResponse(t *testing.T) {
	for name, body := range map[string]string{
		"an empty body":              ``,
		"a body that is not JSON":    `<html>`,
		"an object without the list": `{"something": []}`,
		"a list of another type":     `{"networks": "many"}`,
		"an element of another type": `{"networks": [{"mtu": "wide"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			code := http.StatusOK
			if body == "" {
				code = http.StatusNoContent
			}
			stub := &stubCloud{serve: status(code, body)}
			err := listNetworks(t.Context(), stub.session(t, openstack.Options{}))
			require.Error(t, err)
			assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
		})
	}
}
