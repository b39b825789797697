package openstack_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// suiteErrorResponses are the errors with which Keystone and Nova may truthfully refuse a call that is right: that they do not know who asks,
// that they forbid it, which is how Nova speaks of a quota, too; that there are too many requests; and that something is wrong
// with them, which a proxy may say after the effect. 404 for what exists would be a lie.
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
