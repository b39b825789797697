package wire

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Tap logs the calls that arrive at a cloud, and injects faults into them. The zero value is ready for
// use and must not be copied. All methods are safe for concurrent use, and faults may be injected at any time.
type Tap struct {
	log      callLog
	settings settings
}

// Handle handles a call: it logs it, waits, injects a fault if there is one, calls effect, and responds. Of the call, it reads
// Service, Method, Path, Query, ReadOnly, Login and Client.
//
// effect is called at most once, and always completes, also if the client is gone. errorResponse formats an injected error
// as the service does.
func (t *Tap) Handle(w http.ResponseWriter, call Call, effect func() Response, errorResponse func(*Error) Response) {
	entry := t.log.begin(call)
	defer func() { t.log.end(entry) }()
	fault, delay := t.settings.faultFor(entry.Call)
	<-time.After(delay) // also if the client is gone: a request that was sent takes effect

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

// WaitIdle waits until no call is in flight: then all requests of a killed client have taken effect.
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

// Inject adds a fault. The returned function returns the number of calls to which it was applied.
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

// ClearFaults removes all faults.
func (t *Tap) ClearFaults() {
	t.settings.mu.Lock()
	defer t.settings.mu.Unlock()
	t.settings.faults = nil
}

// Faults returns the faults.
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
