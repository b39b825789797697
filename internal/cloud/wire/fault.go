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
	// Path is a normalized path, see Call.Path, or a pattern of package path in which * stands for one segment:
	// "/v2.0/networks", "/v2.0/*/{id}".
	Path string `json:"path,omitempty"`
	// WritesOnly excludes reads.
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

// Drop is the moment at which a connection is dropped.
type Drop string

// The moments at which a connection can be dropped.
const (
	DropNone   Drop = ""
	DropBefore Drop = "before" // the call has no effect
	DropAfter  Drop = "after"  // the call has its effect, the response is lost
)

// Fault makes matching calls fail. With neither Status nor Drop it only delays them.
type Fault struct {
	Match
	// Skip is the number of matching calls before the first that fails, Times the number of calls that fail: 0 means one, -1 all.
	Skip  int `json:"skip,omitempty"`
	Times int `json:"times,omitempty"`

	// Status is the status of the error response, in the service's format, with Type and Message if set.
	Status     int           `json:"status,omitempty"`
	Type       string        `json:"type,omitempty"`
	Message    string        `json:"message,omitempty"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// AfterEffect responds with Status although the call took effect, as a gateway does after a timeout.
	AfterEffect bool `json:"afterEffect,omitempty"`

	Drop  Drop          `json:"drop,omitempty"`
	Delay time.Duration `json:"delay,omitempty"`
}

// serviceError is the error of the response, or nil.
func (f Fault) serviceError() *Error {
	if f.Status == 0 {
		return nil
	}
	return &Error{Status: f.Status, Type: f.Type, Message: f.Message, RetryAfter: f.RetryAfter}
}

// Phase is a moment during a call.
type Phase string

// The moments at which a hook is called.
const (
	Before Phase = "before" // the call has no effect yet
	After  Phase = "after"  // the call has its effect, and no response yet
)

// Event is the input of a hook. After the effect, Call.Status is set.
type Event struct {
	Phase Phase
	Call  Call
}

// HookResult is the result of a hook.
type HookResult int

// The results of a hook.
const (
	Proceed        HookResult = iota
	DropConnection            // drop the connection now; before the effect, the call has none
)

// Hook is called before and after the effect of each call, without a lock: it may block, and may use the cloud.
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

// faultFor returns the first fault that makes the call fail, or an empty one, and the duration of the call.
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

// appliesTo counts a matching call and reports whether the fault applies to it.
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
