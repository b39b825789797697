package transport

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// Limits bound one response. Its size alone would not bound the memory of its decoded form: an empty JSON object has three bytes in JSON and
// hundreds as a struct. So the number of JSON values is bounded, too.
type Limits struct{ Bytes, Values int }

// Objects returns limits for JSON of a size in bytes: none of the clouds' objects has a value every 20 bytes.
func Objects(size int) Limits {
	const shortestValue = 20
	return Limits{Bytes: size, Values: size / shortestValue}
}

// defaultSize bounds the responses of requests without Limits, and those that report an error.
const defaultSize = 1 << 20

// readBody replaces the response's body by its content. It fails with an InvalidResponseError if that exceeds the limits. The text of an error is
// then omitted: its status code is enough.
func readBody(response *http.Response, limits Limits) error {
	defer func() { _ = response.Body.Close() }()
	refused := response.StatusCode < 200 || response.StatusCode >= 300
	if refused || limits == (Limits{}) {
		limits = Objects(defaultSize)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, int64(limits.Bytes)+1))
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	problem := limits.problem(content)
	if encoding := response.Header.Get("Content-Encoding"); problem == "" && encoding != "" && encoding != "identity" {
		problem = "it is compressed, although that was not requested"
	}
	switch {
	case refused && problem != "":
		content = nil
	case problem != "":
		return &InvalidResponseError{problem: problem}
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	return nil
}

// problem names the limit that the content exceeds, or is empty.
func (l Limits) problem(content []byte) string {
	switch {
	case len(content) > l.Bytes:
		return fmt.Sprintf("it is longer than %d bytes", l.Bytes)
	case countValues(content) > l.Values:
		return fmt.Sprintf("it has more than %d values", l.Values)
	default:
		return ""
	}
}

// InvalidResponseError means that a successful response cannot be used. It is a fault of the cloud that may end later, but not at once: the request is not
// repeated.
type InvalidResponseError struct{ problem string }

// InvalidResponse returns an InvalidResponseError.
func InvalidResponse(format string, args ...any) error {
	return &InvalidResponseError{problem: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *InvalidResponseError) Error() string { return "the answer cannot be used: " + e.problem }

// countValues counts the characters that open or separate JSON values outside of strings, one for each value but the first.
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
