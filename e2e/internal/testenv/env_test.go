package testenv

import (
	"context"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// TestKillAt_TestEndsDuringCall lets a test end, as a failed requirement does, while a call is held.
func TestKillAt_TestEndsDuringCall(t *testing.T) {
	cloud, err := openstack.NewFake()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	env := &Env{T: t, Cloud: cloud, Process: &Process{}}

	answered, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		env.KillAt(wire.Match{Method: http.MethodGet}, wire.Before, func() {
			go func() {
				defer close(answered)
				response, err := http.Get(cloud.AuthURL() + "/users")
				if err == nil {
					_ = response.Body.Close()
				}
			}()
			env.Eventually("a call is under way", func() bool { return len(cloud.Log()) == 1 })
			runtime.Goexit()
		})
	}()
	<-ended
	select {
	case <-answered:
	case <-time.After(10 * time.Second):
		cloud.SetHook(nil)
		require.FailNow(t, "the call is still held")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, cloud.WaitIdle(ctx))

	response, err := http.Get(cloud.AuthURL() + "/users")
	require.NoError(t, err, "the next call is let through")
	require.NoError(t, response.Body.Close())
}
