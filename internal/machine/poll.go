package machine

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// LookUpTimeout bounds a look-up that several callers may share.
const LookUpTimeout = 2 * time.Minute

// LookUpDelayDivisor is the part of the poll interval for which a look-up waits for others: many machines are created at the same time, but requested one by
// one.
const LookUpDelayDivisor = 60

// MaxFailedPolls is how many polls may fail in a row, each of which the session has repeated.
const MaxFailedPolls = 4

// isTransient reports whether a repeated call may succeed.
func isTransient(err error) bool {
	kind := cloud.KindOf(err)
	return kind == cloud.Unavailable || kind == cloud.RateLimited
}

// Poll looks for servers until the condition is true for what it finds, at most with the given interval between two polls, and returns that. A few consecutive
// failures are tolerated. look returns what there is at a time after its call, and starts within maxWait, see Coalescer.Find. times are of the same kind of wait.
func Poll[T any](
	ctx context.Context, interval time.Duration, times *WaitTimes,
	look func(ctx context.Context, maxWait time.Duration) (T, error), done func(T) bool,
) (found T, err error) {
	wait := times.begin(interval)
	defer func() { wait.end(err == nil) }()
	for failures := 0; ; {
		found, err = look(ctx, wait.pause())
		switch {
		case err == nil && done(found):
			return found, nil
		case err == nil:
			failures = 0
			continue
		}
		if failures++; failures > MaxFailedPolls || ctx.Err() != nil || !isTransient(err) {
			var none T
			return none, err
		}
	}
}

// Shared calls look once for all concurrent callers with the same key. A caller that cancels does not affect others.
func Shared[T any](ctx context.Context, flights *singleflight.Group, key string, look func(context.Context) (T, error)) (T, error) {
	var none T
	flight := flights.DoChan(key, func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), LookUpTimeout)
		defer cancel()
		return look(detached)
	})
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case result := <-flight:
		value, _ := result.Val.(T)
		return value, result.Err
	}
}
