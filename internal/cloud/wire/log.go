package wire

import "sync"

type callLog struct {
	mu       sync.Mutex
	calls    Calls
	resets   int // incremented by each reset, so that a late end does not change a newer call
	inFlight int
	done     chan struct{} // closed when inFlight falls to zero; nil while it is zero
}

// logEntry identifies a call in the log.
type logEntry struct {
	Call
	resets int
}

func (l *callLog) begin(call Call) logEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight++
	if l.done == nil {
		l.done = make(chan struct{})
	}
	call.Seq, call.InFlight = len(l.calls)+1, l.inFlight
	l.calls = append(l.calls, call)
	return logEntry{Call: call, resets: l.resets}
}

func (l *callLog) end(t logEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.resets == l.resets {
		l.calls[t.Seq-1].Status = t.Status
	}
	if l.inFlight--; l.inFlight == 0 {
		close(l.done)
		l.done = nil
	}
}

// idle returns nil if no call is in flight, otherwise a channel that is closed then.
func (l *callLog) idle() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done
}
