package installationcontroller

import (
	"sync"
	"time"
)

const (
	// seedFraction limits the workers for one seed to a fraction of all workers, so that a slow or compromised seed does not block the others.
	seedFraction = 4
	// busyRequeueInterval is the minimum time until an installation is tried again whose seed has reached its limit of workers.
	busyRequeueInterval = time.Second
)

// seedLimiter counts the workers that are busy with each seed.
type seedLimiter struct {
	limit int

	mu   sync.Mutex
	busy map[string]int
}

func newSeedLimiter(workers int) *seedLimiter {
	return &seedLimiter{limit: max(workers/seedFraction, 1), busy: map[string]int{}}
}

// acquire reports whether another worker may reconcile an installation of the seed. If so, release must be called when it has finished.
func (s *seedLimiter) acquire(seed string) (release func(), acquired bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[seed] >= s.limit {
		return nil, false
	}
	s.busy[seed]++
	return func() { s.release(seed) }, true
}

func (s *seedLimiter) release(seed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[seed]--; s.busy[seed] == 0 {
		delete(s.busy, seed)
	}
}
