package example

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// Session is a client for one account. It is shared by all users of that account and safe for concurrent use.
type Session struct {
	credentials Credentials
	client      *http.Client
	used        time.Time // guarded by the mutex of Sessions
}

// do sends a request and decodes its response. It classifies all errors.
func (s *Session) do(ctx context.Context, info transport.Info, method, path string, body, result any) error {
	request, err := s.request(transport.WithInfo(ctx, info), method, path, body)
	if err != nil {
		return fmt.Errorf("preparing %s %s: %w", method, path, err)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return unavailable(method, path, err)
	}
	defer func() { _ = response.Body.Close() }() // the transport has read it
	if response.StatusCode < 200 || response.StatusCode >= 300 {
		return s.refused(method, path, response)
	}
	if result == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(result); err != nil {
		return unavailable(method, path, fmt.Errorf("decoding the response: %w", err))
	}
	return nil
}

func (s *Session) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(s.credentials.URL, "/")+path, &content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.credentials.Key)
	request.Header.Set("Content-Type", "application/json")
	return request, nil
}
