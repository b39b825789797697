package observer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// TooEarlyError postpones an observation: what it needs may be read again at RetryAt.
type TooEarlyError struct{ RetryAt time.Time }

// Error implements error.
func (e *TooEarlyError) Error() string {
	return "the next wave of reads is at " + e.RetryAt.UTC().Format(time.RFC3339)
}

// Shared keeps values that objects share, such as the resources of a cloud's account: for each key, at most one value is read in an interval, however many
// objects ask. Concurrent callers wait for one read. It is safe for concurrent use.
type Shared[K comparable, V any] struct {
	// Interval is the shortest time between two reads of a key; required.
	Interval time.Duration
	// Clock is the real one when nil.
	Clock clock.PassiveClock

	mutex   sync.Mutex
	entries map[K]*entry[V]
}

// entry is the last value of one key.
type entry[V any] struct {
	reading sync.Mutex // held during a read
	asked   time.Time  // guarded by the mutex of Shared
	begun   time.Time
	value   V
	err     error
}

// Get returns the value of a key that was read after since, and the time at which that read began. It returns a TooEarlyError if the last read is older, but
// not by the interval. A failed read counts like any other, so that a cloud that fails is not asked more often.
func (s *Shared[K, V]) Get(ctx context.Context, key K, since time.Time, read func(context.Context) (V, error)) (V, time.Time, error) {
	var none V
	e := s.entry(key)
	e.reading.Lock()
	defer e.reading.Unlock()
	now := s.now()
	if !e.begun.IsZero() && now.Sub(e.begun) < s.Interval {
		switch {
		case e.err != nil:
			return none, e.begun, e.err
		case e.begun.Before(since):
			return none, e.begun, &TooEarlyError{RetryAt: e.begun.Add(s.Interval)}
		default:
			return e.value, e.begun, nil
		}
	}
	if now.Before(since) {
		return none, now, &TooEarlyError{RetryAt: since}
	}
	if err := ctx.Err(); err != nil {
		return none, now, fmt.Errorf("waiting for another read: %w", err)
	}
	e.begun = now
	e.value, e.err = read(ctx)
	if ctx.Err() != nil {
		e.begun = time.Time{} // it was interrupted, and says nothing about the cloud
	}
	return e.value, now, e.err
}

// entry returns the entry of a key, and removes those that nobody has asked for in a long time.
func (s *Shared[K, V]) entry(key K) *entry[V] {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := s.now()
	for other, e := range s.entries {
		if now.Sub(e.asked) > 2*s.Interval {
			delete(s.entries, other)
		}
	}
	if s.entries == nil {
		s.entries = map[K]*entry[V]{}
	}
	e, found := s.entries[key]
	if !found {
		e = &entry[V]{}
		s.entries[key] = e
	}
	e.asked = now
	return e
}

func (s *Shared[K, V]) now() time.Time {
	if s.Clock == nil {
		return time.Now()
	}
	return s.Clock.Now()
}
