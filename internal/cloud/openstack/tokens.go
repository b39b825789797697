package openstack

import (
	"context"
	"sync"
	"time"
)

const (
	// renewalPause is the time between two attempts to renew a login that is still good.
	renewalPause = 30 * time.Second
	// replacementPause keeps a service that rejects every token from causing a login with every call.
	replacementPause = time.Minute
)

// tokenSource holds an account's login and renews it. However many callers need a new one at the same time, one request
// goes out, and it goes on when the caller that caused it gives up.
type tokenSource struct {
	login func(context.Context) (*login, error)

	mu      sync.Mutex
	current *login // nil before the first login
	renewAt time.Time
	pending *pendingLogin // nil while no login is under way
}

// pendingLogin is a login under way.
type pendingLogin struct {
	done chan struct{}
	err  error // to be read once done is closed
}

// valid returns a login that is good for now, and logs in if need be.
func (t *tokenSource) valid(ctx context.Context) (*login, error) {
	t.mu.Lock()
	if t.usable() && time.Now().Before(t.renewAt) {
		defer t.mu.Unlock()
		return t.current, nil
	}
	f := t.startLogin(ctx, false)
	t.mu.Unlock()

	err := f.wait(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil || t.usable() { // renewing is early enough to fail now and then
		return t.current, nil
	}
	return nil, err
}

// replace returns another login than the one that a service rejected, or the same when there is no point in a new one: a
// fresh replacement that nobody has accepted yet is not going to be mended by the next.
func (t *tokenSource) replace(ctx context.Context, rejected *login) (*login, error) {
	t.mu.Lock()
	if t.current != rejected {
		defer t.mu.Unlock()
		return t.current, nil
	}
	if rejected.replacement && !rejected.accepted.Load() && time.Since(rejected.at) < replacementPause {
		defer t.mu.Unlock()
		return rejected, nil
	}
	f := t.startLogin(ctx, true)
	t.mu.Unlock()

	if err := f.wait(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current, nil
}

// last returns the last login, expired or not, or nil before the first.
func (t *tokenSource) last() *login {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}

// neverLoggedIn reports whether no login ever succeeded and none is under way.
func (t *tokenSource) neverLoggedIn() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current == nil && t.pending == nil
}

// usable reports whether there is a login that has not expired. The caller holds the lock.
func (t *tokenSource) usable() bool { return t.current != nil && !t.current.expired(time.Now()) }

// startLogin joins the login under way or starts one. The caller holds the lock.
func (t *tokenSource) startLogin(ctx context.Context, replacement bool) *pendingLogin {
	if t.pending != nil {
		return t.pending
	}
	f := &pendingLogin{done: make(chan struct{})}
	t.pending = f
	go func() {
		fresh, err := t.login(context.WithoutCancel(ctx))
		t.mu.Lock()
		defer t.mu.Unlock()
		defer close(f.done)
		t.pending, f.err = nil, err
		if err != nil {
			t.renewAt = time.Now().Add(renewalPause)
			return
		}
		fresh.replacement = replacement
		t.current, t.renewAt = fresh, fresh.at.Add(fresh.renewAfter())
	}()
	return f
}

// wait waits for the login's end or the context's.
func (f *pendingLogin) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return unavailable(ctx.Err(), "waiting for the login")
	}
}
