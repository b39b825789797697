package openstack_test

import (
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// suiteRefusals are the errors with which OpenStack may truthfully refuse a call that is right:
//
//   - any call: 401, 403, 429 with Retry-After, 500, 503, and a proxy's 504, which also comes after the effect;
//   - what creates: no quota, no address left, input that this cloud does not like;
//   - what deletes or detaches: still in use, by something that goes away by itself.
//
// What would be a lie is left out. 404 for what exists: a driver does right to believe it, and there is nobody else who
// could have removed it. Neutron's "exists already" for what does not: a driver does right to be content.
func suiteRefusals(call contracttest.Call) []contracttest.Refusal {
	say := dialectOf(call.Path)
	refusals := []contracttest.Refusal{
		say.refusal(http.StatusUnauthorized, "Unauthorized", "The request you have made requires authentication."),
		say.refusal(http.StatusForbidden, "PolicyNotAuthorized", "Disallowed by policy."),
		say.refusal(http.StatusTooManyRequests, "OverLimit", "Too many requests."),
		say.refusal(http.StatusInternalServerError, "HTTPInternalServerError", "Request Failed: internal server error."),
		say.refusal(http.StatusServiceUnavailable, "HTTPServiceUnavailable", "The server is currently unavailable."),
		say.refusal(http.StatusGatewayTimeout, "HTTPGatewayTimeout", "The gateway did not receive a timely response."),
	}
	if say != neutron {
		return refusals
	}
	_, interfaceChange := strings.CutSuffix(call.Path, "remove_router_interface")
	switch {
	case call.Method == http.MethodPost:
		refusals = append(refusals,
			say.refusal(http.StatusConflict, "OverQuota", "Quota exceeded for resources."),
			say.refusal(http.StatusConflict, "IpAddressGenerationFailure", "No more IP addresses available."),
			say.refusal(http.StatusBadRequest, "InvalidInput", "Invalid input for operation."))
	case interfaceChange:
		refusals = append(refusals, say.refusal(http.StatusConflict, "RouterInterfaceInUseByFloatingIP", "It is required by a floating IP."))
	case call.Method == http.MethodDelete:
		refusals = append(refusals, say.refusal(http.StatusConflict, inUse(call.Path), "It is still in use."))
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

// dialect is how a service writes its errors.
type dialect string

const (
	keystone dialect = "/identity"
	neutron  dialect = "/network"
	nova     dialect = "/compute"
	octavia  dialect = "/load-balancer"
)

func dialectOf(path string) dialect {
	for _, d := range []dialect{neutron, nova, octavia} {
		if strings.HasPrefix(path, string(d)) {
			return d
		}
	}
	return keystone
}

func (d dialect) refusal(status int, kind, message string) contracttest.Refusal {
	retryAfter := 0
	if status == http.StatusTooManyRequests {
		retryAfter = 1
	}
	return contracttest.Refusal{
		Error: fmt.Sprintf("%d %s", status, kind),
		Lost:  status == http.StatusGatewayTimeout,
		Answer: func(request *http.Request) *http.Response {
			return contracttest.JSONResponse(request, status, retryAfter, d.body(status, kind, message))
		},
	}
}

func (d dialect) body(status int, kind, message string) any {
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
