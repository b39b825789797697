package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// efsService is Elastic File System, with the protocol rest-json: a path and a query for what is meant, JSON for the rest.
func efsService() service {
	return service{name: "elasticfilesystem", label: "elasticfilesystem", version: "2015-02-01"}
}

// restRequest is a request of the protocol rest-json.
type restRequest struct {
	method string
	// path follows the version, e.g. "file-systems".
	path  string
	query url.Values
	// body becomes JSON; nil means none.
	body any
}

// rest makes a request, and decodes the answer's JSON into result, which may be nil.
func (c *client) rest(ctx context.Context, to service, o operation, request restRequest, result any) error {
	var body []byte
	if request.body != nil {
		encoded, err := json.Marshal(request.body)
		if err != nil {
			return err
		}
		body = encoded
	}
	got, err := c.send(ctx, to, request.method, to.version+"/"+request.path, request.query, "application/json", string(body))
	if err != nil {
		return err
	}
	if got.failed() {
		return classified(restError(o, got))
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(got.content, result); err != nil {
		return fmt.Errorf("decoding the answer: %w", err)
	}
	return nil
}

// restError decodes an error response: its code is in a header, before a colon. One without a code, of something between, is known by its status only.
func restError(o operation, got answer) *ResponseError {
	code, _, _ := strings.Cut(got.header.Get("X-Amzn-Errortype"), ":")
	if code == "" {
		code = fmt.Sprintf("status %d", got.status)
	}
	var response struct {
		Message string `json:"Message"`
	}
	_ = json.Unmarshal(got.content, &response) // a message is of use, but not needed
	return &ResponseError{
		Service: o.service, Operation: o.name, Code: code, Message: response.Message, Status: got.status, RequestID: got.header.Get("X-Amzn-Requestid"),
	}
}

// invokeREST is invoke for a service with the protocol rest-json.
func (s *Session) invokeREST(ctx context.Context, to service, o operation, request restRequest, result any) error {
	return s.attempt(ctx, o, func(ctx context.Context) error { return s.client.rest(ctx, to, o, request, result) })
}

// pathOf joins segments of a path, escaped.
func pathOf(segments ...string) string {
	escaped := make([]string, 0, len(segments))
	for _, segment := range segments {
		escaped = append(escaped, url.PathEscape(segment))
	}
	return strings.Join(escaped, "/")
}
