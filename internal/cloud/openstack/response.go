package openstack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
)

// responseKind is the kind of answer that a call expects. It decides how large the answer may be.
type responseKind int

const (
	objectResponse responseKind = iota
	pageResponse
	tokenResponse
)

// responseLimits bound one answer. Its size in bytes alone would not bound the memory that it takes once decoded: an empty object is
// three bytes on the wire and hundreds as a struct. So the number of JSON values is bounded, too.
type responseLimits struct{ bytes, values int }

// limits returns the limits of a kind. An object of OpenStack has a few KiB, a page of a thousand objects one or two MiB, and a
// token with the catalog of a cloud of many regions some hundred KiB. None of them has a value every 20 bytes.
func (k responseKind) limits() responseLimits {
	const shortestValue = 20
	size := 1 << 20
	switch k {
	case pageResponse:
		size = 8 << 20
	case tokenResponse:
		size = 2 << 20
	}
	return responseLimits{bytes: size, values: size / shortestValue}
}

// readResponse replaces the response's body by its content. It fails with an invalidResponseError when that goes beyond the limits. The
// text of a refusal is dropped then: its status code is what matters.
func readResponse(response *http.Response, expected responseKind) error {
	defer func() { _ = response.Body.Close() }()
	refused, limits := !slices.Contains(successCodes(), response.StatusCode), expected.limits()
	if refused {
		limits = objectResponse.limits()
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, int64(limits.bytes)+1))
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	problem := limits.problem(content)
	if encoding := response.Header.Get("Content-Encoding"); problem == "" && encoding != "" && encoding != "identity" {
		problem = "it is compressed, although that was not asked for"
	}
	switch {
	case refused && problem != "":
		content = nil
	case problem != "":
		return &invalidResponseError{problem: problem}
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	return nil
}

// problem says which limit the content exceeds, or is empty.
func (l responseLimits) problem(content []byte) string {
	switch {
	case len(content) > l.bytes:
		return fmt.Sprintf("it is longer than %d bytes", l.bytes)
	case countValues(content) > l.values:
		return fmt.Sprintf("it has more than %d values", l.values)
	default:
		return ""
	}
}

// invalidResponseError says why nobody can use what the cloud did answer. It is the cloud's trouble, which may be over later, but not at once:
// such a call is not repeated.
type invalidResponseError struct{ problem string }

func invalidResponse(format string, args ...any) error {
	return &invalidResponseError{problem: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *invalidResponseError) Error() string { return "the answer cannot be used: " + e.problem }

// countValues counts what separates or opens JSON values outside of strings, of which each value but the first has one before it or around it.
func countValues(content []byte) int {
	count, quoted, escaped := 0, false, false
	for _, c := range content {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '{' || c == '['):
			count++
		}
	}
	return count
}

// streamDecoder is an answer that decodes itself bit by bit, since it may be too large to be decoded at once.
type streamDecoder interface {
	decodeFrom(decoder *json.Decoder) error
}

// decodeResponse reads a successful response. No content is no object, but it is never an empty list: that would be a base for decisions.
func decodeResponse(response *http.Response, into any) error {
	decoder := json.NewDecoder(response.Body)
	if stream, ok := into.(streamDecoder); ok {
		return stream.decodeFrom(decoder)
	}
	if response.StatusCode == http.StatusNoContent {
		return nil
	}
	return decoder.Decode(into)
}
