package installationcontroller

import (
	"sync"
	"time"
)

const (
	// seedFraction is the part of all workers that may be busy with one seed: a seed that is slow, or in other hands, leaves the rest to the others.
	seedFraction = 4
	// busyRequeueInterval is how long an installation waits at least whose seed has all workers that it may have.
	busyRequeueInterval = time.Second
)

// seedLimiter counts how many workers are busy with each seed.
type seedLimiter struct {
	limit int

	mu   sync.Mutex
	busy map[string]int
}

func newSeedLimiter(workers int) *seedLimiter {
	return &seedLimiter{limit: max(workers/seedFraction, 1), busy: map[string]int{}}
}

// acquire reports whether another worker may turn to the seed. If so, release must be called when it has finished.
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
