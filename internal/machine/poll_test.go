package machine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/singleflight"

	"github.com/trellis-garden/trellis/internal/cloud"
)

func TestPoll(t *testing.T) {
	down := cloud.Errorf(cloud.Unavailable, "down")
	refused := cloud.Errorf(cloud.Unauthorized, "refused")
	for sentence, test := range map[string]struct {
		failures int // before the first success
		failure  error
		want     error
	}{
		"nothing fails":                 {},
		"it tolerates a few failures":   {failures: MaxFailedPolls, failure: down},
		"it gives up after too many":    {failures: MaxFailedPolls + 1, failure: down, want: down},
		"it gives up if it is refused":  {failures: 1, failure: refused, want: refused},
		"it gives up if it is too late": {failures: 1, failure: context.DeadlineExceeded, want: context.DeadlineExceeded},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				polls := 0
				found, err := Poll(t.Context(), time.Second, &WaitTimes{}, func(_ context.Context, maxWait time.Duration) (int, error) {
					time.Sleep(maxWait)
					if polls++; polls <= test.failures {
						return 0, test.failure
					}
					return polls, nil
				}, func(found int) bool { return found >= test.failures+2 })
				require.ErrorIs(t, err, test.want)
				if test.want == nil {
					require.Equal(t, test.failures+2, found)
				}
			})
		})
	}
}

func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var flights singleflight.Group
		calls := 0
		look := func(context.Context) (int, error) {
			calls++
			time.Sleep(time.Second)
			return 7, nil
		}
		shortCtx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		var group sync.WaitGroup
		group.Go(func() {
			_, err := Shared(shortCtx, &flights, "key", look)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
		for range 3 {
			group.Go(func() {
				found, err := Shared(t.Context(), &flights, "key", look)
				require.NoError(t, err)
				require.Equal(t, 7, found)
			})
		}
		group.Wait()
		require.Equal(t, 1, calls)
	})
}

func TestMemo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var memo Memo[int]
		_, ok := memo.Take("a")
		require.False(t, ok)
		memo.Put("a", 1)
		found, ok := memo.Take("a")
		require.True(t, ok)
		require.Equal(t, 1, found)
		_, ok = memo.Take("a")
		require.False(t, ok, "each is used once")
		memo.Put("a", 1)
		time.Sleep(memoTTL + time.Second)
		found, ok = memo.Take("a")
		require.False(t, ok, "it is outdated")
		require.Zero(t, found)
		memo.Put("b", 2)
		time.Sleep(memoTTL + time.Second)
		memo.Put("c", 3)
		require.Len(t, memo.entries, 1)
	})
}

func TestAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var accounts Accounts[string, *int]
		created := 0
		get := func(session string) *int {
			return accounts.Get(session, func() *int { created++; return &created })
		}
		get("a")
		get("a")
		require.Equal(t, 1, created)
		time.Sleep(accountTTL / 2)
		get("b")
		time.Sleep(accountTTL/2 + time.Second)
		get("b")
		require.Equal(t, 2, created)
		require.Len(t, accounts.accounts, 1, "what nobody uses is forgotten")
	})
}
