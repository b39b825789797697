// Package login keeps the logins of accounts: one login for all concurrent callers, renewed before it expires. It must not depend on a cloud, or on the
// protocol of a login.
package login

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud"
)

const (
	// renewalPause is the time between two attempts to renew a login that has not expired.
	renewalPause = 30 * time.Second
	// replacementPause keeps a service that rejects every login from causing a new one with each call.
	replacementPause = time.Minute
)

// Login is a successful login.
type Login[T any] struct {
	// Value is what the cloud has issued, e.g. a token.
	Value T
	// At is the time of the login by this machine's clock.
	At time.Time
	// Lifetime is the cloud's, so that the two clocks may differ.
	Lifetime time.Duration

	// replacement is true if a service rejected the previous login.
	replacement bool
	// accepted is true once a service accepted this one.
	accepted atomic.Bool
}

// New returns a login that happens now.
func New[T any](value T, lifetime time.Duration) *Login[T] {
	return &Login[T]{Value: value, At: time.Now(), Lifetime: lifetime}
}

// Accepted records that a service accepted the login.
func (l *Login[T]) Accepted() { l.accepted.Store(true) }

// expired reports whether the login cannot be used any more.
func (l *Login[T]) expired(now time.Time) bool { return now.Sub(l.At) >= l.Lifetime }

// renewAfter returns the age at which the login is renewed: when 5 minutes or a tenth of its lifetime are left, whichever is less.
func (l *Login[T]) renewAfter() time.Duration { return l.Lifetime - min(5*time.Minute, l.Lifetime/10) }

// Source keeps an account's login and renews it. However many callers need a new one at the same time, one request is made, which continues if the
// caller that caused it is canceled.
type Source[T any] struct {
	login func(context.Context) (*Login[T], error)

	mu      sync.Mutex
	current *Login[T] // nil before the first login
	renewAt time.Time
	pending *pending // nil unless a login is in progress
}

// pending is a login in progress.
type pending struct {
	done chan struct{}
	err  error // valid once done is closed
}

// NewSource returns a source without a login. login makes one request, and must be safe to repeat.
func NewSource[T any](login func(context.Context) (*Login[T], error)) *Source[T] {
	return &Source[T]{login: login}
}

// Valid returns a login that has not expired, and logs in if necessary.
func (s *Source[T]) Valid(ctx context.Context) (*Login[T], error) {
	s.mu.Lock()
	if s.usable() && time.Now().Before(s.renewAt) {
		defer s.mu.Unlock()
		return s.current, nil
	}
	p := s.start(ctx, false)
	s.mu.Unlock()

	err := p.wait(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || s.usable() { // the renewal is early enough to fail sometimes
		return s.current, nil
	}
	return nil, err
}

// Replace returns another login than the one that a service rejected, or the same if a new one is pointless: a recent replacement that no service has
// accepted yet.
func (s *Source[T]) Replace(ctx context.Context, rejected *Login[T]) (*Login[T], error) {
	s.mu.Lock()
	if s.current != rejected {
		defer s.mu.Unlock()
		return s.current, nil
	}
	if rejected.replacement && !rejected.accepted.Load() && time.Since(rejected.At) < replacementPause {
		defer s.mu.Unlock()
		return rejected, nil
	}
	p := s.start(ctx, true)
	s.mu.Unlock()

	if err := p.wait(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current, nil
}

// Last returns the last login, expired or not, or nil before the first.
func (s *Source[T]) Last() *Login[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// NeverLoggedIn reports whether no login has succeeded and none is in progress.
func (s *Source[T]) NeverLoggedIn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current == nil && s.pending == nil
}

// usable reports whether there is a login that has not expired. The caller holds the lock.
func (s *Source[T]) usable() bool { return s.current != nil && !s.current.expired(time.Now()) }

// start returns the login in progress, or starts one. The caller holds the lock.
func (s *Source[T]) start(ctx context.Context, replacement bool) *pending {
	if s.pending != nil {
		return s.pending
	}
	p := &pending{done: make(chan struct{})}
	s.pending = p
	go func() {
		fresh, err := s.login(context.WithoutCancel(ctx))
		s.mu.Lock()
		defer s.mu.Unlock()
		defer close(p.done)
		s.pending, p.err = nil, err
		if err != nil {
			s.renewAt = time.Now().Add(renewalPause)
			return
		}
		fresh.replacement = replacement
		s.current, s.renewAt = fresh, fresh.At.Add(fresh.renewAfter())
	}()
	return p
}

// wait waits for the end of the login or of the context.
func (p *pending) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return cloud.Errorf(cloud.Unavailable, "waiting for the login: %w", ctx.Err())
	}
}
