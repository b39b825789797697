package contract

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
)

func TestGraph(t *testing.T) {
	t.Run("a step runs after those it depends on, and a skipped one holds nobody up", func(t *testing.T) {
		var mutex sync.Mutex
		var order []string
		step := func(name string) func(context.Context) error {
			return func(context.Context) error {
				mutex.Lock()
				defer mutex.Unlock()
				order = append(order, name)
				return nil
			}
		}
		g := NewGraph("test")
		a := g.Add(Task{Name: "a", Do: step("a")})
		b := g.Add(Task{Name: "b", Do: step("b"), SkipIf: true, After: []TaskID{a}})
		g.Add(Task{Name: "c", Do: step("c"), After: []TaskID{b}})
		require.NoError(t, g.Run(t.Context(), logr.Discard(), nil))
		assert.Equal(t, []string{"a", "c"}, order)
	})
	t.Run("the error joins those of all failed steps with their kinds, and what depends on them does not run", func(t *testing.T) {
		g := NewGraph("test")
		a := g.Add(Task{Name: "ensuring network", Do: func(context.Context) error { return cloud.Errorf(cloud.QuotaExceeded, "no network left") }})
		g.Add(Task{Name: "ensuring key pair", Do: func(context.Context) error { return errors.New("broken") }})
		g.Add(Task{Name: "ensuring subnet", Do: func(context.Context) error { panic("must not run") }, After: []TaskID{a}})
		err := g.Run(t.Context(), logr.Discard(), nil)
		require.EqualError(t, err, "ensuring network: no network left\nensuring key pair: broken")
		assert.Equal(t, cloud.QuotaExceeded, cloud.KindOf(err))
	})
	t.Run("a panic becomes an error that keeps its stack for the log", func(t *testing.T) {
		g := NewGraph("test")
		g.Add(Task{Name: "a", Do: func(context.Context) error { panic("boom") }})
		err := g.Run(t.Context(), logr.Discard(), nil)
		contained, ok := errors.AsType[*panicError](err)
		require.True(t, ok)
		assert.Contains(t, err.Error(), "boom")
		assert.Contains(t, string(contained.stack), "graph_test.go")
	})
	t.Run("a cancelled context is reported as such", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		g := NewGraph("test")
		a := g.Add(Task{Name: "a", Do: func(context.Context) error { cancel(); return nil }})
		g.Add(Task{Name: "b", Do: func(context.Context) error { return nil }, After: []TaskID{a}})
		require.ErrorIs(t, g.Run(ctx, logr.Discard(), nil), context.Canceled)
	})
	t.Run("an empty graph is done at once", func(t *testing.T) {
		require.NoError(t, NewGraph("test").Run(t.Context(), logr.Discard(), nil))
	})
	t.Run("the engine's own lines are neither errors nor at the default verbosity", func(t *testing.T) {
		var lines []string
		log := funcr.New(func(prefix, args string) { lines = append(lines, prefix+args) }, funcr.Options{})
		g := NewGraph("test")
		g.Add(Task{Name: "a", Do: func(context.Context) error { return errors.New("broken") }})
		require.Error(t, g.Run(t.Context(), log, nil))
		assert.Empty(t, lines)
	})
}

func TestActivity(t *testing.T) {
	t.Run("progress counts the steps done of those planned, and says what is at work and what it waits for", func(t *testing.T) {
		activity := NewActivity(nil)
		var progress int32
		var description string
		g := NewGraph("test")
		a := g.Add(Task{Name: "ensuring router", Do: func(context.Context) error { return nil }})
		g.Add(Task{Name: "skipped", SkipIf: true, Do: func(context.Context) error { return nil }})
		g.Add(Task{Name: "ensuring interface", After: []TaskID{a}, Do: func(ctx context.Context) error {
			polls := 0
			return WaitUntil(ctx, func(context.Context) (string, error) {
				if polls++; polls == 1 {
					return "router R has no external address yet", nil
				}
				progress, description = activity.Snapshot()
				return "", nil
			})
		}})
		require.NoError(t, g.Run(t.Context(), logr.Discard(), activity))
		assert.Equal(t, int32(50), progress)
		assert.Equal(t, "ensuring interface (router R has no external address yet)", description)
		progress, description = activity.Snapshot()
		assert.Equal(t, int32(99), progress, "the rest belongs to the final status")
		assert.Empty(t, description)
	})
	t.Run("progress does not fall when a second graph begins", func(t *testing.T) {
		activity := NewActivity(nil)
		activity.begin(2)
		activity.finish("a", true)
		reached, _ := activity.Snapshot()
		activity.begin(10)
		again, _ := activity.Snapshot()
		assert.Equal(t, reached, again)
	})
}

func TestWaitUntil(t *testing.T) {
	t.Run("it returns at once when there is nothing to wait for", func(t *testing.T) {
		polls := 0
		require.NoError(t, WaitUntil(t.Context(), func(context.Context) (string, error) { polls++; return "", nil }))
		assert.Equal(t, 1, polls)
	})
	t.Run("an error ends it", func(t *testing.T) {
		broken := errors.New("broken")
		require.ErrorIs(t, WaitUntil(t.Context(), func(context.Context) (string, error) { return "why", broken }), broken)
	})
	t.Run("when the time is over the error is transient and says what was waited for", func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("the operation took too long"))
		defer cancel()
		err := WaitUntil(ctx, func(context.Context) (string, error) { return "router R has no address", nil })
		require.EqualError(t, err, "gave up waiting, router R has no address: the operation took too long")
		assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
	})
	t.Run("the last reason is in the error if the context ends during a poll", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		polls := 0
		err := WaitUntil(ctx, func(ctx context.Context) (string, error) {
			if polls++; polls == 1 {
				return "router R has no address", nil
			}
			cancel()
			return "", fmt.Errorf("reading router R: %w", ctx.Err())
		})
		assert.EqualError(t, err, "gave up waiting, router R has no address: context canceled")
		assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
	})
}
