package contract

import (
	"context"
	"errors"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/truncate"
)

const (
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
)

// WaitUntil polls at once and then with growing pauses (0.2 s doubling to 5 s) until poll returns an empty reason, an error,
// or the context ends. A reason is a clause for a user, such as "router R has no external address yet"; it is part of the
// last operation's description while it waits. When the context ends, the error is transient and carries the last reason.
func WaitUntil(ctx context.Context, poll func(ctx context.Context) (reason string, err error)) error {
	handle, _ := ctx.Value(taskKey{}).(taskHandle)
	defer handle.waiting("")
	last := ""
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		reason, err := poll(ctx)
		if last != "" && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return waitEnded(ctx, last) // during a request
		}
		if err != nil || reason == "" {
			return err
		}
		last = truncate.Text(reason, truncate.MaxExternal)
		handle.waiting(last)
		select {
		case <-ctx.Done():
			return waitEnded(ctx, last)
		case <-time.After(pause):
		}
	}
}

func waitEnded(ctx context.Context, reason string) error {
	return cloud.Errorf(cloud.Unavailable, "gave up waiting, %s: %w", reason, context.Cause(ctx))
}

// taskKey is the context key of the task that a context belongs to.
type taskKey struct{}

// taskHandle reports the reason of a wait together with the name of its task. The zero value reports nothing.
type taskHandle struct {
	task     string
	activity *Activity
}

func (h taskHandle) waiting(reason string) { h.activity.wait(h.task, reason) }
