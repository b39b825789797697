package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// timeout bounds every wait.
const timeout = 10 * time.Second

// TestStandIn probes a stand-in, and talks through it to another server, until it is told to end.
func TestStandIn(t *testing.T) {
	echo, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = echo.Close() })
	go func() {
		connection, err := echo.Accept()
		if err == nil {
			_, _ = io.Copy(connection, connection)
			_ = connection.Close()
		}
	}()
	health, err := process.FreeAddress()
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(health)
	require.NoError(t, err)
	own, err := process.FreeAddress()
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"--csi-address=/none", healthFlag + port}, own+"="+echo.Addr().String())
	}()

	var connection net.Conn
	require.Eventually(t, func() bool {
		connection, err = new(net.Dialer).DialContext(t.Context(), "tcp", own)
		return err == nil
	}, timeout, timeout/100)
	_, err = io.WriteString(connection, "hello\n")
	require.NoError(t, err)
	half, can := connection.(*net.TCPConn)
	require.True(t, can)
	require.NoError(t, half.CloseWrite())
	content, err := bufio.NewReader(connection).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "hello\n", content)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+health+"/healthz", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode)
	require.NoError(t, run(t.Context(), []string{dialFlag + health}, ""))
	end()
	require.NoError(t, <-ended)
	require.Error(t, run(t.Context(), []string{dialFlag + "127.0.0.1:1"}, ""))
	require.ErrorContains(t, run(t.Context(), nil, "443"), "HOST:PORT")
}
