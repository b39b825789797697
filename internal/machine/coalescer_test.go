package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// testCoalescer is a coalescer whose calls take a second and return each name with the number of the call.
type testCoalescer struct {
	Coalescer[string]
	mu    sync.Mutex
	calls [][]string
	fail  error
}

func newTestCoalescer() *testCoalescer {
	a := &testCoalescer{}
	a.Timeout = time.Minute
	a.NameOf = func(s string) string { return s }
	a.List = func(ctx context.Context, names []string) ([]string, error) {
		a.mu.Lock()
		a.calls = append(a.calls, names)
		fail := a.fail
		a.mu.Unlock()
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return append(slices.Clone(names), "somebody else"), fail
	}
	return a
}

func TestCoalescer_SingleCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestCoalescer()
		started := time.Now()
		found, err := a.Find(t.Context(), "a", 0)
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, found)
		require.Equal(t, time.Second, time.Since(started))
		require.Equal(t, [][]string{{"a"}}, a.calls)
	})
}

func TestCoalescer_SharedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestCoalescer()
		var group sync.WaitGroup
		lookUp := func(name string) {
			group.Go(func() {
				found, err := a.Find(t.Context(), name, 0)
				require.NoError(t, err)
				require.Equal(t, []string{name}, found)
			})
		}
		lookUp("first")
		synctest.Wait()
		for i := range 100 {
			lookUp(fmt.Sprintf("machine-%d", i%50)) // duplicates are one request
		}
		group.Wait()
		require.Len(t, a.calls, 2, "those who came while the first call was under way must not be answered by it")
		require.Equal(t, []string{"first"}, a.calls[0])
		require.Len(t, a.calls[1], 50)
	})
}

func TestCoalescer_MaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestCoalescer()
		started := time.Now()
		var group sync.WaitGroup
		for i, maxWait := range []time.Duration{10 * time.Second, 5 * time.Second, 7 * time.Second} {
			group.Go(func() {
				_, err := a.Find(t.Context(), fmt.Sprint(i), maxWait)
				require.NoError(t, err)
			})
		}
		group.Wait()
		require.Equal(t, 6*time.Second, time.Since(started), "the least patient decides")
		require.Equal(t, [][]string{{"0", "1", "2"}}, a.calls)
	})
}

func TestCoalescer_HalfMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestCoalescer()
		var group sync.WaitGroup
		group.Go(func() { _, _ = a.Find(t.Context(), "patient", 10*time.Second) })
		time.Sleep(4 * time.Second)
		_, err := a.Find(t.Context(), "hurried", 0)
		require.NoError(t, err)
		_, err = a.Find(t.Context(), "later", 0)
		require.NoError(t, err)
		group.Wait()
		require.Equal(t, [][]string{{"hurried"}, {"later", "patient"}}, a.calls)
	})
}

func TestCoalescer_Error(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestCoalescer()
		a.fail = errors.New("no luck")
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				_, err := a.Find(t.Context(), "a", time.Second)
				require.ErrorIs(t, err, a.fail)
			})
		}
		group.Wait()
		a.fail = nil
		_, err := a.Find(t.Context(), "a", 0)
		require.NoError(t, err)
		require.Len(t, a.calls, 2)
	})
}

func TestCoalescer_CallerCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestCoalescer()
		shortCtx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var group sync.WaitGroup
		group.Go(func() {
			_, err := a.Find(shortCtx, "hasty", 0)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
		group.Go(func() {
			found, err := a.Find(t.Context(), "other", 0)
			require.NoError(t, err)
			require.Equal(t, []string{"other"}, found)
		})
		group.Wait()
	})
}

func TestCoalescer_AllCallersCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestCoalescer()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		_, err := a.Find(ctx, "a", 0)
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		a.mu.Lock()
		require.Len(t, a.calls, 1)
		a.mu.Unlock()
		started := time.Now()
		_, err = a.Find(t.Context(), "b", 0)
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(started), "the call before is not waited for")

		waiting, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		_, err = a.Find(waiting, "c", time.Minute)
		require.ErrorIs(t, err, context.Canceled)
		time.Sleep(2 * time.Minute)
		a.mu.Lock()
		defer a.mu.Unlock()
		require.Len(t, a.calls, 2, "nobody waits any more, so nobody is asked")
	})
}

func TestCommonPrefix(t *testing.T) {
	for want, names := range map[string][]string{
		"":       {"a", "b"},
		"ab":     {"ab", "abc", "abd"},
		"pool-z": {"pool-z1-x", "pool-z2-x"},
		"one":    {"one"},
	} {
		require.Equal(t, want, CommonPrefix(names))
	}
}
