package contracttest

import (
	"fmt"
	"strings"
	"time"
)

// Result is the result of one case.
type Result struct {
	Case Case
	// Reached is false if the call of the fault was not made.
	Reached bool
	// Violations are sentences; without one, the case has converged to the expected state.
	Violations []string
	// Evidence is text for people: the requests in order, the object, the log.
	Evidence string
	// Calls are the calls of the phase.
	Calls []Call
}

// Report is the result of an exploration.
type Report struct {
	// Cases counts the cases that were run, by phase.
	Cases map[Phase]int
	// Failures are the cases with violations.
	Failures []Result
	// Unreached are the cases whose call was not made, although it was in a run without a fault.
	Unreached []Case
	Started   time.Time
	Took      time.Duration
}

// Total returns the number of cases that were run.
func (r *Report) Total() int {
	total := 0
	for _, n := range r.Cases {
		total += n
	}
	return total
}

// missedPercent is the percentage of cases that may miss their call.
const missedPercent = 2

// TooManyMissed reports whether so many cases missed their call that the exploration is not conclusive. Cases of many calls do not
// count, since one failure may change the path to the next call; nor do writes of progress, whose number depends on timing.
func (r *Report) TooManyMissed() bool {
	missed := 0
	for _, c := range r.Unreached {
		if c.Fault.All == nil && !c.Fault.Call.isProgressWrite() {
			missed++
		}
	}
	return missed*100 > r.Total()*missedPercent
}

func (r *Report) add(result Result) {
	if r.Cases == nil {
		r.Cases = map[Phase]int{}
	}
	if result.Case.Fault != nil {
		r.Cases[result.Case.Phase]++
	}
	switch {
	case len(result.Violations) > 0:
		r.Failures = append(r.Failures, result)
	case result.Case.Fault != nil && !result.Reached:
		r.Unreached = append(r.Unreached, result.Case)
	}
}

// String returns the numbers in one line.
func (r *Report) String() string {
	var phases []string
	for _, phase := range Phases() {
		phases = append(phases, fmt.Sprintf("%s %d", phase, r.Cases[phase]))
	}
	return fmt.Sprintf("%d cases in %s (%s): %d failed, %d not reached",
		r.Total(), r.Took.Round(100*time.Millisecond), strings.Join(phases, ", "), len(r.Failures), len(r.Unreached))
}

// String returns the case, its violations, and the evidence.
func (r Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Case)
	for _, violation := range r.Violations {
		fmt.Fprintf(&b, "  - %s\n", violation)
	}
	b.WriteString(r.Evidence)
	return b.String()
}
