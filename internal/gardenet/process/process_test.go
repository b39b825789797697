package process

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return listener
}

func get(ctx context.Context, listener net.Listener) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listener.Addr().String(), nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(response.Body)
	return string(body), errors.Join(err, response.Body.Close())
}

func TestRun(t *testing.T) {
	hello := http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(response, "hello") })
	t.Run("it serves while it works, and both end with the context", func(t *testing.T) {
		listener := listen(t)
		ctx, cancel := context.WithCancel(t.Context())
		hasEnded := false
		require.NoError(t, Run(ctx, listener, hello, func(ctx context.Context) error {
			body, err := get(ctx, listener)
			cancel()
			<-ctx.Done()
			hasEnded = true
			assert.Equal(t, "hello", body)
			return err
		}))
		assert.True(t, hasEnded)
		_, err := get(t.Context(), listener)
		require.Error(t, err, "the server has ended, too")
	})
	t.Run("the server ends when the work fails", func(t *testing.T) {
		require.EqualError(t, Run(t.Context(), listen(t), hello, func(context.Context) error { return errors.New("no rules") }), "no rules")
	})
	t.Run("the work ends when the server fails", func(t *testing.T) {
		listener := listen(t)
		require.NoError(t, listener.Close())
		err := Run(t.Context(), listener, hello, func(ctx context.Context) error { <-ctx.Done(); return nil })
		require.ErrorContains(t, err, "serving HTTP: ")
	})
}

func TestRESTConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	_, err := RESTConfig(path)
	require.ErrorContains(t, err, "--kubeconfig: ")
	require.NoError(t, os.WriteFile(path, []byte(`{"clusters":[{"name":"a","cluster":{"server":"https://a:443"}}],"contexts":[{"name":"a","context":{"cluster":"a"}}],"current-context":"a"}`), 0o600))
	config, err := RESTConfig(path)
	require.NoError(t, err)
	assert.Equal(t, "https://a:443", config.Host)
	_, err = RESTConfig("")
	require.ErrorContains(t, err, "give --kubeconfig, or run in a pod")
}
