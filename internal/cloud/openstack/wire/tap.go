package wire

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Tap sits where calls arrive at a cloud: it logs them and injects faults into them. The zero value is ready for
// use and must not be copied. All methods are safe for concurrent use, and faults may be injected at any time.
type Tap struct {
	log      callLog
	settings settings
}

// Handle takes a call from its arrival to its answer: log, wait, fail if told so, take effect, answer. Of the call, the
// fields Service, Method, Path and Query are read.
//
// The effect is what the cloud does. It takes place at most once, and then wholly: neither Carry nor a client that goes
// away cuts it short. Refuse puts an injected error into the words of the service.
func (t *Tap) Handle(w http.ResponseWriter, call Call, effect func() Response, errorResponse func(*Error) Response) {
	entry := t.log.begin(call)
	defer func() { t.log.end(entry) }()
	fault, delay := t.settings.faultFor(entry.Call)
	<-time.After(delay) // not cut short when the client goes: what is sent takes effect

	if t.settings.callHook(Event{Phase: Before, Call: entry.Call}) == DropConnection || fault.Drop == DropBefore {
		dropConnection(w)
		return
	}
	injected := fault.serviceError()
	var response Response
	if injected == nil || fault.AfterEffect {
		response = effect()
		entry.Status = response.Status
		if t.settings.callHook(Event{Phase: After, Call: entry.Call}) == DropConnection || fault.Drop == DropAfter {
			dropConnection(w)
			return
		}
	}
	if injected != nil {
		response = errorResponse(injected)
	}
	entry.Status = response.Status
	response.Write(w)
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
	t.log.calls, t.log.resets = nil, t.log.resets+1
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
func (t *Tap) Inject(f Fault) (applied func() int) {
	a := &activeFault{Fault: f}
	t.settings.mu.Lock()
	defer t.settings.mu.Unlock()
	t.settings.faults = append(t.settings.faults, a)
	return func() int {
		t.settings.mu.Lock()
		defer t.settings.mu.Unlock()
		return a.applied
	}
}

// ClearFaults disarms all faults.
func (t *Tap) ClearFaults() {
	t.settings.mu.Lock()
	defer t.settings.mu.Unlock()
	t.settings.faults = nil
}

// Faults returns the armed faults.
func (t *Tap) Faults() []Fault {
	t.settings.mu.Lock()
	defer t.settings.mu.Unlock()
	var out []Fault
	for _, f := range t.settings.faults {
		out = append(out, f.Fault)
	}
	return out
}

// SetLatency makes every call wait so long before its effect.
func (t *Tap) SetLatency(d time.Duration) {
	t.settings.mu.Lock()
	defer t.settings.mu.Unlock()
	t.settings.latency = d
}

// SetHook installs the hook, or removes it when nil.
func (t *Tap) SetHook(h Hook) {
	t.settings.mu.Lock()
	defer t.settings.mu.Unlock()
	t.settings.hook = h
}
