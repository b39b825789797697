package seeds

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// source provides credentials for seeds.
type source interface {
	// credentials returns the present credentials for a seed. former are those in use, nil if there are none or if they were rejected; they are
	// returned as they are if they are still right. The error is a noAccessError if an admin has to grant access.
	credentials(ctx context.Context, seed string, previous *credentials) (*credentials, error)
}

// noAccessError is the error if there are no credentials until an admin acts. It says what to do.
type noAccessError struct{ message string }

func (n *noAccessError) Error() string { return n.message }

// seedConnection is the connection to one seed.
type seedConnection struct {
	seed    string
	source  source
	options Options
	breaker *breaker
	// refreshLock is full while a caller makes or checks the connection.
	refreshLock chan struct{}
	state       atomic.Pointer[state]
}

// state is the state of a connection. It is replaced, never changed.
type state struct {
	session *session
	// cluster is nil until the version is known.
	cluster *Cluster
	// checkCredentialsAt is when the credentials are checked next, checkVersionAt when the version is.
	checkCredentialsAt, checkVersionAt time.Time
	// loginAt is the earliest time of the next login if the API server rejects the credentials.
	loginAt time.Time
}

func newSeedConnection(seed string, source source, options Options, metrics *metrics) *seedConnection {
	return &seedConnection{
		seed: seed, source: source, options: options, refreshLock: make(chan struct{}, 1),
		breaker: &breaker{seed: seed, clock: options.Clock, metrics: metrics},
	}
}

// connect returns the cluster. One caller at a time makes or checks the connection. Meanwhile the others use the former connection, or wait if there
// is none.
func (c *seedConnection) connect(ctx context.Context) (*Cluster, error) {
	if cluster, failure := c.cached(); failure != nil || cluster != nil {
		return cluster, errorOf(failure)
	}
	select {
	case c.refreshLock <- struct{}{}:
	default:
		if failure := c.breaker.openFailure(); failure != nil {
			return nil, failure
		}
		if s := c.state.Load(); c.usable(s) {
			return s.cluster, nil
		}
		select {
		case c.refreshLock <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the connection to seed %s: %w", c.seed, ctx.Err())
		}
	}
	defer func() { <-c.refreshLock }()
	if cluster, failure := c.cached(); failure != nil || cluster != nil { // another caller has made the connection
		return cluster, errorOf(failure)
	}
	return c.refresh(ctx)
}

// errorOf returns a nil interface for a nil pointer.
func errorOf(failure *Unreachable) error {
	if failure == nil {
		return nil
	}
	return failure
}

// cached returns the cluster or the failure if it is up to date, and neither otherwise.
func (c *seedConnection) cached() (*Cluster, *Unreachable) {
	if failure := c.breaker.blocked(); failure != nil {
		return nil, failure
	}
	s, now := c.state.Load(), c.options.Clock.Now()
	if c.usable(s) && c.breaker.openFailure() == nil && now.Before(s.checkCredentialsAt) && now.Before(s.checkVersionAt) {
		return s.cluster, nil
	}
	return nil, nil
}

// usable reports whether the connection can be used.
func (c *seedConnection) usable(s *state) bool {
	return s != nil && s.cluster != nil && !c.refused(s) && !s.session.credentials.expired(c.options.Clock.Now())
}

// refused reports whether another login is due because the API server rejects the credentials.
func (c *seedConnection) refused(s *state) bool {
	return s.session.refused.Load() && !c.options.Clock.Now().Before(s.loginAt)
}

// refresh checks the credentials and reads the version of the seed, as far as that is due. Rejected credentials are replaced, once. The caller must
// hold refreshLock.
func (c *seedConnection) refresh(ctx context.Context) (*Cluster, error) {
	s := c.state.Load()
	for again := false; ; again = true {
		next, err := c.checkCredentials(ctx, s)
		if err != nil {
			return nil, c.handleNoCredentials(ctx, err)
		}
		fresh := s == nil || next.session.credentials != s.session.credentials
		if next.cluster != nil && c.options.Clock.Now().Before(next.checkVersionAt) {
			c.setState(next)
			return next.cluster, nil
		}
		version, err := next.session.version(ctx)
		if apierrors.IsUnauthorized(err) && !fresh && !again {
			c.setState(next)
			s = next
			continue
		}
		return c.handleVersion(ctx, next, version, err)
	}
}

