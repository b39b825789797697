package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// watchInterval is how soon the end of a program is noticed.
const watchInterval = time.Second

// watch cancels everything when something ends that must run until the end of the landscape. It is called when all of them have been started.
func (l *landscape) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := l.ended(); err != nil {
				cancel(err)
			}
		}
	}
}

// ended returns an error about what has ended by itself.
func (l *landscape) ended() error {
	failures := []error{l.garden.Ended()}
	for _, seed := range l.seeds {
		failures = append(failures, seed.Ended())
	}
	if err := context.Cause(l.nodesContext); err != nil {
		failures = append(failures, fmt.Errorf("the node or a stand-in of a seed has ended: %w", err))
	}
	if l.openStack != nil {
		failures = append(failures, l.openStack.Ended())
	}
	if l.admission != nil {
		select {
		case <-l.admission.Exited():
			failures = append(failures, errors.New("our admission has ended by itself"))
		default:
		}
	}
	return errors.Join(failures...)
}
