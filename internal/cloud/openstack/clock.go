package openstack

import (
	"context"
	"time"
)

// Clock tells the time and waits. Tests bring their own.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error when it ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
