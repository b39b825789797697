package contract

import (
	"cmp"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Retry is the backoff after a failed reconciliation: a delay that starts at Base and doubles with each consecutive failure up
// to Max. It is the same for all errors. What only a user can resolve (a quota, a credential, a blocking port) is often
// resolved within a minute, and gardenlet, which gives up on an error after a few minutes, should then find it gone.
type Retry struct {
	// Base is the delay after the first failure; 0 means a second.
	Base time.Duration
	// Max bounds the delay; 0 means five minutes.
	Max time.Duration
}

func (r Retry) withDefaults() Retry {
	return Retry{Base: cmp.Or(r.Base, time.Second), Max: cmp.Or(r.Max, 5*time.Minute)}
}

// rateLimiter is the rate limiter of a controller's queue. In addition to the usual backoff it respects the delay that a cloud
// requests.
type rateLimiter struct {
	workqueue.TypedRateLimiter[reconcile.Request]
	maxDelay time.Duration
	// decided is called with each delay.
	decided func(reconcile.Request, time.Duration)

	mutex     sync.Mutex
	minDelays map[reconcile.Request]time.Duration
}

func newRateLimiter(retry Retry, decided func(reconcile.Request, time.Duration)) *rateLimiter {
	return &rateLimiter{
		decided:          decided,
		TypedRateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retry.Base, retry.Max),
		maxDelay:         retry.Max,
		minDelays:        map[reconcile.Request]time.Duration{},
	}
}

// setMinDelay sets a lower bound for the next delay of the request, up to Max.
func (p *rateLimiter) setMinDelay(request reconcile.Request, pause time.Duration) {
	if pause <= 0 {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.minDelays[request] = min(pause, p.maxDelay)
}

// When implements workqueue.TypedRateLimiter.
func (p *rateLimiter) When(request reconcile.Request) time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	minDelay := p.minDelays[request]
	delete(p.minDelays, request)
	delay := max(minDelay, p.TypedRateLimiter.When(request))
	p.decided(request, delay)
	return delay
}
