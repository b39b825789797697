package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// comparison is a figure of ours beside the monolith's.
type comparison struct {
	What string `json:"what"`
	Ours string `json:"ours"`
	// Theirs is the frozen figure of the monolith, Most what ours may be; either may be missing.
	Theirs string `json:"theirs,omitempty"`
	Most   string `json:"most,omitempty"`
	// Result is won or lost, or within or exceeded where ours is compared with a budget instead. It is empty for a figure that is only shown, since
	// it is a time and depends on the machine.
	Result string `json:"result,omitempty"`
}

const (
	won      = "won"
	lost     = "lost"
	within   = "within"
	exceeded = "exceeded"
)

func result(isWon bool) string {
	if isWon {
		return won
	}
	return lost
}

func budgetResult(isWithin bool) string {
	if isWithin {
		return within
	}
	return exceeded
}

// compareAll compares what was measured with the monolith.
func compareAll(r *results, record *monolith) []comparison {
	var all []comparison
	if r.Infrastructure != nil {
		all = append(all, compareInfrastructure(r, record)...)
	}
	if s := largest(r.Scale, record.Memory.Shoots); s != nil {
		all = append(all, compareLogins(s, record), compareIdle(s, record), compareIdleCPU(s, record))
		all = append(all, compareMemory(s, record)...)
	}
	if s := largest(r.Scale, math.MaxInt); s != nil && s.Shoots > record.Memory.Shoots {
		all = append(all, compareIdle(s, record), compareIdleCPU(s, record), compareSum(s, record))
	}
	if r.Machines != nil {
		all = append(all, compareMachines(r.Machines, record)...)
	}
	return all
}

// largest returns the result with the largest number of shoots that does not exceed a number.
func largest(all []scaleResult, most int) *scaleResult {
	var found *scaleResult
	for i := range all {
		if all[i].Shoots <= most && (found == nil || all[i].Shoots > found.Shoots) {
			found = &all[i]
		}
	}
	return found
}

func compareInfrastructure(r *results, record *monolith) []comparison {
	var all []comparison
	for _, operation := range []struct {
		row    string
		theirs recordedOperation
	}{
		{rowFirst, record.Infrastructure.First}, {rowNoOp, record.Infrastructure.NoOp}, {rowDelete, record.Infrastructure.Delete},
	} {
		ours := r.Infrastructure[operation.row]
		all = append(all, comparison{
			What: fmt.Sprintf("Infrastructure, %s: calls and logins", operation.row),
			Ours: fmt.Sprintf("%d, %d", ours.Calls, ours.Logins), Theirs: fmt.Sprintf("%d, %d", operation.theirs.Calls, operation.theirs.Logins),
			Result: result(ours.Calls < operation.theirs.Calls && ours.Logins < operation.theirs.Logins),
		}, comparison{
			What: fmt.Sprintf("Infrastructure, %s: time at %d ms", operation.row, r.LatencyMilliseconds),
			Ours: fmt.Sprintf("%.1f s", ours.Seconds), Theirs: fmt.Sprintf("%.1f s at 200 ms", operation.theirs.Seconds),
		})
	}
	return all
}

// compareLogins compares logins by shoot: the monolith logged in for each of them.
func compareLogins(s *scaleResult, record *monolith) comparison {
	ours, theirs := s.step(stepCreate).Logins, record.AtOnce.Logins*s.Shoots/record.AtOnce.Shoots
	return comparison{
		What: fmt.Sprintf("%s at once: logins", count(s.Shoots, "shoot")),
		Ours: fmt.Sprint(ours), Theirs: fmt.Sprintf("%d, of Infrastructures alone", theirs), Result: result(ours <= theirs),
	}
}

func compareIdle(s *scaleResult, record *monolith) comparison {
	idle := s.step(stepIdle)
	perSecond := float64(idle.requests()) / max(idle.Seconds, 1)
	return comparison{
		What: fmt.Sprintf("idle with %s: requests a second", count(s.Shoots, "shoot")), Ours: fmt.Sprintf("%.2f", perSecond),
		Theirs: fmt.Sprintf("not measured, %.2f s of processor time in %.0f s", record.Idle.CPUSeconds, record.Idle.Seconds),
		Most:   fmt.Sprintf("%.0f", idleRequests), Result: budgetResult(perSecond <= idleRequests),
	}
}

func compareIdleCPU(s *scaleResult, record *monolith) comparison {
	idle := s.step(stepIdle)
	percent := func(cpu, seconds float64) string { return fmt.Sprintf("%.2f %% of a core", cpu/max(seconds, 1)*100) }
	return comparison{
		What: fmt.Sprintf("idle with %s: processor time in %.0f s", count(s.Shoots, "shoot"), idle.Seconds),
		Ours: fmt.Sprintf("%.2f s, %s", idle.cpu(), percent(idle.cpu(), idle.Seconds)),
		Theirs: fmt.Sprintf("%.2f s in %.0f s with %d shoots, %s", record.Idle.CPUSeconds, record.Idle.Seconds, record.Idle.Shoots,
			percent(record.Idle.CPUSeconds, record.Idle.Seconds)),
		Most: fmt.Sprintf("%.1f %%", idleCorePercent),
	}
}

