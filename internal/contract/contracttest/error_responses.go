package contracttest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrorResponse is an error response of a service.
type ErrorResponse struct {
	// Error names it, e.g. "409 conflict".
	Error string
	// AfterEffect is true if the service may return the response without knowing the effect of the request: it is also
	// returned after the effect.
	AfterEffect bool
	// Response returns the response.
	Response func(*http.Request) *http.Response
}

// kubeErrorResponses are those of the API server. NotFound is not among them: only the process under test
// removes the object, so a controller may believe it.
func kubeErrorResponses(Call) []ErrorResponse {
	return []ErrorResponse{
		kubeErrorResponse("409 conflict", http.StatusConflict, metav1.StatusReasonConflict, 0),
		kubeErrorResponse("403 forbidden", http.StatusForbidden, metav1.StatusReasonForbidden, 0),
		kubeErrorResponse("429 too many requests", http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 1),
		kubeErrorResponse("500 internal error", http.StatusInternalServerError, metav1.StatusReasonInternalError, 0),
		kubeErrorResponse("503 unavailable", http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, 0),
		kubeErrorResponse("504 timeout", http.StatusGatewayTimeout, metav1.StatusReasonTimeout, 0),
	}
}

func kubeErrorResponse(name string, code int, reason metav1.StatusReason, retryAfter int) ErrorResponse {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Message:  "fault: " + name,
		Reason:   reason,
		Code:     int32(code),
		Details:  &metav1.StatusDetails{RetryAfterSeconds: int32(retryAfter)},
	}
	return ErrorResponse{
		Error:       name,
		AfterEffect: code == http.StatusGatewayTimeout,
		Response: func(request *http.Request) *http.Response {
			return JSONResponse(request, code, retryAfter, status)
		},
	}
}

// JSONResponse returns a response. A Retry-After of 0 seconds is omitted.
func JSONResponse(request *http.Request, code, retryAfter int, body any) *http.Response {
	raw, err := json.Marshal(body)
	if err != nil {
		raw = []byte(`{}`)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if retryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	return &http.Response{
		Status:        strconv.Itoa(code) + " " + http.StatusText(code),
		StatusCode:    code,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(raw)),
		ContentLength: int64(len(raw)),
		Request:       request,
	}
}
