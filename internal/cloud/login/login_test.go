package login_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/login"
)

// fakeCloud issues numbers, each valid for an hour, and takes a second for each.
type fakeCloud struct {
	mu     sync.Mutex
	issued int
	err    error
}

func (c *fakeCloud) login(ctx context.Context) (*login.Login[int], error) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.issued++
	if c.err != nil {
		return nil, c.err
	}
	return login.New(c.issued, time.Hour), nil
}

func (c *fakeCloud) setError(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func valid(t *testing.T, source *login.Source[int]) int {
	t.Helper()
	current, err := source.Valid(t.Context())
	require.NoError(t, err)
	return current.Value
}

func TestSource_ConcurrentCallersShareALogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeCloud{}
		source := login.NewSource(server.login)
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() { assert.Equal(t, 1, valid(t, source)) })
		}
		callers.Wait()
		assert.Equal(t, 1, server.issued)
	})
}

func TestSource_LoginContinuesWithoutItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := login.NewSource((&fakeCloud{}).login)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := source.Valid(ctx)
		assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.False(t, source.NeverLoggedIn(), "a login is in progress")
		started := time.Now()
		assert.Equal(t, 1, valid(t, source))
		assert.Equal(t, 500*time.Millisecond, time.Since(started))
	})
}

func TestSource_RenewsBeforeExpiration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeCloud{}
		source := login.NewSource(server.login)
		assert.Equal(t, 1, valid(t, source))
		time.Sleep(54 * time.Minute)
		assert.Equal(t, 1, valid(t, source))

		server.setError(errors.New("no"))
		time.Sleep(2 * time.Minute)
		assert.Equal(t, 1, valid(t, source), "a failed renewal does no harm while the login is valid")
		attempts := server.issued
		assert.Equal(t, 1, valid(t, source))
		assert.Equal(t, attempts, server.issued, "it is not repeated at once")

		server.setError(nil)
		time.Sleep(time.Minute)
		assert.Equal(t, attempts+1, valid(t, source))

		server.setError(errors.New("no"))
		time.Sleep(time.Hour)
		_, err := source.Valid(t.Context())
		require.EqualError(t, err, "no")
	})
}

func TestSource_Replace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeCloud{}
		source := login.NewSource(server.login)
		first, err := source.Valid(t.Context())
		require.NoError(t, err)
		second, err := source.Replace(t.Context(), first)
		require.NoError(t, err)
		assert.Equal(t, 2, second.Value)
		again, err := source.Replace(t.Context(), first)
		require.NoError(t, err)
		assert.Same(t, second, again, "it is replaced already")

		pointless, err := source.Replace(t.Context(), second)
		require.NoError(t, err)
		assert.Same(t, second, pointless, "a service rejects every login")
		second.Accepted()
		third, err := source.Replace(t.Context(), second)
		require.NoError(t, err)
		assert.Equal(t, 3, third.Value)
		time.Sleep(2 * time.Minute)
		fourth, err := source.Replace(t.Context(), third)
		require.NoError(t, err)
		assert.Equal(t, 4, fourth.Value, "after a pause another one is tried")
		assert.Same(t, fourth, source.Last())
	})
}
