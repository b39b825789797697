package openstack

import (
	"context"
	"slices"
	"sync"
	"time"
)

// coalescer lets many who each ask for what goes by one name share the calls that answer them. Of all that ask while a call is
// under way, the next call answers every one: nobody gets an answer from a call that began before the question, and there is
// never more than one call at a time. However many machines are being made, their look-ups and polls cost what those of one or two do.
type coalescer[T any] struct {
	// list asks the cloud for what goes by these names, of which there is at least one. It may return more.
	list func(ctx context.Context, names []string) ([]T, error)
	// nameOf says by which name an object goes.
	nameOf func(T) string
	// timeout bounds one call.
	timeout time.Duration

	mu      sync.Mutex
	waiting []*lookup[T]
	running bool
	timer   *time.Timer
}

// lookup is what one caller waits for.
type lookup[T any] struct {
	name string
	// notBefore is from when on a call may answer it, due is when one has to.
	notBefore, deadline time.Time
	// withdraw takes the question back. It is replaced when a call is on its way that answers it.
	withdraw func()
	result   chan lookupResult[T]
}

type lookupResult[T any] struct {
	found []T
	err   error
}

// find returns all that goes by the name at a moment after the question. The call that answers it begins after patience at the latest,
// unless another is still under way then, and after half of it if somebody else is less patient. One who gives up does no harm to
// others.
func (g *coalescer[T]) find(ctx context.Context, name string, maxWait time.Duration) ([]T, error) {
	now := time.Now()
	q := &lookup[T]{name: name, notBefore: now.Add(maxWait / 2), deadline: now.Add(maxWait), result: make(chan lookupResult[T], 1)}
	q.withdraw = func() { g.waiting = slices.DeleteFunc(g.waiting, func(other *lookup[T]) bool { return other == q }) }
	g.mu.Lock()
	g.waiting = append(g.waiting, q)
	g.schedule()
	g.mu.Unlock()
	select {
	case a := <-q.result:
		return a.found, a.err
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		q.withdraw()
		return nil, ctx.Err()
	}
}

// schedule sees to it that the next call begins when the first of those who wait wants it to. The caller holds the lock.
func (g *coalescer[T]) schedule() {
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	if g.running || len(g.waiting) == 0 {
		return
	}
	first := slices.MinFunc(g.waiting, func(a, b *lookup[T]) int { return a.deadline.Compare(b.deadline) })
	if wait := time.Until(first.deadline); wait > 0 {
		g.timer = time.AfterFunc(wait, g.onTimer)
		return
	}
	g.startCall()
}

func (g *coalescer[T]) onTimer() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.schedule()
}

// startCall sends the call that answers all questions that are ripe. It is given up when the last who asked has gone. The caller holds the lock.
func (g *coalescer[T]) startCall() {
	now := time.Now()
	var due, pending []*lookup[T]
	for _, q := range g.waiting {
		if q.notBefore.After(now) {
			pending = append(pending, q)
		} else {
			due = append(due, q)
		}
	}
	g.waiting, g.running = pending, true
	ctx, cancel := context.WithTimeout(context.Background(), g.timeout)
	left := len(due)
	names := make([]string, 0, len(due))
	for _, q := range due {
		names = append(names, q.name)
		q.withdraw = func() {
			if left--; left == 0 {
				cancel()
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	go func() {
		defer cancel()
		objects, err := g.list(ctx, names)
		for _, q := range due {
			q.result <- lookupResult[T]{found: g.matching(objects, q.name), err: err}
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.running = false
		g.schedule()
	}()
}

func (g *coalescer[T]) matching(objects []T, name string) []T {
	var found []T
	for _, object := range objects {
		if g.nameOf(object) == name {
			found = append(found, object)
		}
	}
	return found
}

// commonPrefix returns what all names begin with.
func commonPrefix(names []string) string {
	prefix := names[0]
	for _, name := range names[1:] {
		length := 0
		for length < min(len(prefix), len(name)) && prefix[length] == name[length] {
			length++
		}
		prefix = prefix[:length]
	}
	return prefix
}
