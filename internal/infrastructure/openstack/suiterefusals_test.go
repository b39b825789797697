package openstack_test

import (
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// suiteErrorResponses are the errors with which OpenStack may truthfully refuse a call that is right:
//
//   - any call: 401, 403, 429 with Retry-After, 500, 503, and a proxy's 504, which also comes after the effect;
//   - what creates: no quota, no address left, input that this cloud does not like;
//   - what deletes or detaches: still in use, by something that goes away by itself.
//
// What would be a lie is left out. 404 for what exists: a driver does right to believe it, and there is nobody else who
// could have removed it. Neutron's "exists already" for what does not: a driver does right to be content.
func suiteErrorResponses(call contracttest.Call) []contracttest.ErrorResponse {
	format := errorFormatOf(call.Path)
	refusals := []contracttest.ErrorResponse{
		format.refusal(http.StatusUnauthorized, "Unauthorized", "The request you have made requires authentication."),
		format.refusal(http.StatusForbidden, "PolicyNotAuthorized", "Disallowed by policy."),
		format.refusal(http.StatusTooManyRequests, "OverLimit", "Too many requests."),
		format.refusal(http.StatusInternalServerError, "HTTPInternalServerError", "Request Failed: internal server error."),
		format.refusal(http.StatusServiceUnavailable, "HTTPServiceUnavailable", "The server is currently unavailable."),
		format.refusal(http.StatusGatewayTimeout, "HTTPGatewayTimeout", "The gateway did not receive a timely response."),
	}
	if format != neutron {
		return refusals
	}
	_, interfaceChange := strings.CutSuffix(call.Path, "remove_router_interface")
	switch {
	case call.Method == http.MethodPost:
		refusals = append(refusals,
			format.refusal(http.StatusConflict, "OverQuota", "Quota exceeded for resources."),
			format.refusal(http.StatusConflict, "IpAddressGenerationFailure", "No more IP addresses available."),
			format.refusal(http.StatusBadRequest, "InvalidInput", "Invalid input for operation."))
	case interfaceChange:
		refusals = append(refusals, format.refusal(http.StatusConflict, "RouterInterfaceInUseByFloatingIP", "It is required by a floating IP."))
	case call.Method == http.MethodDelete:
		refusals = append(refusals, format.refusal(http.StatusConflict, inUse(call.Path), "It is still in use."))
	}
	return refusals
}

// inUse is Neutron's exception for what cannot be deleted yet.
func inUse(call string) string {
	switch path.Base(path.Dir(call)) {
	case "networks":
		return "NetworkInUse"
	case "subnets":
		return "SubnetInUse"
	case "routers":
		return "RouterInUse"
	case "security-groups":
		return "SecurityGroupInUse"
	default:
		return "PortInUse"
	}
}

// errorFormat is how a service writes its errors.
type errorFormat string

const (
	keystone errorFormat = "/identity"
	neutron  errorFormat = "/network"
	nova     errorFormat = "/compute"
	octavia  errorFormat = "/load-balancer"
)

func errorFormatOf(path string) errorFormat {
	for _, d := range []errorFormat{neutron, nova, octavia} {
		if strings.HasPrefix(path, string(d)) {
			return d
		}
	}
	return keystone
}

func (d errorFormat) refusal(status int, kind, message string) contracttest.ErrorResponse {
	retryAfter := 0
	if status == http.StatusTooManyRequests {
		retryAfter = 1
	}
	return contracttest.ErrorResponse{
		Error:       fmt.Sprintf("%d %s", status, kind),
		AfterEffect: status == http.StatusGatewayTimeout,
		Response: func(request *http.Request) *http.Response {
			return contracttest.JSONResponse(request, status, retryAfter, d.body(status, kind, message))
		},
	}
}

func (d errorFormat) body(status int, kind, message string) any {
	switch {
	case d == neutron && status != http.StatusUnauthorized:
		return map[string]any{"NeutronError": map[string]any{"type": kind, "message": message, "detail": ""}}
	case d == nova && status != http.StatusUnauthorized:
		return map[string]any{"computeFault": map[string]any{"code": status, "message": message}}
	case d == octavia && status != http.StatusUnauthorized:
		return map[string]any{"faultcode": "Client", "faultstring": message, "debuginfo": nil}
	default:
		return map[string]any{"error": map[string]any{"code": status, "title": kind, "message": message}}
	}
}
