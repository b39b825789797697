package openstack

import (
	"context"
	"slices"
	"sync"
	"time"
)

// gathering lets many who each ask for what goes by one name share the calls that answer them. Of all that ask while a call is
// under way, the next call answers every one: nobody gets an answer from a call that began before the question, and there is
// never more than one call at a time. However many machines are being made, their look-ups and polls cost what those of one or two do.
type gathering[T any] struct {
	// list asks the cloud for what goes by these names, of which there is at least one. It may return more.
	list func(ctx context.Context, names []string) ([]T, error)
	// nameOf says by which name an object goes.
	nameOf func(T) string
	// timeout bounds one call.
	timeout time.Duration

	mu      sync.Mutex
	waiting []*question[T]
	running bool
	alarm   *time.Timer
}

// question is what one caller waits for.
type question[T any] struct {
	name string
	// ripe is from when on a call may answer it, due is when one has to.
	ripe, due time.Time
	// leave takes the question back. It is replaced when a call is on its way that answers it.
	leave  func()
	answer chan answer[T]
}

type answer[T any] struct {
	found []T
	err   error
}

// find returns all that goes by the name at a moment after the question. The call that answers it begins after patience at the latest,
// unless another is still under way then, and after half of it if somebody else is less patient. One who gives up does no harm to
// others.
func (g *gathering[T]) find(ctx context.Context, name string, patience time.Duration) ([]T, error) {
	now := time.Now()
	q := &question[T]{name: name, ripe: now.Add(patience / 2), due: now.Add(patience), answer: make(chan answer[T], 1)}
	q.leave = func() { g.waiting = slices.DeleteFunc(g.waiting, func(other *question[T]) bool { return other == q }) }
	g.mu.Lock()
	g.waiting = append(g.waiting, q)
	g.plan()
	g.mu.Unlock()
	select {
	case a := <-q.answer:
		return a.found, a.err
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		q.leave()
		return nil, ctx.Err()
	}
}

// plan sees to it that the next call begins when the first of those who wait wants it to. The caller holds the lock.
func (g *gathering[T]) plan() {
	if g.alarm != nil {
		g.alarm.Stop()
		g.alarm = nil
	}
	if g.running || len(g.waiting) == 0 {
		return
	}
	first := slices.MinFunc(g.waiting, func(a, b *question[T]) int { return a.due.Compare(b.due) })
	if wait := time.Until(first.due); wait > 0 {
		g.alarm = time.AfterFunc(wait, g.begin)
		return
	}
	g.ask()
}

func (g *gathering[T]) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.plan()
}

// ask sends the call that answers all questions that are ripe. It is given up when the last who asked has gone. The caller holds the lock.
func (g *gathering[T]) ask() {
	now := time.Now()
	var questions, green []*question[T]
	for _, q := range g.waiting {
		if q.ripe.After(now) {
			green = append(green, q)
		} else {
			questions = append(questions, q)
		}
	}
	g.waiting, g.running = green, true
	ctx, cancel := context.WithTimeout(context.Background(), g.timeout)
	left := len(questions)
	names := make([]string, 0, len(questions))
	for _, q := range questions {
		names = append(names, q.name)
		q.leave = func() {
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
		for _, q := range questions {
			q.answer <- answer[T]{found: g.named(objects, q.name), err: err}
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.running = false
		g.plan()
	}()
}

func (g *gathering[T]) named(objects []T, name string) []T {
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
