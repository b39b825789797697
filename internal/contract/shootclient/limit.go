package shootclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

const (
	// maxResponse is the maximum number of bytes that are read of a response. The largest object that a kube-apiserver stores has a megabyte and a half.
	maxResponse = 4 << 20
	// maxErrorResponse is the same for an error response. Its text is written into a status or a log.
	maxErrorResponse = 64 << 10
)

// errTooLarge is the error of a larger response.
var errTooLarge = errors.New("the answer is too large")

// limitResponses wraps a transport so that no response has more bytes than its limit, decompressed. The content of a shoot must
// not determine the memory of a controller in the seed, which serves all other shoots as well.
func limitResponses(base http.RoundTripper) http.RoundTripper { return &limitedTransport{base: base} }

type limitedTransport struct{ base http.RoundTripper }

func (t *limitedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	limit := int64(maxResponse)
	if response.StatusCode >= http.StatusBadRequest {
		limit = maxErrorResponse
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	_ = response.Body.Close()
	switch {
	case int64(len(body)) > limit:
		return nil, fmt.Errorf("%w: more than %d bytes", errTooLarge, limit)
	case err != nil:
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// WrappedRoundTripper lets client-go find its own transport.
func (t *limitedTransport) WrappedRoundTripper() http.RoundTripper { return t.base }
