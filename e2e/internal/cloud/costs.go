package cloud

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Costs lists the requests per machine, a line per name, the most frequent first, with the sum. Requests that machines share are less than one
// per machine.
func Costs(calls wire.Calls, machines int) []string {
	const layout = "%-*s %7s %12s"
	count, width := calls.Count(), 34
	names := make([]string, 0, len(count))
	for name := range count {
		names, width = append(names, name), max(width, len(name))
	}
	row := func(name string, n int) string {
		return fmt.Sprintf(layout, width, name, fmt.Sprint(n), fmt.Sprintf("%.2f", float64(n)/float64(max(machines, 1))))
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	lines := []string{fmt.Sprintf(layout, width, "", "calls", "per machine")}
	for _, name := range names {
		lines = append(lines, row(name, count[name]))
	}
	return append(lines, row("all", len(calls)))
}
