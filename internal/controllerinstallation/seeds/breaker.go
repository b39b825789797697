package seeds

import (
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	initialBackoff = time.Second
	maxBackoff     = time.Minute
)

// breaker is a circuit breaker: it fails requests at once while a seed does not respond. It opens with a failure, for a pause that doubles with each
// further failure. After the pause one request is let through, and the others fail until that one has a response. Any response closes the breaker.
type breaker struct {
	seed    string
	clock   clock.PassiveClock
	metrics *metrics

	mu      sync.Mutex
	failure *Unreachable // nil while the breaker is closed
	backoff time.Duration
	until   time.Time
	probing bool
	// answers and trips are counted so that a request can tell what has happened since it was sent.
	answers, trips uint64
	retired        bool
}

// openFailure returns the failure that keeps the breaker open, or nil if it is closed.
func (b *breaker) openFailure() *Unreachable {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failure
}

// blocked returns that failure, but nil when the pause is over.
func (b *breaker) blocked() *Unreachable {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.blockedLocked()
}

func (b *breaker) blockedLocked() *Unreachable {
	if b.failure != nil && (b.probing || b.clock.Now().Before(b.until)) {
		return b.failure
	}
	return nil
}

// trip opens the breaker for a reason that is not the failure of a request.
func (b *breaker) trip(reason error) *Unreachable {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tripLocked(reason)
}

// deny opens the breaker because there are no credentials for the seed.
func (b *breaker) deny(reason error) *Unreachable {
	b.mu.Lock()
	defer b.mu.Unlock()
	failure := b.tripLocked(reason)
	failure.NoAccess = true
	return failure
}

func (b *breaker) tripLocked(reason error) *Unreachable {
	b.trips++
	b.failure = &Unreachable{Seed: b.seed, Err: reason}
	b.backoff = min(max(2*b.backoff, initialBackoff), maxBackoff)
	b.until = b.clock.Now().Add(b.backoff - rand.N(b.backoff/5)) //nolint:gosec // jitter is not security relevant
	b.setReachable(false)
	return b.failure
}

func (b *breaker) setReachable(reachable bool) {
	if !b.retired {
		b.metrics.set(b.seed, reachable)
	}
}

// retire removes the seed from the metrics. Results of pending requests do not add it again.
func (b *breaker) retire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.retired = true
	b.metrics.forget(b.seed)
}

// acquire returns a permit to send a request. It is released by exactly one of answered, unanswered, tooLarge and abandoned; unanswered may follow
// answered.
func (b *breaker) acquire() (*permit, *Unreachable) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if failure := b.blockedLocked(); failure != nil {
		return nil, failure
	}
	p := &permit{breaker: b, probe: b.failure != nil, answers: b.answers, trips: b.trips}
	b.probing = b.probing || p.probe
	return p, nil
}

// permit is the permission to send one request.
type permit struct {
	breaker        *breaker
	probe          bool
	answers, trips uint64
}

// answered records a response of the seed.
func (p *permit) answered() {
	b := p.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failure, b.backoff, b.probing = nil, 0, false
	b.answers++
	p.probe, p.answers, p.trips = false, b.answers, b.trips
	b.setReachable(true)
}

// unanswered records that there was no response. That opens the breaker, unless other requests have had a response, or have opened it, since this one was sent.
func (p *permit) unanswered(reason error) *Unreachable {
	b := p.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	p.endProbe()
	if p.answers != b.answers || p.trips != b.trips {
		return &Unreachable{Seed: b.seed, Err: reason}
	}
	return b.tripLocked(reason)
}

// tooLarge records a response that exceeds the limits. That opens the breaker regardless of other requests, since no genuine API server sends such a
// response.
func (p *permit) tooLarge(reason error) *Unreachable {
	b := p.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	p.endProbe()
	return b.tripLocked(reason)
}

// abandoned records that the request had no result.
func (p *permit) abandoned() {
	p.breaker.mu.Lock()
	defer p.breaker.mu.Unlock()
	p.endProbe()
}

func (p *permit) endProbe() {
	if p.probe {
		p.probe, p.breaker.probing = false, false
	}
}
