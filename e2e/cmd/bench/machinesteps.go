package main

import (
	"slices"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// machinesResult is what the record's number of machines cost under the record's conditions: with the driver alone, as the monolith's was measured.
type machinesResult struct {
	Create machinesOperation `json:"create"`
	Delete machinesOperation `json:"delete"`
	// DeleteAtOnce is a deletion right after the creation, when the rate limiter of the session has not recovered; nil in results of before it was measured.
	DeleteAtOnce *machinesOperation `json:"deleteAtOnce,omitempty"`
	// Managed are machines that machine-controller-manager creates and deletes, whose own waits are part of it.
	Managed managedMachines `json:"managed"`
}

type managedMachines struct {
	Create machinesOperation `json:"create"`
	Delete machinesOperation `json:"delete"`
}

// machinesOperation is the creation or the deletion of all machines.
type machinesOperation struct {
	CallsPerMachine float64 `json:"callsPerMachine"`
	Logins          int     `json:"logins"`
	// Steps is the longest sequence of calls of which each began after the end of the one before.
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`
}

func newMachinesOperation(c cost) machinesOperation {
	return machinesOperation{
		CallsPerMachine: float64(c.calls) / float64(machines), Logins: c.logins, Steps: c.steps, Seconds: c.wall.Seconds(),
	}
}

// spans records when calls run.
type spans struct {
	latency time.Duration

	mutex sync.Mutex
	ended []span
}

type span struct{ start, end time.Time }

// record is a hook of the cloud. The effect of a call takes no time, all of it passes before.
func (s *spans) record(event wire.Event) wire.HookResult {
	if event.Phase == wire.After {
		end := time.Now()
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.ended = append(s.ended, span{end.Add(-s.latency), end})
	}
	return wire.Proceed
}

// steps is the length of the longest sequence of calls of which each begins after the end of the one before.
func (s *spans) steps() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	slices.SortFunc(s.ended, func(a, b span) int { return a.end.Compare(b.end) })
	steps := 0
	var last time.Time
	for _, call := range s.ended {
		if call.start.After(last) {
			steps, last = steps+1, call.end
		}
	}
	return steps
}
