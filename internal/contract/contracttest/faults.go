package contracttest

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
)

// FaultType is the way in which a request fails.
type FaultType int

const (
	// ReturnError returns an error instead of forwarding the request.
	ReturnError FaultType = iota
	// ReturnErrorAfterEffect forwards the request and then returns an error, as a proxy does after a timeout.
	ReturnErrorAfterEffect
	// DropBefore breaks the connection before the request has an effect.
	DropBefore
	// DropAfter breaks the connection after the effect.
	DropAfter
	// KillBefore ends the process before the request has an effect.
	KillBefore
	// KillAfter ends the process after the effect and before the response.
	KillAfter
)

// String returns the type in words.
func (a FaultType) String() string {
	names := [...]string{"refuse", "effect, then refuse", "drop before effect", "drop after effect", "kill before effect", "kill after effect"}
	if a < 0 || int(a) >= len(names) {
		return fmt.Sprintf("action(%d)", int(a))
	}
	return names[a]
}

// Fault is a failure of one call, or of each of many calls once.
type Fault struct {
	// Call is the request that fails.
	Call Call
	// All are, instead of Call, the requests that fail, in any order.
	All []Call
	// Type is the way in which they fail.
	Type FaultType
	// Error names the response of ReturnError and ReturnErrorAfterEffect, e.g. "409 conflict".
	Error string
	// Response returns the response of ReturnError and ReturnErrorAfterEffect.
	Response func(*http.Request) *http.Response
}

// String returns for example "cloud POST /v2.0/networks: refuse with quota exceeded".
func (f Fault) String() string {
	call := f.Call.String()
	if f.All != nil {
		call = "every call once"
	}
	if f.Error != "" {
		return fmt.Sprintf("%s: %s with %s", call, f.Type, f.Error)
	}
	return fmt.Sprintf("%s: %s", call, f.Type)
}

// errDropped is the error of a client after a dropped connection, errKilled that of a killed process.
var (
	errDropped = errors.New("connection reset by peer")
	errKilled  = errors.New("the process is dead")
)

// Faults tracks the requests of all instances of a process and injects the selected fault. While it is not armed, it does not track
// requests.
type Faults struct {
	mu    sync.Mutex
	armed bool
	fault *Fault
	// remaining are the calls that have not failed yet.
	remaining map[Call]bool
	seen      map[Call]int
	// calls are those since Arm, oldest first.
	calls []Call
}

// Arm starts to count requests anew. A nil fault only counts.
func (f *Faults) Arm(fault *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed, f.fault, f.remaining, f.seen, f.calls = true, fault, map[Call]bool{}, map[Call]int{}, nil
	if fault == nil {
		return
	}
	if fault.All == nil {
		f.remaining[fault.Call] = true
	}
	for _, call := range fault.All {
		f.remaining[call] = true
	}
}

// Disarm stops counting. It returns the calls since Arm, oldest first, whether all faults were injected, and
// whether the faults were armed at all.
func (f *Faults) Disarm() (calls []Call, fired, armed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.armed {
		return nil, false, false
	}
	f.armed = false
	return f.calls, f.fault != nil && len(f.remaining) == 0, true
}

// match counts a request and returns the fault for it, if any.
func (f *Faults) match(call Call) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.armed {
		return nil
	}
	f.seen[call]++
	call.Nth = f.seen[call]
	f.calls = append(f.calls, call)
	if !f.remaining[call] {
		return nil
	}
	delete(f.remaining, call)
	return f.fault
}
