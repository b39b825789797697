package controllerinstallation

import (
	"sync"
	"time"
)

const (
	// seedShare is the part of all workers that may be busy with one seed: a seed that is slow, or in other hands, leaves the rest to the others.
	seedShare = 4
	// busyPeriod is how long an installation waits at least whose seed has all workers that it may have.
	busyPeriod = time.Second
)

// shares counts how many workers are busy with each seed.
type shares struct {
	most int

	mu   sync.Mutex
	busy map[string]int
}

func newShares(workers int) *shares {
	return &shares{most: max(workers/seedShare, 1), busy: map[string]int{}}
}

// take reports whether another worker may turn to the seed. If so, release must be called when it has finished.
func (s *shares) take(seed string) (release func(), isFree bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[seed] >= s.most {
		return nil, false
	}
	s.busy[seed]++
	return func() { s.release(seed) }, true
}

func (s *shares) release(seed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[seed]--; s.busy[seed] == 0 {
		delete(s.busy, seed)
	}
}
