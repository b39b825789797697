package machine

import (
	"sync"
	"time"
)

// firstPauseDivisor is how many times shorter than the poll interval the first pause of a wait may be.
const firstPauseDivisor = 10

// WaitTimes are how long servers of an account take to be built, or to be deleted. They decide how soon the first poll of a server follows its request:
// the sooner, the quicker the cloud is.
type WaitTimes struct {
	mu sync.Mutex
	// typical is the moving average of the waits that have ended; 0 before the first.
	typical time.Duration
	running map[*wait]struct{}
}

// wait is the wait for one server.
type wait struct {
	times    *WaitTimes
	started  time.Time
	next     time.Duration
	interval time.Duration
}

// begin begins a wait with at most the given interval between polls.
func (w *WaitTimes) begin(interval time.Duration) *wait {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, usual := time.Now(), w.typical
	if usual == 0 { // a slow cloud is known before the first wait ends
		for other := range w.running {
			usual = max(usual, now.Sub(other.started))
		}
	}
	begun := &wait{times: w, started: now, interval: interval, next: min(max(usual/2, interval/firstPauseDivisor), interval)}
	if w.running == nil {
		w.running = map[*wait]struct{}{}
	}
	w.running[begun] = struct{}{}
	return begun
}

// pause returns the pause before the next poll. Pauses double until they are as long as the interval.
func (x *wait) pause() time.Duration {
	pause := x.next
	x.next = min(2*x.next, x.interval)
	return pause
}

// end ends the wait. Only a completed one tells how long the cloud takes.
func (x *wait) end(completed bool) {
	const weight = 4 // of the average, against one for the new value
	x.times.mu.Lock()
	defer x.times.mu.Unlock()
	delete(x.times.running, x)
	took := time.Since(x.started)
	switch {
	case !completed:
	case x.times.typical == 0:
		x.times.typical = took
	default:
		x.times.typical = (weight*x.times.typical + took) / (weight + 1)
	}
}
