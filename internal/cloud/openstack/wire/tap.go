package wire

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Tap sits where calls arrive at a cloud: it logs them and does to them what its dials say. The zero value is ready for
// use and must not be copied. All methods are safe for concurrent use, and the dials may be turned at any time.
type Tap struct {
	log   callLog
	dials dials
}

// Carry takes a call from its arrival to its answer: log, wait, fail if told so, take effect, answer. Of the call, the
// fields Service, Method, Path and Query are read.
//
// The effect is what the cloud does. It takes place at most once, and then wholly: neither Carry nor a client that goes
// away cuts it short. Refuse puts an injected error into the words of the service.
func (t *Tap) Carry(w http.ResponseWriter, call Call, effect func() Answer, refuse func(*Error) Answer) {
	at := t.log.begin(call)
	defer func() { t.log.end(at) }()
	fault, delay := t.dials.strike(at.Call)
	<-time.After(delay) // not cut short when the client goes: what is sent takes effect

	if t.dials.tell(Event{Phase: Before, Call: at.Call}) == Cut || fault.Drop == DropBefore {
		cut(w)
		return
	}
	refusal := fault.refusal()
	var answer Answer
	if refusal == nil || fault.AfterEffect {
		answer = effect()
		at.Status = answer.Status
		if t.dials.tell(Event{Phase: After, Call: at.Call}) == Cut || fault.Drop == DropAfter {
			cut(w)
			return
		}
	}
	if refusal != nil {
		answer = refuse(refusal)
	}
	at.Status = answer.Status
	answer.Write(w)
}

// Log returns a copy of the calls since the last reset. A call is in it from its arrival on, with status 0 until its end.
func (t *Tap) Log() Calls {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	return slices.Clone(t.log.calls)
}

// ResetLog empties the call log.
func (t *Tap) ResetLog() {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	t.log.calls, t.log.epoch = nil, t.log.epoch+1
}

// Logins counts the logins since the last reset.
func (t *Tap) Logins() int { return t.Log().Logins() }

// WaitIdle returns once no call is in flight: what a killed client sent has then taken effect.
func (t *Tap) WaitIdle(ctx context.Context) error {
	for {
		idle := t.log.idle()
		if idle == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for calls in flight: %w", ctx.Err())
		case <-idle:
		}
	}
}

// Inject arms a fault. The returned function tells how many calls it has struck so far.
func (t *Tap) Inject(f Fault) (struck func() int) {
	a := &armed{Fault: f}
	t.dials.mu.Lock()
	defer t.dials.mu.Unlock()
	t.dials.faults = append(t.dials.faults, a)
	return func() int {
		t.dials.mu.Lock()
		defer t.dials.mu.Unlock()
		return a.struck
	}
}

// ClearFaults disarms all faults.
func (t *Tap) ClearFaults() {
	t.dials.mu.Lock()
	defer t.dials.mu.Unlock()
	t.dials.faults = nil
}

// Faults returns the armed faults.
func (t *Tap) Faults() []Fault {
	t.dials.mu.Lock()
	defer t.dials.mu.Unlock()
	var out []Fault
	for _, f := range t.dials.faults {
		out = append(out, f.Fault)
	}
	return out
}

// SetLatency makes every call wait so long before its effect.
func (t *Tap) SetLatency(d time.Duration) {
	t.dials.mu.Lock()
	defer t.dials.mu.Unlock()
	t.dials.latency = d
}

// SetHook installs the hook, or removes it when nil.
func (t *Tap) SetHook(h Hook) {
	t.dials.mu.Lock()
	defer t.dials.mu.Unlock()
	t.dials.hook = h
}
