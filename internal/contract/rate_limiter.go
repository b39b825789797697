package contract

import (
	"cmp"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Retry is the pace of retries after a failed pass: a pause that starts at Base and doubles with each failure in a row up to
// Max. It is the same for all errors. What only a user can mend (a quota, a credential, a port in the way) is often mended
// within a minute, and gardenlet, which gives up on an error after a few, should then find it gone.
type Retry struct {
	// Base is the pause after the first failure; 0 means a second.
	Base time.Duration
	// Max bounds the pause; 0 means five minutes.
	Max time.Duration
}

func (r Retry) withDefaults() Retry {
	return Retry{Base: cmp.Or(r.Base, time.Second), Max: cmp.Or(r.Max, 5*time.Minute)}
}

// rateLimiter is the rate limiter of a controller's queue. It knows one thing more than the usual one: a cloud that asks to be left
// alone for a while is.
type rateLimiter struct {
	workqueue.TypedRateLimiter[reconcile.Request]
	maxDelay time.Duration

	mutex     sync.Mutex
	minDelays map[reconcile.Request]time.Duration
}

func newRateLimiter(retry Retry) *rateLimiter {
	return &rateLimiter{
		TypedRateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retry.Base, retry.Max),
		maxDelay:         retry.Max,
		minDelays:        map[reconcile.Request]time.Duration{},
	}
}

// setMinDelay makes the next pause of the request no shorter than asked, within the bounds.
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
	return max(minDelay, p.TypedRateLimiter.When(request))
}
