package transport_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// server responds without a network: with the status codes in turn, or with an error for 0.
type server struct {
	codes   []int
	header  http.Header
	content string
	bodies  []string
}

func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	body := ""
	if req.Body != nil {
		content, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		body = string(content)
	}
	code := s.codes[min(len(s.bodies), len(s.codes)-1)]
	s.bodies = append(s.bodies, body)
	if code == 0 {
		return nil, errors.New("connection reset by peer")
	}
	header := s.header
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(s.content))}, nil
}

func clientOf(s *server) http.RoundTripper {
	return &transport.Retrying{Policy: transport.RetryPolicy{}.WithDefaults(), Next: &transport.Single{
		Base: s, Limiter: transport.NewLimiter(-1, 0), Timeout: time.Minute, Metrics: cloud.NewMetrics(nil, "example"),
	}}
}

func send(t *testing.T, client http.RoundTripper, method string, info transport.Info) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(transport.WithInfo(t.Context(), info), method, "https://cloud.example.org/", strings.NewReader("body"))
	require.NoError(t, err)
	return client.RoundTrip(req)
}

func TestRetrying_Modes(t *testing.T) {
	for sentence, test := range map[string]struct {
		method string
		mode   transport.RetryMode
		codes  []int
		sent   int
		code   int
	}{
		"a GET is repeated":                                        {http.MethodGet, transport.RetryByMethod, []int{503, 0, 200}, 3, 200},
		"a PUT is repeated":                                        {http.MethodPut, transport.RetryByMethod, []int{502, 200}, 2, 200},
		"a POST is not repeated":                                   {http.MethodPost, transport.RetryByMethod, []int{503, 200}, 1, 503},
		"a POST that was turned away is repeated":                  {http.MethodPost, transport.RetryByMethod, []int{429, 200}, 2, 200},
		"a POST with a client token is repeated":                   {http.MethodPost, transport.RetryAlways, []int{503, 0, 200}, 3, 200},
		"a PUT that is not idempotent is not repeated":             {http.MethodPut, transport.RetryNever, []int{504, 200}, 1, 504},
		"an error is not repeated":                                 {http.MethodGet, transport.RetryByMethod, []int{400, 200}, 1, 400},
		"there are four attempts":                                  {http.MethodGet, transport.RetryByMethod, []int{503}, 4, 503},
		"a POST without a response is not repeated, nor an answer": {http.MethodPost, transport.RetryByMethod, []int{0, 200}, 1, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{codes: test.codes}
				response, err := send(t, clientOf(s), test.method, transport.Info{Service: "example", Retry: test.mode})
				if test.code == 0 {
					require.ErrorContains(t, err, "connection reset")
				} else {
					require.NoError(t, err)
					assert.Equal(t, test.code, response.StatusCode)
					require.NoError(t, response.Body.Close())
				}
				require.Len(t, s.bodies, test.sent)
				for _, body := range s.bodies {
					assert.Equal(t, "body", body)
				}
			})
		})
	}
}

func TestSingle_Limits(t *testing.T) {
	large := strings.Repeat("x", 2<<20)
	for sentence, test := range map[string]struct {
		server server
		limits transport.Limits
		err    string
	}{
		"a response within the default":   {server: server{codes: []int{200}, content: `{"a": [1, 2]}`}},
		"a response beyond the default":   {server: server{codes: []int{200}, content: large}, err: "it is longer than 1048576 bytes"},
		"a response within its limits":    {server: server{codes: []int{200}, content: large}, limits: transport.Objects(4 << 20)},
		"a response with too many values": {server: server{codes: []int{200}, content: strings.Repeat("[", 100)}, limits: transport.Objects(1000), err: "it has more than 50 values"},
		"a compressed response": {
			server: server{codes: []int{200}, header: http.Header{"Content-Encoding": {"gzip"}}}, err: "it is compressed, although that was not requested",
		},
		"the text of an error is dropped": {server: server{codes: []int{400}, content: large}, limits: transport.Objects(4 << 20)},
	} {
		t.Run(sentence, func(t *testing.T) {
			response, err := send(t, clientOf(&test.server), http.MethodGet, transport.Info{Limits: test.limits})
			if test.err != "" {
				require.EqualError(t, err, "the answer cannot be used: "+test.err)
				assert.Len(t, test.server.bodies, 1, "it is not repeated")
				return
			}
			require.NoError(t, err)
			content, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			if response.StatusCode == http.StatusBadRequest {
				assert.Empty(t, content)
			} else {
				assert.Equal(t, test.server.content, string(content))
			}
		})
	}
}

func TestReadOnly(t *testing.T) {
	s := &server{codes: []int{200}}
	client := &transport.ReadOnly{Next: clientOf(s)}
	response, err := send(t, client, http.MethodGet, transport.Info{})
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	_, err = send(t, client, http.MethodPut, transport.Info{})
	require.ErrorIs(t, err, transport.ErrReadOnly)
	assert.Equal(t, cloud.Unauthorized, cloud.KindOf(err))
	assert.Len(t, s.bodies, 1)
}