// compareMemory compares memory at rest. The monolith was not measured after the work of all contracts, so the sum has a budget of its own.
func compareMemory(s *scaleResult, record *monolith) []comparison {
	empty, worked := s.step(stepEmpty), s.step(stepIdle)
	shoots := count(s.Shoots, "shoot")
	infrastructure := float64(worked.Controllers[controller.Infrastructure().Name].Anonymous) / megabyte
	most, mostResident := float64(record.Memory.Worked.Anonymous), residentRatio*float64(record.Memory.Idle.Resident)
	return []comparison{
		{
			What: "empty: anonymous memory in sum", Ours: megabytes(empty.anonymous()), Theirs: fmt.Sprintf("%d MB", record.Memory.Empty.Anonymous),
			Most: fmt.Sprintf("%d MB", emptyAnonymous), Result: budgetResult(empty.anonymous() <= emptyAnonymous),
		},
		{
			What: "empty: resident memory in sum", Ours: megabytes(empty.resident()), Theirs: fmt.Sprintf("%d MB", record.Memory.Empty.Resident),
		},
		{
			What: fmt.Sprintf("after the work of %s: anonymous memory of the infrastructure-controller", shoots), Ours: megabytes(infrastructure),
			Theirs: fmt.Sprintf("%d MB after %d Infrastructures alone", record.Memory.Worked.Anonymous, record.Memory.Shoots),
			Most:   megabytes(most), Result: result(infrastructure <= most),
		},
		compareSum(s, record),
		{
			What: fmt.Sprintf("after the work of %s: resident memory in sum", shoots), Ours: megabytes(worked.resident()),
			Theirs: fmt.Sprintf("%d MB with %d shoots", record.Memory.Idle.Resident, record.Memory.Shoots),
			Most:   "less than " + megabytes(mostResident), Result: budgetResult(worked.resident() < mostResident),
		},
	}
}

func compareSum(s *scaleResult, record *monolith) comparison {
	worked, most := s.step(stepIdle).anonymous(), workedAnonymous(s.Shoots)
	return comparison{
		What: fmt.Sprintf("after the work of %s: anonymous memory in sum", count(s.Shoots, "shoot")), Ours: megabytes(worked),
		Theirs: fmt.Sprintf("%d MB after %d Infrastructures alone", record.Memory.Worked.Anonymous, record.Memory.Shoots),
		Most:   fmt.Sprintf("%d MB", most), Result: budgetResult(worked <= float64(most)),
	}
}

func megabytes(value float64) string { return fmt.Sprintf("%.1f MB", value) }

// compareMachines compares what the driver alone takes, by calls, and by steps: how many calls followed each other, which with the duration of a call is the
// shortest time that the whole can take. The times with machine-controller-manager are shown beside them.
func compareMachines(ours *machinesResult, record *monolith) []comparison {
	theirs := record.Machines
	var all []comparison
	for _, operation := range []struct {
		name          string
		ours, managed machinesOperation
		theirs        recordedMachines
	}{{"created", ours.Create, ours.Managed.Create, theirs.Create}, {"deleted", ours.Delete, ours.Managed.Delete, theirs.Delete}} {
		what := fmt.Sprintf("%d machines %s, %d ms, ready at once: ", theirs.Machines, operation.name, theirs.LatencyMilliseconds)
		steps := int(operation.theirs.Seconds * 1000 / float64(theirs.LatencyMilliseconds))
		all = append(all,
			comparison{
				What: what + "calls per machine", Ours: fmt.Sprintf("%.2f", operation.ours.CallsPerMachine), Theirs: fmt.Sprintf("%.0f", operation.theirs.CallsPerMachine),
				Result: result(operation.ours.CallsPerMachine < operation.theirs.CallsPerMachine),
			},
			comparison{
				What: what + "calls after each other", Ours: fmt.Sprint(operation.ours.Steps), Theirs: fmt.Sprintf("at most %d", steps),
				Result: result(operation.ours.Steps <= steps),
			},
			comparison{
				What: what + "time", Ours: fmt.Sprintf("%.1f s", operation.ours.Seconds), Theirs: fmt.Sprintf("%.1f s", operation.theirs.Seconds),
				Result: result(operation.ours.Seconds <= operation.theirs.Seconds),
			},
			comparison{
				What: what + "time with machine-controller-manager", Ours: fmt.Sprintf("%.1f s", operation.managed.Seconds), Theirs: "not measured",
			})
	}
	if ours.DeleteAtOnce == nil {
		return all
	}
	return append(all, comparison{
		What: fmt.Sprintf("%d machines deleted one second after their creation, before the rate limiter has recovered: time", theirs.Machines),
		Ours: fmt.Sprintf("%.1f s", ours.DeleteAtOnce.Seconds), Theirs: "not measured",
	})
}

// lostRows returns an error that names each comparison that was lost, and each budget that was exceeded.
func lostRows(all []comparison) error {
	var failures []error
	for _, c := range all {
		if c.Result == lost || c.Result == exceeded {
			failures = append(failures, fmt.Errorf("%s: %s: %s", c.Result, c.What, c.versus()))
		}
	}
	return errors.Join(failures...)
}

func (c comparison) versus() string {
	text := c.Ours
	if c.Theirs != "" {
		text += ", the monolith " + c.Theirs
	}
	if c.Most != "" {
		text += ", allowed " + c.Most
	}
	return text
}

// comparisonTable formats comparisons as lines.
func comparisonTable(all []comparison) []string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tTrellis\tmonolith\tallowed\t")
	for _, c := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", c.What, c.Ours, c.Theirs, c.Most, c.Result)
	}
	table.Flush() //nolint:errcheck // a builder takes everything
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}
