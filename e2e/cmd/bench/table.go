package main

import (
	"errors"
	"fmt"
	"time"
)

// The rows of the table of costs.
const (
	rowCold   = "first, cold session"
	rowFirst  = "first"
	rowNoOp   = "no-op"
	rowRepeat = "no-op, repeated"
	rowDelete = "delete"
)

func rows() []string { return []string{rowCold, rowFirst, rowNoOp, rowRepeat, rowDelete} }

const footnote = "Calls: logins included. At most: the budget, for a warm session. Wall time from the request until gardenlet sees the result.\n" +
	"Upstream: the upstream extension, which serves all contracts of OpenStack in one process; measured elsewhere, not by this run (monolith.yaml)."

// baseline is the figure that a row is compared with.
type baseline struct {
	row      string
	budget   cost
	upstream cost
	checked  bool
}

func baselines(record *monolith) []baseline {
	theirs := record.Infrastructure
	first := cost{calls: 7, logins: 0, wall: seconds(1.2)}
	return []baseline{
		{row: rowCold, budget: cost{logins: 1}, upstream: theirs.First.cost()},
		{row: rowFirst, budget: first, upstream: theirs.First.cost(), checked: true},
		{row: rowNoOp, budget: cost{calls: 6, wall: seconds(0.3)}, upstream: theirs.NoOp.cost(), checked: true},
		{row: rowRepeat, budget: cost{calls: 1, wall: seconds(0.3)}, upstream: theirs.NoOp.cost(), checked: true},
		{row: rowDelete, budget: cost{calls: 6, wall: seconds(1.2)}, upstream: theirs.Delete.cost(), checked: true},
	}
}

// withinCosts returns an error that names each operation with more calls or logins than its budget.
func withinCosts(costs map[string]cost) error {
	var failures []error
	for _, y := range baselines(&monolith{}) {
		if c := costs[y.row]; y.checked && c.calls > y.budget.calls || c.logins > y.budget.logins {
			failures = append(failures, fmt.Errorf("%s: %d calls and %d logins, at most %d and %d are allowed", y.row, c.calls, c.logins, y.budget.calls, y.budget.logins))
		}
	}
	return errors.Join(failures...)
}

// costTable formats measured costs beside their baselines.
func costTable(costs map[string]cost, record *monolith) []string {
	const layout = "%-20s %8s %8s %9s   %8s %8s %9s   %8s %8s %9s"
	lines := []string{
		fmt.Sprintf(layout, "", "calls", "at most", "upstream", "logins", "at most", "upstream", "wall", "at most", "upstream"),
	}
	for _, y := range baselines(record) {
		c := costs[y.row]
		calls, wall := "", ""
		if y.checked {
			calls, wall = fmt.Sprint(y.budget.calls), inSeconds(y.budget.wall)
		}
		lines = append(lines, fmt.Sprintf(layout, y.row,
			fmt.Sprint(c.calls), calls, fmt.Sprint(y.upstream.calls),
			fmt.Sprint(c.logins), fmt.Sprint(y.budget.logins), fmt.Sprint(y.upstream.logins),
			inSeconds(c.wall), wall, inSeconds(y.upstream.wall)))
	}
	return lines
}

// realTable formats the costs on a real cloud beside the fake. There are no baselines for its time.
func realTable(standIn, genuine map[string]cost) []string {
	const layout = "%-20s %8s %9s   %8s %9s   %9s"
	lines := []string{fmt.Sprintf(layout, "", "calls", "fake", "logins", "fake", "wall")}
	for _, row := range rows() {
		here, there := standIn[row], genuine[row]
		lines = append(lines, fmt.Sprintf(layout, row,
			fmt.Sprint(there.calls), fmt.Sprint(here.calls), fmt.Sprint(there.logins), fmt.Sprint(here.logins), inSeconds(there.wall)))
	}
	return lines
}

func footprintTable(f footprint, record *monolith) []string {
	const layout = "%-28s %8s %8s %9s"
	row := func(name string, bytes int64, atMost, upstream int) string {
		return fmt.Sprintf(layout, name, fmt.Sprintf("%d MB", bytes/megabyte), fmt.Sprintf("%d MB", atMost), fmt.Sprintf("%d MB", upstream))
	}
	return []string{
		fmt.Sprintf(layout, "", "", "at most", "upstream"),
		row("stripped binary", f.binary, 45, record.BinaryMegabytes),
		row("idle memory, private", f.idle.Private, 10, record.Memory.Empty.Anonymous),
		row("idle memory, all", f.idle.All, 40, record.Memory.Empty.Resident),
	}
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
