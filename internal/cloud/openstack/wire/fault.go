package wire

import (
	"path"
	"sync"
	"time"
)

// Match selects calls; an empty field matches every call.
type Match struct {
	Service Service `json:"service,omitempty"`
	Method  string  `json:"method,omitempty"`
	// Path is a normalised path, see Call.Path, or a pattern of package path in which * stands for one segment:
	// "/v2.0/networks", "/v2.0/*/{id}".
	Path string `json:"path,omitempty"`
	// WritesOnly leaves reads alone.
	WritesOnly bool `json:"writesOnly,omitempty"`
}

// Matches reports whether the call is selected.
func (m Match) Matches(call Call) bool {
	if m.Service != "" && m.Service != call.Service || m.Method != "" && m.Method != call.Method || m.WritesOnly && !call.IsWrite() {
		return false
	}
	if m.Path == "" || m.Path == call.Path {
		return true
	}
	matched, err := path.Match(m.Path, call.Path)
	return err == nil && matched
}

// Drop says when a connection is cut.
type Drop string

// The moments at which a connection can be cut.
const (
	DropNone   Drop = ""
	DropBefore Drop = "before" // the call has no effect
	DropAfter  Drop = "after"  // the call has its effect, the answer is lost
)

// Fault makes matching calls fail. With neither Status nor Drop it only delays them.
type Fault struct {
	Match
	// Skip lets so many matching calls pass first; Times is how many are struck then: 0 means one, -1 all.
	Skip  int `json:"skip,omitempty"`
	Times int `json:"times,omitempty"`

	// Status is answered in the service's own error format, with Type and Message where given.
	Status     int           `json:"status,omitempty"`
	Type       string        `json:"type,omitempty"`
	Message    string        `json:"message,omitempty"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// AfterEffect answers Status although the call took effect, as a gateway does that timed out.
	AfterEffect bool `json:"afterEffect,omitempty"`

	Drop  Drop          `json:"drop,omitempty"`
	Delay time.Duration `json:"delay,omitempty"`
}

// serviceError is the error to answer, or nil.
func (f Fault) serviceError() *Error {
	if f.Status == 0 {
		return nil
	}
	return &Error{Status: f.Status, Type: f.Type, Message: f.Message, RetryAfter: f.RetryAfter}
}

// Phase is a moment in the life of a call.
type Phase string

// The moments at which a hook is told of a call.
const (
	Before Phase = "before" // nothing has happened yet
	After  Phase = "after"  // the effect is there, the caller does not know
)

// Event tells a hook of a call. After the effect, Call.Status is set.
type Event struct {
	Phase Phase
	Call  Call
}

// HookResult is what a hook decides.
type HookResult int

// The results of a hook.
const (
	Proceed        HookResult = iota
	DropConnection            // close the connection now; before the effect there will be none
)

// Hook is told of each call before and after its effect, without any lock held: it may block, and may use the cloud.
type Hook func(Event) HookResult

// settings are the settings that may change while the cloud is running.
type settings struct {
	mu      sync.Mutex
	latency time.Duration
	faults  []*activeFault
	hook    Hook
}

type activeFault struct {
	Fault
	matched, applied int
}

// faultFor returns the first fault that makes the call fail, or an empty one, and how long the call has to wait.
func (d *settings) faultFor(call Call) (Fault, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var result Fault
	delay := d.latency
	for _, f := range d.faults {
		fails := f.Status != 0 || f.Drop != DropNone
		decided := result.Status != 0 || result.Drop != DropNone
		if fails && decided || !f.appliesTo(call) {
			continue
		}
		delay += f.Delay
		if fails {
			result = f.Fault
		}
	}
	return result, delay
}

// appliesTo counts a matching call and reports whether the fault strikes it.
func (a *activeFault) appliesTo(call Call) bool {
	if !a.Matches(call) {
		return false
	}
	a.matched++
	times := max(a.Times, 1)
	if a.matched <= a.Skip || a.Times >= 0 && a.applied >= times {
		return false
	}
	a.applied++
	return true
}

func (d *settings) callHook(e Event) HookResult {
	d.mu.Lock()
	hook := d.hook
	d.mu.Unlock()
	if hook == nil {
		return Proceed
	}
	return hook(e)
}
