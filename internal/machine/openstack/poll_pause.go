package openstack

import (
	"sync"
	"time"
)

// maxFirstPolls is how much shorter than the poll interval the first pause of a wait may be.
const maxFirstPolls = 10

// waitTimes are how long servers of an account take to be built, or to be deleted. They decide how soon the first poll of a server follows its request:
// a cloud that is quick is asked soon, and one that takes minutes not in vain.
type waitTimes struct {
	mu sync.Mutex
	// typical is the moving average of the last waits; 0 before the first has ended.
	typical time.Duration
}

// add records a wait that has ended.
func (w *waitTimes) add(took time.Duration) {
	const weight = 4 // of the average, against one for the new value
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.typical == 0 {
		w.typical = took
		return
	}
	w.typical = (weight*w.typical + took) / (weight + 1)
}

// pauses returns the pauses before the polls of one server. They double until they are as long as the interval.
func (w *waitTimes) pauses(interval time.Duration) func() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := min(max(w.typical/2, interval/maxFirstPolls), interval)
	return func() time.Duration {
		pause := next
		next = min(2*next, interval)
		return pause
	}
}
