package contracttest

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
)

// FaultType is what becomes of the one request that a Fault is about.
type FaultType int

const (
	// ReturnError answers with an error instead of forwarding the request.
	ReturnError FaultType = iota
	// ReturnErrorAfterEffect forwards the request and then answers with an error all the same, as a proxy does that timed out.
	ReturnErrorAfterEffect
	// DropBefore breaks the connection before the request has an effect.
	DropBefore
	// DropAfter breaks the connection after the effect.
	DropAfter
	// KillBefore ends the process before the request has an effect.
	KillBefore
	// KillAfter ends the process after the effect and before the answer.
	KillAfter
)

// String returns the action in words.
func (a FaultType) String() string {
	names := [...]string{"refuse", "effect, then refuse", "drop before effect", "drop after effect", "kill before effect", "kill after effect"}
	if a < 0 || int(a) >= len(names) {
		return fmt.Sprintf("action(%d)", int(a))
	}
	return names[a]
}

// Fault is one thing that goes wrong, once; or once to each of many calls.
type Fault struct {
	// Call is the request that it happens to.
	Call Call
	// All are, instead of Call, the requests that it happens to, whatever the order in which they come.
	All []Call
	// Type is what happens.
	Type FaultType
	// Error names the answer of Refuse and ReturnErrorAfterEffect, e.g. "409 conflict".
	Error string
	// Response makes the answer of Refuse and ReturnErrorAfterEffect.
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

// errDropped is what a client sees of a broken connection, errKilled what a killed process would see if it still could.
var (
	errDropped = errors.New("connection reset by peer")
	errKilled  = errors.New("the process is dead")
)

// Faults watches the requests of all lives of a process and lets the chosen one go wrong. While it is not armed, requests
// pass unseen.
type Faults struct {
	mu    sync.Mutex
	armed bool
	fault *Fault
	// remaining are the calls that the fault has yet to happen to.
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

// Disarm stops counting. It returns the calls since Arm, oldest first, whether the fault came to pass wherever it should, and
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

// match counts a request and returns the fault if it is meant.
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
