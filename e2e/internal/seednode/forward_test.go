package seednode

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serverNamed returns a server that says its name, and its address.
func serverNamed(t *testing.T, name string, start func(*httptest.Server)) (*httptest.Server, string) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) }))
	start(server)
	t.Cleanup(server.Close)
	_, address, _ := strings.Cut(server.URL, "://")
	return server, address
}

func newTestForward(t *testing.T, to destinations) (*forward, string) {
	t.Helper()
	f, err := newForward(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(f.close)
	f.lead(to)
	return f, f.listener.Addr().String()
}

func get(t *testing.T, c *http.Client, url string) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	request.Close = true
	response, err := c.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	return string(content), err
}

func TestForward(t *testing.T) {
	_, one := serverNamed(t, "one", (*httptest.Server).Start)
	_, two := serverNamed(t, "two", (*httptest.Server).Start)
	gone, goneAt := serverNamed(t, "gone", (*httptest.Server).Start)
	gone.Close()
	f, address := newTestForward(t, destinations{targets: []string{goneAt, one}})
	for range 5 {
		content, err := get(t, http.DefaultClient, "http://"+address)
		require.NoError(t, err)
		assert.Equal(t, "one", content, "a target that refuses connections is passed over")
	}
	f.lead(destinations{targets: []string{two}})
	content, err := get(t, http.DefaultClient, "http://"+address)
	require.NoError(t, err)
	assert.Equal(t, "two", content)
	f.lead(destinations{})
	_, err = get(t, http.DefaultClient, "http://"+address)
	assert.Error(t, err)
}

func TestForward_Close(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	f, address := newTestForward(t, destinations{targets: []string{listener.Addr().String()}})
	connection, err := net.Dial("tcp", address)
	require.NoError(t, err)
	endpoint, err := listener.Accept()
	require.NoError(t, err)
	f.stopListening()
	_, err = net.Dial("tcp", address)
	require.Error(t, err, "new connections are refused")
	_, err = connection.Write([]byte("x"))
	require.NoError(t, err)
	content := make([]byte, 1)
	_, err = io.ReadFull(endpoint, content)
	require.NoError(t, err, "others go on")
	f.close()
	_, err = io.ReadFull(endpoint, content)
	assert.Error(t, err)
}

func TestForward_ByHost(t *testing.T) {
	server, one := serverNamed(t, "one", (*httptest.Server).StartTLS)
	_, two := serverNamed(t, "two", (*httptest.Server).StartTLS)
	_, address := newTestForward(t, destinations{byHost: map[string][]string{"example.com": {one}, "*.example.com": {two}}})
	ask := func(host string) (string, error) {
		c := server.Client()
		transport := c.Transport.(*http.Transport).Clone()
		transport.TLSClientConfig.ServerName, transport.TLSClientConfig.InsecureSkipVerify = host, true
		c.Transport = transport
		return get(t, c, "https://"+address)
	}
	for host, want := range map[string]string{"example.com": "one", "api.example.com": "two"} {
		content, err := ask(host)
		require.NoError(t, err)
		assert.Equal(t, want, content)
	}
	_, err := ask("example.org")
	require.Error(t, err, "an unknown host")
	_, err = get(t, http.DefaultClient, "http://"+address)
	assert.Error(t, err, "no TLS")
}
