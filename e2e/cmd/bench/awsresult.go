package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// awsResult is what the Infrastructures of shoots in AWS cost. Counts do not depend on the machine, so that the result has a date and a commit of its own.
type awsResult struct {
	Date                string         `json:"date"`
	Commit              string         `json:"commit"`
	Load                float64        `json:"load"` // see machine
	LatencyMilliseconds int64          `json:"latencyMilliseconds"`
	Operations          []awsOperation `json:"operations"`
}

// awsOperation is one operation on a shoot with a number of zones.
type awsOperation struct {
	Zones     int    `json:"zones"`
	Operation string `json:"operation"`
	// Calls and Writes are without Polls.
	Calls  int `json:"calls"`
	Writes int `json:"writes"`
	// Polls are the repeated looks at NAT gateways that were not ready.
	Polls int `json:"polls"`
	// Steps is how many calls followed each other, of all.
	Steps int `json:"steps"`
	// Ratio is that of the time to the duration of that many calls and a fifth more.
	Ratio float64 `json:"ratio"`

	log wire.Calls
}

// awsBudget returns how many calls an operation may make.
func awsBudget(operation string, zones int) int {
	switch operation {
	case rowFirst:
		return 20 + 10*zones
	case rowNoOp:
		return 13
	default:
		return 15 + 6*zones
	}
}

// pollOfGateways is the call that is repeated while NAT gateways are not ready.
const pollOfGateways = "DescribeNatGateways"

func newAWSOperation(zones int, operation string, c cost, latency time.Duration) awsOperation {
	looks := len(c.log.Where(func(call wire.Call) bool { return call.Path == pollOfGateways }))
	polls := max(looks-1, 0) // the first look belongs to the operation
	allowed := time.Duration(c.steps) * latency * 6 / 5
	o := awsOperation{
		Zones: zones, Operation: operation, Calls: c.calls - polls, Polls: polls, Writes: len(c.log.Where(wire.Call.IsWrite)), Steps: c.steps, log: c.log,
	}
	if allowed > 0 {
		o.Ratio = float64(int(100*c.wall.Seconds()/allowed.Seconds())) / 100
	}
	return o
}

// withinAWSBudgets returns an error that names each operation with more calls than its budget, or with a write where nothing has changed.
func withinAWSBudgets(r *awsResult) error {
	var failures []error
	for _, o := range r.Operations {
		if most := awsBudget(o.Operation, o.Zones); o.Calls > most {
			failures = append(failures, fmt.Errorf("AWS, %s, %s: %d calls, at most %d are allowed:\n%s", count(o.Zones, "zone"), o.Operation, o.Calls, most, o.log))
		}
		if o.Operation == rowNoOp && o.Writes > 0 {
			failures = append(failures, fmt.Errorf("AWS, %s, %s: %s, none is allowed:\n%s",
				count(o.Zones, "zone"), o.Operation, count(o.Writes, "write"), o.log.Where(wire.Call.IsWrite)))
		}
	}
	return errors.Join(failures...)
}

// awsTable formats the operations beside their budgets, and upstream's calls.
func awsTable(r *awsResult, record *counted) []string {
	const layout = "%-8s %-8s %6s %8s %9s   %7s %9s   %6s %6s %15s"
	lines := []string{fmt.Sprintf(layout, "", "", "calls", "at most", "upstream", "writes", "upstream", "polls", "steps", "time / allowed")}
	operations := slices.Clone(r.Operations)
	slices.SortStableFunc(operations, func(a, b awsOperation) int { return cmp.Compare(a.Zones, b.Zones) })
	for _, o := range operations {
		theirs, theirWrites := record.of(o.Operation, o.Zones), ""
		if theirs.Writes > 0 {
			theirWrites = fmt.Sprint(theirs.Writes)
		}
		lines = append(lines, fmt.Sprintf(layout, count(o.Zones, "zone"), o.Operation,
			fmt.Sprint(o.Calls), fmt.Sprint(awsBudget(o.Operation, o.Zones)), fmt.Sprint(theirs.Calls),
			fmt.Sprint(o.Writes), theirWrites, fmt.Sprint(o.Polls), fmt.Sprint(o.Steps), fmt.Sprintf("%.2f", o.Ratio)))
	}
	return lines
}

// awsNotes explain the table.
func awsNotes(r *awsResult, record *counted) []string {
	return slices.Concat([]string{
		"Polls: repeated looks at NAT gateways, which are ready at once here; not among the calls. Steps: how many calls followed each other.",
		fmt.Sprintf("Time / allowed: the time from the request until gardenlet sees the result, to that of the steps at %d ms and a fifth more. It depends on the machine.",
			r.LatencyMilliseconds),
		"Upstream: " + record.Subject + ".",
	}, record.Conditions)
}

// awsPage is the section of the page about AWS.
func awsPage(r *awsResult, record *counted) string {
	return fmt.Sprintf("\n## Infrastructure in AWS\n\nOf %s, commit `%s`, load average before the run %.1f; the date of the other results is not that of these.\n\n```text\n%s\n```\n\n- %s\n",
		r.Date, r.Commit, r.Load, strings.Join(trimmed(awsTable(r, record)), "\n"), strings.Join(awsNotes(r, record), "\n- "))
}

func trimmed(lines []string) []string {
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}
