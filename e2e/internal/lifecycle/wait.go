package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// interval is how often a condition is looked at.
	interval = time.Second
	// lookInterval is how often a wait looks whether all controllers are there.
	lookInterval = 15 * time.Second
	// missingLimit is how long a controller may be missing in a wait before the wait fails.
	missingLimit = 3 * time.Minute
	// progressInterval is how often the progress of a wait is printed at most.
	progressInterval = 5 * time.Second
)

// await waits until check returns no error. Its text is the progress. The wait fails at the end of the context, or when one of our controllers is
// missing for long, and names it.
func (r *run) await(ctx context.Context, what string, check func(context.Context) (progress string, err error)) error {
	begin, printed, looked, missingSince := r.now(), r.now(), r.now(), time.Time{}
	var shown string
	var missing []string
	last := errors.New("not looked yet")
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		progress, err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		now := r.now()
		if progress != shown && now.Sub(printed) >= progressInterval {
			r.linef("    %4.0f s  %s", now.Sub(begin).Seconds(), progress)
			shown, printed = progress, now
		}
		if now.Sub(looked) >= lookInterval {
			looked = now
			missing = r.missing(ctx)
			if len(missing) == 0 {
				missingSince = time.Time{}
			} else if missingSince.IsZero() {
				missingSince = now
			}
		}
		if !missingSince.IsZero() && now.Sub(missingSince) >= missingLimit {
			return fmt.Errorf("gave up waiting for %s after %s: %s; last: %w", what, now.Sub(begin).Round(time.Second), strings.Join(missing, "; "), last)
		}
		select {
		case <-ctx.Done():
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookInterval)
			defer cancel()
			reasons := append(r.missing(late), r.extensionErrors(late)...)
			if len(reasons) > 0 {
				last = fmt.Errorf("%w (%s)", last, strings.Join(reasons, "; "))
			}
			return fmt.Errorf("waiting for %s: %w; last: %w", what, context.Cause(ctx), last)
		case <-tick.C:
		}
	}
}
