package openstack_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// suiteRefusals are the errors with which Keystone and Nova may truthfully refuse a call that is right: that they do not know who asks,
// that they forbid it, which is how Nova speaks of a quota, too; that there are too many requests; and that something is wrong
// with them, which a proxy may say after the effect. 404 for what exists would be a lie.
func suiteRefusals(call contracttest.Call) []contracttest.Refusal {
	body := func(status int, message string) any {
		if strings.HasPrefix(call.Path, "/compute") && status != http.StatusUnauthorized {
			return map[string]any{"computeFault": map[string]any{"code": status, "message": message}}
		}
		return map[string]any{"error": map[string]any{"code": status, "title": http.StatusText(status), "message": message}}
	}
	refusal := func(status int, message string) contracttest.Refusal {
		retryAfter := 0
		if status == http.StatusTooManyRequests {
			retryAfter = 1
		}
		return contracttest.Refusal{
			Error: fmt.Sprintf("%d %s", status, http.StatusText(status)),
			Lost:  status == http.StatusGatewayTimeout,
			Answer: func(request *http.Request) *http.Response {
				return contracttest.JSONResponse(request, status, retryAfter, body(status, message))
			},
		}
	}
	return []contracttest.Refusal{
		refusal(http.StatusUnauthorized, "The request you have made requires authentication."),
		refusal(http.StatusForbidden, "Policy doesn't allow it to be performed."),
		refusal(http.StatusTooManyRequests, "Too many requests."),
		refusal(http.StatusInternalServerError, "Unexpected API Error."),
		refusal(http.StatusServiceUnavailable, "The server is currently unavailable."),
		refusal(http.StatusGatewayTimeout, "The gateway did not receive a timely response."),
	}
}
