package example

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// ResponseError is an error response of the cloud. It is the cause within the *cloud.Error of every such call.
type ResponseError struct {
	Method, Path string
	Status       int    // HTTP status code
	Code         string // machine-readable, e.g. "InUse"; may be empty
	Message      string // the cloud's own text, for people; may be empty
}

// Error implements error.
func (e *ResponseError) Error() string {
	reason := strings.Trim(e.Code+": "+e.Message, ": ")
	return strings.TrimSpace(fmt.Sprintf("%s %s returned %d %s", e.Method, e.Path, e.Status, reason))
}

// refused returns the error for an error response, e.g. {"code": "InUse", "message": "the network has subnets"}.
func (s *Session) refused(method, path string, response *http.Response) error {
	var body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	_ = json.NewDecoder(response.Body).Decode(&body) // a proxy's response has another format
	sanitize := func(text string) string {
		return truncate.Line(strings.ReplaceAll(text, s.credentials.Key, "[key]"), truncate.MaxExternal)
	}
	cause := &ResponseError{
		Method: method, Path: path, Status: response.StatusCode, Code: sanitize(body.Code), Message: sanitize(body.Message),
	}
	return &cloud.Error{Kind: kindOf(cause), RetryAfter: transport.RetryAfter(response.Header), Err: cause}
}

// unavailable returns the error for a request without a usable response. An error that is classified already is not changed. errors.Is still finds
// errors of contexts.
func unavailable(method, path string, err error) error {
	if classified, ok := errors.AsType[*cloud.Error](err); ok {
		return classified
	}
	if envelope, ok := errors.AsType[*url.Error](err); ok {
		err = envelope.Err // the envelope repeats the method and the address
	}
	return cloud.Errorf(cloud.Unavailable, "%s %s: %w", method, path, err)
}

// kindOf decides by code and status. 400 and 422 remain cloud.Unknown: only the caller knows whether the rejected value is the user's.
func kindOf(cause *ResponseError) cloud.Kind {
	switch {
	case cause.Code == "InUse":
		return cloud.InUse
	case cause.Code == "QuotaExceeded":
		return cloud.QuotaExceeded
	case cause.Status == http.StatusUnauthorized:
		return cloud.Unauthenticated
	case cause.Status == http.StatusForbidden:
		return cloud.Unauthorized
	case cause.Status == http.StatusNotFound:
		return cloud.NotFound
	case cause.Status == http.StatusConflict:
		return cloud.Conflict
	case cause.Status == http.StatusTooManyRequests:
		return cloud.RateLimited
	case cause.Status >= 500:
		return cloud.Unavailable
	default:
		return cloud.Unknown
	}
}
