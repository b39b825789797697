package machine

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Coalescer combines concurrent look-ups by name into one call. One call runs at a time, and the next call answers all callers that asked meanwhile. No caller
// gets a response of a call that started before its request. So the look-ups and polls of any number of machines cost as much as those of one or two.
type Coalescer[T any] struct {
	// List returns the objects with these names, of which there is at least one, from the cloud. It may return more.
	List func(ctx context.Context, names []string) ([]T, error)
	// NameOf returns the name of an object.
	NameOf func(T) string
	// Timeout bounds one call.
	Timeout time.Duration

	mu      sync.Mutex
	waiting []*lookup[T]
	running bool
	timer   *time.Timer
}

// lookup is the request of one caller.
type lookup[T any] struct {
	name string
	// notBefore is the earliest start of a call that may answer it, due the latest.
	notBefore, deadline time.Time
	// withdraw cancels the request. It is replaced when a call that answers it has started.
	withdraw func()
	result   chan lookupResult[T]
}

type lookupResult[T any] struct {
	found []T
	err   error
}

// Find returns all objects with the name at a time after the request. The call starts after maxWait at the latest, unless another one is still running, and after
// half of it if another caller has a shorter one. A cancelled request does not affect others.
func (g *Coalescer[T]) Find(ctx context.Context, name string, maxWait time.Duration) ([]T, error) {
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

// schedule schedules the next call for the first due request. The caller holds the lock.
func (g *Coalescer[T]) schedule() {
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

func (g *Coalescer[T]) onTimer() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.schedule()
}

// startCall starts the call for all due requests. It is cancelled when all of them are cancelled. The caller holds the lock.
func (g *Coalescer[T]) startCall() {
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
	ctx, cancel := context.WithTimeout(context.Background(), g.Timeout)
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
		objects, err := g.List(ctx, names)
		for _, q := range due {
			q.result <- lookupResult[T]{found: g.matching(objects, q.name), err: err}
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.running = false
		g.schedule()
	}()
}

func (g *Coalescer[T]) matching(objects []T, name string) []T {
	var found []T
	for _, object := range objects {
		if g.NameOf(object) == name {
			found = append(found, object)
		}
	}
	return found
}

// CommonPrefix returns the common prefix of all names.
func CommonPrefix(names []string) string {
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