// checkCredentials returns a state with the present credentials.
func (c *seedConnection) checkCredentials(ctx context.Context, s *state) (*state, error) {
	next := &state{}
	var previous *credentials
	if s != nil {
		*next = *s
		if !c.refused(s) {
			previous = s.session.credentials
		}
	}
	found, err := c.readCredentials(ctx, previous)
	if err != nil {
		return nil, err
	}
	now := c.options.Clock.Now()
	if s != nil && previous == nil {
		next.loginAt = now.Add(credentialsCheckInterval)
	}
	// A connection that died unnoticed would be used for the next request, too. So a retry makes a new connection.
	if found != previous || c.breaker.openFailure() != nil {
		next.cluster = nil
		if next.session, err = newSession(found, c.breaker, c.options); err != nil {
			return nil, &noAccessError{fmt.Sprintf("%s is of no use: %v", found.source, err)}
		}
	}
	next.checkCredentialsAt = now.Add(credentialsCheckInterval)
	if at := found.renewAt; !at.IsZero() && !found.due(now) && at.Before(next.checkCredentialsAt) {
		next.checkCredentialsAt = at
	}
	return next, nil
}

// readCredentials reads the credentials from the source. If that fails temporarily, the former credentials stay in use.
func (c *seedConnection) readCredentials(ctx context.Context, previous *credentials) (*credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.RequestTimeout)
	defer cancel()
	found, err := c.source.credentials(ctx, c.seed, previous)
	if err == nil {
		return found, nil
	}
	if _, isNoAccess := errors.AsType[*noAccessError](err); isNoAccess || previous == nil || previous.expired(c.options.Clock.Now()) {
		return nil, err
	}
	return previous, nil
}

// handleNoCredentials returns the error when there are no credentials.
func (c *seedConnection) handleNoCredentials(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("looking for the way into seed %s: %w", c.seed, err)
	}
	if _, isNoAccess := errors.AsType[*noAccessError](err); isNoAccess {
		c.setState(nil)
	}
	// Only the text of the error is kept: NotFound of the garden's API server must not look like NotFound in the seed.
	return c.breaker.deny(errors.New(err.Error()))
}

// handleVersion stores the result of reading the version.
func (c *seedConnection) handleVersion(ctx context.Context, next *state, version string, err error) (*Cluster, error) {
	now := c.options.Clock.Now()
	if err == nil {
		next.cluster = &Cluster{Client: next.session.client, KubernetesVersion: version}
		next.checkVersionAt = now.Add(versionCheckInterval)
		c.setState(next)
		return next.cluster, nil
	}
	if apierrors.IsUnauthorized(err) {
		c.setState(nil)
		return nil, c.breaker.deny(next.session.credentials.rejectedError())
	}
	next.checkVersionAt = now.Add(credentialsCheckInterval)
	c.setState(next) // an unreachable seed is no reason to read the credentials again
	if failure, ok := errors.AsType[*Unreachable](err); ok {
		return nil, failure
	}
	var status apierrors.APIStatus
	answered := errors.As(err, &status)
	switch {
	case answered && next.cluster != nil:
		return next.cluster, nil
	case answered || ctx.Err() != nil:
		return nil, fmt.Errorf("asking seed %s for its version: %w", c.seed, err)
	}
	return nil, c.breaker.trip(err)
}

// setState replaces the state. Clients of the former connection remain usable.
func (c *seedConnection) setState(next *state) {
	previous := c.state.Swap(next)
	if previous != nil && (next == nil || next.session != previous.session) {
		previous.session.close()
	}
}
