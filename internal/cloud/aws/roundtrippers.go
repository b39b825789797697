package aws

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// repeatable gives requests of the SDK bodies that can be read again. The SDK rewinds a body itself before it repeats a request, which it is not asked to.
type repeatable struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *repeatable) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil || req.GetBody != nil {
		return t.next.RoundTrip(req)
	}
	content, err := io.ReadAll(req.Body)
	transport.CloseBody(req)
	if err != nil {
		return nil, err
	}
	clone := req.Clone(req.Context())
	clone.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	clone.Body, _ = clone.GetBody()
	return t.next.RoundTrip(clone)
}

// isThrottling reports whether AWS rejected a request because there were too many.
func isThrottling(code string) bool {
	return slices.Contains([]string{
		"RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled", "RequestThrottledException",
		"TooManyRequestsException", "SlowDown", "BandwidthLimitExceeded", "EC2ThrottledException", "PriorRequestNotComplete",
	}, code)
}

// throttlingAs429 gives responses that say by their code that there were too many requests the status that says so, 429: services of AWS use 400 and 503. Such
// a request had no effect, so that any may be repeated.
type throttlingAs429 struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *throttlingAs429) RoundTrip(req *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(req)
	if err != nil || response.StatusCode < http.StatusBadRequest {
		return response, err
	}
	content, err := io.ReadAll(response.Body) // it is in memory, see transport.Single
	if err != nil {
		return nil, transport.InvalidResponse("%v", err)
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	if isThrottling(codeIn(response.Header, content)) {
		response.StatusCode, response.Status = http.StatusTooManyRequests, http.StatusText(http.StatusTooManyRequests)
	}
	return response, nil
}

// codeIn returns the code of an error response.
//
//	EC2:    <Response><Errors><Error><Code>RequestLimitExceeded</Code>...
//	EFS:    X-Amzn-ErrorType: ThrottlingException:http://internal.amazon.com/...
//	others: <ErrorResponse><Error><Code>Throttling</Code>...
func codeIn(header http.Header, content []byte) string {
	if code, _, _ := strings.Cut(header.Get("X-Amzn-Errortype"), ":"); code != "" {
		return code
	}
	var response struct {
		EC2    string `xml:"Errors>Error>Code"`
		Others string `xml:"Error>Code"`
	}
	if xml.Unmarshal(content, &response) != nil {
		return ""
	}
	if response.EC2 != "" {
		return response.EC2
	}
	return response.Others
}
