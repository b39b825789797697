package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/fleet"
)

const (
	// share is the part of the shoots that get a new flow with each fault, if they have none. Every recreated-th of these is deleted and created again.
	share, recreated = 0.2, 4
	// flowTimeout bounds a flow, with all faults meanwhile.
	flowTimeout = convergeTimeout
)

// traffic is what gardenlets do with shoots while faults are caused: flows, of which a shoot has one at a time.
type traffic struct {
	shoots []*fleet.Shoot
	random *rand.Rand
	flows  sync.WaitGroup

	mutex    sync.Mutex
	busy     map[*fleet.Shoot]bool
	failures []error
	started  int
}

func newTraffic(shoots []*fleet.Shoot, random *rand.Rand) *traffic {
	return &traffic{shoots: shoots, random: random, busy: map[*fleet.Shoot]bool{}}
}

// start starts flows of some shoots.
func (t *traffic) start(ctx context.Context) {
	for _, shoot := range t.idle() {
		t.started++
		if t.started%recreated == 0 {
			t.flow(ctx, shoot, recreate)
		} else {
			t.flow(ctx, shoot, reconcile)
		}
	}
}

// startAt starts flows of a gardenlet whose clock differs, and returns their number.
func (t *traffic) startAt(ctx context.Context, offset time.Duration) int {
	idle := t.idle()
	for _, shoot := range idle {
		t.flow(ctx, shoot, func(ctx context.Context, shoot *fleet.Shoot) error { return shoot.ReconcileAt(ctx, offset) })
	}
	return len(idle)
}

func recreate(ctx context.Context, shoot *fleet.Shoot) error {
	if err := shoot.Delete(ctx); err != nil {
		return err
	}
	return shoot.Create(ctx)
}

func reconcile(ctx context.Context, shoot *fleet.Shoot) error { return shoot.Reconcile(ctx) }

// idle returns some shoots without a flow, at least one if there is one.
func (t *traffic) idle() []*fleet.Shoot {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var idle []*fleet.Shoot
	wanted := max(1, int(share*float64(len(t.shoots))))
	for _, i := range t.random.Perm(len(t.shoots)) {
		if shoot := t.shoots[i]; len(idle) < wanted && !t.busy[shoot] {
			idle = append(idle, shoot)
		}
	}
	return idle
}

func (t *traffic) flow(ctx context.Context, shoot *fleet.Shoot, do func(context.Context, *fleet.Shoot) error) {
	t.mutex.Lock()
	t.busy[shoot] = true
	t.mutex.Unlock()
	t.flows.Go(func() {
		ctx, cancel := context.WithTimeoutCause(ctx, flowTimeout, fmt.Errorf("the flow of shoot %s took longer than %s", shoot.Name, flowTimeout))
		defer cancel()
		err := do(ctx, shoot)
		t.mutex.Lock()
		defer t.mutex.Unlock()
		delete(t.busy, shoot)
		if err != nil {
			t.failures = append(t.failures, err)
		}
	})
}

// running is the number of flows that have not ended.
func (t *traffic) running() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return len(t.busy)
}

// ended returns a channel that is closed when no flow is running.
func (t *traffic) ended() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		t.flows.Wait()
		close(ended)
	}()
	return ended
}

// errors returns the errors of all flows so far.
func (t *traffic) errors() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return errors.Join(t.failures...)
}
