package observer

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestShared_OneReadInAnInterval(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(at("10:00:00"))
	shared := &Shared[string, int]{Interval: 10 * time.Minute, Clock: clock}
	reads := 0
	get := func(since time.Time) (int, time.Time, error) {
		return shared.Get(t.Context(), "account", since, func(context.Context) (int, error) {
			reads++
			return reads, nil
		})
	}
	for minute := range 60 {
		clock.SetTime(at("10:00:00").Add(time.Duration(minute) * time.Minute))
		value, asOf, err := get(time.Time{})
		require.NoError(t, err)
		assert.Equal(t, 1+minute/10, value)
		assert.Less(t, clock.Now().Sub(asOf), 10*time.Minute)
	}
	require.Equal(t, 6, reads)

	_, _, err := get(clock.Now().Add(-time.Minute))
	var tooEarly *TooEarlyError
	require.ErrorAs(t, err, &tooEarly, "the last read was nine minutes ago")
	assert.Equal(t, at("11:00:00"), tooEarly.RetryAt)
	clock.SetTime(tooEarly.RetryAt)
	value, _, err := get(clock.Now().Add(-time.Minute))
	require.NoError(t, err)
	assert.Equal(t, 7, value)

	clock.SetTime(at("11:10:00"))
	_, _, err = get(at("11:10:01"))
	require.ErrorAs(t, err, &tooEarly, "a success is rounded up to the second")
	assert.Equal(t, at("11:10:01"), tooEarly.RetryAt)
}

func TestShared_FailureCounts(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(at("10:00:00"))
	shared := &Shared[string, int]{Interval: time.Minute, Clock: clock}
	reads := 0
	read := func(context.Context) (int, error) {
		reads++
		return 0, errors.New("unavailable")
	}
	for range 5 {
		_, _, err := shared.Get(t.Context(), "account", at("10:00:00"), read)
		require.EqualError(t, err, "unavailable")
	}
	assert.Equal(t, 1, reads)
	interrupted, cancel := context.WithCancel(t.Context())
	clock.SetTime(at("10:01:00"))
	_, _, err := shared.Get(interrupted, "account", time.Time{}, func(context.Context) (int, error) {
		cancel()
		return 0, interrupted.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
	value, _, err := shared.Get(t.Context(), "account", time.Time{}, func(context.Context) (int, error) { return 7, nil })
	require.NoError(t, err, "an interrupted read does not count")
	assert.Equal(t, 7, value)
}

func TestShared_ConcurrentCallersShareRead(t *testing.T) {
	shared := &Shared[int, int64]{Interval: time.Hour}
	var reads atomic.Int64
	var group sync.WaitGroup
	for n := range 100 {
		group.Go(func() {
			_, _, err := shared.Get(t.Context(), n%2, time.Time{}, func(context.Context) (int64, error) {
				time.Sleep(time.Millisecond)
				return reads.Add(1), nil
			})
			assert.NoError(t, err)
		})
	}
	group.Wait()
	assert.EqualValues(t, 2, reads.Load(), "one for each account")
}

func TestShared_ForgetsUnused(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(at("10:00:00"))
	shared := &Shared[string, int]{Interval: time.Minute, Clock: clock}
	for _, key := range []string{"old", "new"} {
		_, _, err := shared.Get(t.Context(), key, time.Time{}, func(context.Context) (int, error) { return 1, nil })
		require.NoError(t, err)
		clock.SetTime(clock.Now().Add(2 * time.Minute))
	}
	_, _, err := shared.Get(t.Context(), "new", time.Time{}, func(context.Context) (int, error) { return 1, nil })
	require.NoError(t, err)
	assert.Len(t, shared.entries, 1)
}
