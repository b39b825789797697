package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/fleet"
)

// scaleResult is what was measured with a number of shoots.
type scaleResult struct {
	Shoots int          `json:"shoots"`
	Steps  []stepResult `json:"steps"`
}

// step returns a step by its name; one without figures if it was not measured.
func (s scaleResult) step(name string) stepResult {
	for _, step := range s.Steps {
		if step.Name == name {
			return step
		}
	}
	return stepResult{}
}

// stepResult is what was measured in one step.
type stepResult struct {
	Name string `json:"name"`
	// Seconds is the time until all shoots have converged.
	Seconds float64 `json:"seconds"`
	// Calls are the cloud's by their names, with the logins.
	Calls       map[string]int              `json:"calls"`
	Logins      int                         `json:"logins"`
	Controllers map[string]controllerResult `json:"controllers"`
}

// controllerResult is what a controller has used in a step. Memory is that at its end, in bytes.
type controllerResult struct {
	CPUSeconds float64 `json:"cpuSeconds"`
	Resident   int64   `json:"resident"`
	Anonymous  int64   `json:"anonymous"`
	// Requests are those to the API server by their verbs. Leases do not count. Writes are those of them that change an object, except the status of an
	// extension object: StatusWrites. Their number depends on time, since progress is written as long as a reconciliation takes.
	Requests     map[string]int `json:"requests"`
	Writes       int            `json:"writes"`
	StatusWrites int            `json:"statusWrites"`
	// Reconciliations is their number, the others are how many seconds they took: the median, and what 95 and 99 of a hundred did not exceed.
	Reconciliations uint64  `json:"reconciliations"`
	P50             float64 `json:"p50"`
	P95             float64 `json:"p95"`
	P99             float64 `json:"p99"`
}

func newControllerResult(name string, used, before fleet.Usage, requests audit.Counts) controllerResult {
	took := used.Reconciliations.Minus(before.Reconciliations)
	own := audit.Counts{}
	for what, n := range requests {
		if what.User == name {
			own[what] = n
		}
	}
	return controllerResult{
		CPUSeconds: (used.CPU - before.CPU).Seconds(), Resident: used.Memory.All, Anonymous: used.Memory.Private,
		Requests: own.By(func(c audit.Count) string { return c.Verb }), Writes: own.Where(func(c audit.Count) bool { return c.IsWrite() && !writesStatus(c) }), StatusWrites: own.Where(writesStatus),
		Reconciliations: took.Count(), P50: took.Quantile(.5), P95: took.Quantile(.95), P99: took.Quantile(.99),
	}
}

// writesStatus reports whether requests write results, progress or conditions of extension objects.
func writesStatus(c audit.Count) bool { return c.IsWrite() && strings.HasSuffix(c.Resource, "/status") }

func (s stepResult) sum(of func(controllerResult) float64) float64 {
	sum := 0.0
	for _, c := range s.Controllers {
		sum += of(c)
	}
	return sum
}

func (s stepResult) cpu() float64 {
	return s.sum(func(c controllerResult) float64 { return c.CPUSeconds })
}

// resident and anonymous are in megabytes.
func (s stepResult) resident() float64 {
	return s.sum(func(c controllerResult) float64 { return float64(c.Resident) / megabyte })
}

func (s stepResult) anonymous() float64 {
	return s.sum(func(c controllerResult) float64 { return float64(c.Anonymous) / megabyte })
}

func (s stepResult) writes() int {
	return int(s.sum(func(c controllerResult) float64 { return float64(c.Writes) }))
}

func (s stepResult) statusWrites() int {
	return int(s.sum(func(c controllerResult) float64 { return float64(c.StatusWrites) }))
}

func (s stepResult) requests() int { return sumOf(s.verbs()) }

func (s stepResult) calls() int { return sumOf(s.Calls) }

// verbs are the requests of all controllers to the API server.
func (s stepResult) verbs() map[string]int {
	all := map[string]int{}
	for _, c := range s.Controllers {
		for verb, n := range c.Requests {
			all[verb] += n
		}
	}
	return all
}

func sumOf(counts map[string]int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// scaleTable formats the figures of a number of shoots: steps in sum, then controllers, then calls.
func scaleTable(s scaleResult) []string {
	const layout = "%-10s %9s %9s %11s %11s %11s %11s %10s %10s  %s"
	lines := []string{fmt.Sprintf(layout, "", "time", "CPU", "CPU/shoot", "requests", "writes", "status", "resident", "anonymous", "cloud calls")}
	perShoot := func(n int) string { return fmt.Sprintf("%.1f/shoot", float64(n)/float64(s.Shoots)) }
	for _, step := range s.Steps {
		lines = append(lines, fmt.Sprintf(layout, step.Name,
			fmt.Sprintf("%.1f s", step.Seconds), fmt.Sprintf("%.2f s", step.cpu()), fmt.Sprintf("%.1f ms", 1000*step.cpu()/float64(s.Shoots)),
			perShoot(step.requests()), perShoot(step.writes()), perShoot(step.statusWrites()), fmt.Sprintf("%.1f MB", step.resident()), fmt.Sprintf("%.1f MB", step.anonymous()),
			fmt.Sprintf("%s, %s", perShoot(step.calls()), count(step.Logins, "login"))))
	}
	lines = append(append(lines, ""), controllerTable(s)...)
	return append(append(lines, ""), callTable(s)...)
}

// controllerTable has a line for each controller in each step.
func controllerTable(s scaleResult) []string {
	const layout = "%-10s %-26s %9s %10s %10s %7s %8s %8s %8s  %s"
	lines := []string{fmt.Sprintf(layout, "", "", "CPU", "resident", "anonymous", "number", "p50", "p95", "p99", "requests by verb")}
	milliseconds := func(seconds float64) string { return fmt.Sprintf("%.0f ms", 1000*seconds) }
	for _, step := range s.Steps {
		for _, name := range slices.Sorted(maps.Keys(step.Controllers)) {
			c := step.Controllers[name]
			lines = append(lines, strings.TrimRight(fmt.Sprintf(layout, step.Name, name, fmt.Sprintf("%.2f s", c.CPUSeconds),
				fmt.Sprintf("%.1f MB", float64(c.Resident)/megabyte), fmt.Sprintf("%.1f MB", float64(c.Anonymous)/megabyte),
				fmt.Sprint(c.Reconciliations), milliseconds(c.P50), milliseconds(c.P95), milliseconds(c.P99), inWords(c.Requests)), " "))
		}
	}
	return lines
}

// callTable has a line for each call of the cloud, with its number in each step that makes calls.
func callTable(s scaleResult) []string {
	steps := []string{stepCreate, stepReconcile, stepIdle, stepRestart, stepDelete}
	names := map[string]bool{}
	for _, step := range steps {
		for name := range s.step(step).Calls {
			names[name] = true
		}
	}
	row := func(name string, values []string) string {
		var line strings.Builder
		fmt.Fprintf(&line, "%-64s", name)
		for _, value := range values {
			fmt.Fprintf(&line, " %9s", value)
		}
		return line.String()
	}
	lines := []string{row("cloud calls", steps)}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var values []string
		for _, step := range steps {
			values = append(values, fmt.Sprint(s.step(step).Calls[name]))
		}
		lines = append(lines, row(name, values))
	}
	return lines
}

func inWords(counts map[string]int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%d %s", counts[name], name))
	}
	return strings.Join(words, ", ")
}
