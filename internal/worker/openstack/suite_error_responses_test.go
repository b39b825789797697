package openstack_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// suiteErrorResponses are the errors that Keystone and Nova may return to a valid call: unauthorized; forbidden, which Nova also
// returns for exceeded quotas; too many requests; and server errors, which a proxy may return after the effect. 404 for
// existing resources is not among them.
func suiteErrorResponses(call contracttest.Call) []contracttest.ErrorResponse {
	body := func(status int, message string) any {
		if strings.HasPrefix(call.Path, "/compute") && status != http.StatusUnauthorized {
			return map[string]any{"computeFault": map[string]any{"code": status, "message": message}}
		}
		return map[string]any{"error": map[string]any{"code": status, "title": http.StatusText(status), "message": message}}
	}
	errorResponse := func(status int, message string) contracttest.ErrorResponse {
		retryAfter := 0
		if status == http.StatusTooManyRequests {
			retryAfter = 1
		}
		return contracttest.ErrorResponse{
			Error:       fmt.Sprintf("%d %s", status, http.StatusText(status)),
			AfterEffect: status == http.StatusGatewayTimeout,
			Response: func(request *http.Request) *http.Response {
				return contracttest.JSONResponse(request, status, retryAfter, body(status, message))
			},
		}
	}
	return []contracttest.ErrorResponse{
		errorResponse(http.StatusUnauthorized, "The request you have made requires authentication."),
		errorResponse(http.StatusForbidden, "Policy doesn't allow it to be performed."),
		errorResponse(http.StatusTooManyRequests, "Too many requests."),
		errorResponse(http.StatusInternalServerError, "Unexpected API Error."),
		errorResponse(http.StatusServiceUnavailable, "The server is currently unavailable."),
		errorResponse(http.StatusGatewayTimeout, "The gateway did not receive a timely response."),
	}
}
