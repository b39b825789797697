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
	if m.Service != "" && m.Service != call.Service || m.Method != "" && m.Method != call.Method || m.WritesOnly && !call.Writes() {
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
	// AfterEffect answers Status although the call took effect, as a gateway does that lost patience.
	AfterEffect bool `json:"afterEffect,omitempty"`

	Drop  Drop          `json:"drop,omitempty"`
	Delay time.Duration `json:"delay,omitempty"`
}

// refusal is the error to answer, or nil.
func (f Fault) refusal() *Error {
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

// Verdict is what a hook decides.
type Verdict int

// The verdicts.
const (
	Proceed Verdict = iota
	Cut             // close the connection now; before the effect there will be none
)

// Hook is told of each call before and after its effect, without any lock held: it may block, and may use the cloud.
type Hook func(Event) Verdict

// dials are the settings that may change while the cloud is running.
type dials struct {
	mu      sync.Mutex
	latency time.Duration
	faults  []*armed
	hook    Hook
}

type armed struct {
	Fault
	seen, struck int
}

// strike returns the first fault that makes the call fail, or an empty one, and how long the call has to wait.
func (d *dials) strike(call Call) (Fault, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var verdict Fault
	delay := d.latency
	for _, f := range d.faults {
		fatal := f.Status != 0 || f.Drop != DropNone
		decided := verdict.Status != 0 || verdict.Drop != DropNone
		if fatal && decided || !f.hits(call) {
			continue
		}
		delay += f.Delay
		if fatal {
			verdict = f.Fault
		}
	}
	return verdict, delay
}

// hits counts a matching call and reports whether the fault strikes it.
func (a *armed) hits(call Call) bool {
	if !a.Matches(call) {
		return false
	}
	a.seen++
	times := max(a.Times, 1)
	if a.seen <= a.Skip || a.Times >= 0 && a.struck >= times {
		return false
	}
	a.struck++
	return true
}

func (d *dials) tell(e Event) Verdict {
	d.mu.Lock()
	hook := d.hook
	d.mu.Unlock()
	if hook == nil {
		return Proceed
	}
	return hook(e)
}
