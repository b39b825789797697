package seeds

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// source tells how seeds are reached.
type source interface {
	// credentials returns how a seed is to be reached now. former are those in use, nil when there are none or when they are refused. They are
	// returned as they are when they are still right. When nothing will help but that somebody gives access, the error is a noAccessError.
	credentials(ctx context.Context, seed string, former *credentials) (*credentials, error)
}

// noAccessError is the error when there is no way into a seed until somebody acts. It says what to do.
type noAccessError struct{ message string }

func (n *noAccessError) Error() string { return n.message }

// line leads into one seed.
type line struct {
	seed    string
	source  source
	options Options
	breaker *breaker
	// turn is full while somebody makes or checks the connection.
	turn  chan struct{}
	state atomic.Pointer[state]
}

// state is what a line has. It is replaced, never changed.
type state struct {
	connection *connection
	// cluster is nil until the version is known.
	cluster *Cluster
	// lookAt is when the source is asked again, askAt when the version is.
	lookAt, askAt time.Time
	// loginAt is the earliest time of the next login when the API server refuses the credentials.
	loginAt time.Time
}

func newLine(seed string, source source, options Options, metrics *metrics) *line {
	return &line{
		seed: seed, source: source, options: options, turn: make(chan struct{}, 1),
		breaker: &breaker{seed: seed, clock: options.Clock, metrics: metrics},
	}
}

// to returns the cluster. One caller at a time makes or checks the connection. The others meanwhile take what is there, and wait when there is
// nothing.
func (l *line) to(ctx context.Context) (*Cluster, error) {
	if cluster, failure := l.settled(); failure != nil || cluster != nil {
		return cluster, errorOf(failure)
	}
	select {
	case l.turn <- struct{}{}:
	default:
		if failure := l.breaker.last(); failure != nil {
			return nil, failure
		}
		if s := l.state.Load(); l.usable(s) {
			return s.cluster, nil
		}
		select {
		case l.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the connection to seed %s: %w", l.seed, ctx.Err())
		}
	}
	defer func() { <-l.turn }()
	if cluster, failure := l.settled(); failure != nil || cluster != nil { // by those who were waited for
		return cluster, errorOf(failure)
	}
	return l.refresh(ctx)
}

// errorOf keeps nil what is nil.
func errorOf(failure *Unreachable) error {
	if failure == nil {
		return nil
	}
	return failure
}

// settled returns the cluster or the failure when nothing is to be done for it, and neither otherwise.
func (l *line) settled() (*Cluster, *Unreachable) {
	if failure := l.breaker.blocked(); failure != nil {
		return nil, failure
	}
	s, now := l.state.Load(), l.options.Clock.Now()
	if l.usable(s) && l.breaker.last() == nil && now.Before(s.lookAt) && now.Before(s.askAt) {
		return s.cluster, nil
	}
	return nil, nil
}

// usable reports whether work can be done with what is there.
func (l *line) usable(s *state) bool {
	return s != nil && s.cluster != nil && !l.refused(s) && !s.connection.credentials.expired(l.options.Clock.Now())
}

// refused reports whether another login is due because the API server does not accept the credentials.
func (l *line) refused(s *state) bool {
	return s.connection.refused.Load() && !l.options.Clock.Now().Before(s.loginAt)
}

// refresh looks how the seed is reached, and asks it for its version where that is due. Credentials that turn out to be refused are replaced, once.
// Only who has the turn may call it.
func (l *line) refresh(ctx context.Context) (*Cluster, error) {
	s := l.state.Load()
	for again := false; ; again = true {
		next, err := l.look(ctx, s)
		if err != nil {
			return nil, l.lost(ctx, err)
		}
		fresh := s == nil || next.connection.credentials != s.connection.credentials
		if next.cluster != nil && l.options.Clock.Now().Before(next.askAt) {
			l.keep(next)
			return next.cluster, nil
		}
		version, err := next.connection.version(ctx)
		if apierrors.IsUnauthorized(err) && !fresh && !again {
			l.keep(next)
			s = next
			continue
		}
		return l.conclude(ctx, next, version, err)
	}
}

// look returns a state with the credentials that are right now.
func (l *line) look(ctx context.Context, s *state) (*state, error) {
	next := &state{}
	var former *credentials
	if s != nil {
		*next = *s
		if !l.refused(s) {
			former = s.connection.credentials
		}
	}
	found, err := l.find(ctx, former)
	if err != nil {
		return nil, err
	}
	now := l.options.Clock.Now()
	if s != nil && former == nil {
		next.loginAt = now.Add(lookEvery)
	}
	// What has died without a word would be taken for the next request too. So whoever tries a seed again connects anew.
	if found != former || l.breaker.last() != nil {
		next.cluster = nil
		if next.connection, err = connect(found, l.breaker, l.options); err != nil {
			return nil, &noAccessError{fmt.Sprintf("%s is of no use: %v", found.source, err)}
		}
	}
	next.lookAt = now.Add(lookEvery)
	if at := found.renewAt; !at.IsZero() && !found.due(now) && at.Before(next.lookAt) {
		next.lookAt = at
	}
	return next, nil
}

// find asks the source. Former credentials outlive a source that has no answer.
func (l *line) find(ctx context.Context, former *credentials) (*credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, l.options.RequestTimeout)
	defer cancel()
	found, err := l.source.credentials(ctx, l.seed, former)
	if err == nil {
		return found, nil
	}
	if _, hopeless := errors.AsType[*noAccessError](err); hopeless || former == nil || former.expired(l.options.Clock.Now()) {
		return nil, err
	}
	return former, nil
}

// lost returns the error when there are no credentials.
func (l *line) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("looking for the way into seed %s: %w", l.seed, err)
	}
	if _, hopeless := errors.AsType[*noAccessError](err); hopeless {
		l.keep(nil)
	}
	// In words alone: what the garden's API server does not find is not what the caller looks for in the seed.
	return l.breaker.deny(errors.New(err.Error()))
}

// conclude keeps what has become clear.
func (l *line) conclude(ctx context.Context, next *state, version string, err error) (*Cluster, error) {
	now := l.options.Clock.Now()
	if err == nil {
		next.cluster = &Cluster{Client: next.connection.client, KubernetesVersion: version}
		next.askAt = now.Add(versionEvery)
		l.keep(next)
		return next.cluster, nil
	}
	if apierrors.IsUnauthorized(err) {
		l.keep(nil)
		return nil, l.breaker.deny(next.connection.credentials.rejected())
	}
	next.askAt = now.Add(lookEvery)
	l.keep(next) // credentials are not asked for again because of a seed that is away
	if failure, ok := errors.AsType[*Unreachable](err); ok {
		return nil, failure
	}
	var status apierrors.APIStatus
	answered := errors.As(err, &status)
	switch {
	case answered && next.cluster != nil:
		return next.cluster, nil
	case answered || ctx.Err() != nil:
		return nil, fmt.Errorf("asking seed %s for its version: %w", l.seed, err)
	}
	return nil, l.breaker.trip(err)
}

// keep replaces the state. Clients of the former connection go on for those who hold them.
func (l *line) keep(next *state) {
	former := l.state.Swap(next)
	if former != nil && (next == nil || next.connection != former.connection) {
		former.connection.close()
	}
}
