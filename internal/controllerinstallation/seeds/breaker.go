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

// breaker keeps everybody from waiting for a seed that did not answer a moment ago. It opens with a failure, for a pause that doubles with each
// further one. When the pause is over, one may try, and the others go on failing until that one has an answer. Any answer closes it.
type breaker struct {
	seed    string
	clock   clock.PassiveClock
	metrics *metrics

	mu      sync.Mutex
	failure *Unreachable // nil while the breaker is closed
	backoff time.Duration
	until   time.Time
	probing bool
	// answers and trips are counted so that a request can tell what has become clear since it was sent.
	answers, trips uint64
	retired        bool
}

// openFailure returns the failure that keeps the breaker open, or nil when it is closed.
func (b *breaker) openFailure() *Unreachable {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failure
}

// blocked returns that failure too, but nil when it is time to try again.
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

// trip opens the breaker for a reason that no request has found.
func (b *breaker) trip(reason error) *Unreachable {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tripLocked(reason)
}

// deny opens the breaker since there is no access to the seed.
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
	b.until = b.clock.Now().Add(b.backoff - rand.N(b.backoff/5)) //nolint:gosec // jitter keeps no secret
	b.setReachable(false)
	return b.failure
}

func (b *breaker) setReachable(reachable bool) {
	if !b.retired {
		b.metrics.set(b.seed, reachable)
	}
}

// retire takes the seed out of the metrics for good, whatever requests that are still under way find out.
func (b *breaker) retire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.retired = true
	b.metrics.forget(b.seed)
}

// acquire asks for leave to send a request. It is given back by exactly one of answered, silent, excessive and abandoned; after answered, silent may
// follow.
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

// permit is the leave to send one request.
type permit struct {
	breaker        *breaker
	probe          bool
	answers, trips uint64
}

// answered says that the seed is there.
func (p *permit) answered() {
	b := p.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failure, b.backoff, b.probing = nil, 0, false
	b.answers++
	p.probe, p.answers, p.trips = false, b.answers, b.trips
	b.setReachable(true)
}

// unanswered says that nobody answered. That opens the breaker, unless others have got answers since the request was sent, or have found the same.
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

// tooLarge says that the answer was more than anybody can take. That opens the breaker whatever others have got: an API server that is what it should
// be does not do that.
func (p *permit) tooLarge(reason error) *Unreachable {
	b := p.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	p.endProbe()
	return b.tripLocked(reason)
}

// abandoned says that nothing has become known.
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
