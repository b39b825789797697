package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// secondaryAnonymous is the budget of a secondary's anonymous memory in megabytes.
const secondaryAnonymous = 20

// observedAtOnce is how many objects a secondary observes at the same time: when a step ends, so many observations have made requests and are not counted yet.
const observedAtOnce = 2

// observationRequests is how many requests to the API server one observation of one object may take, while nothing changes, by the controller's name: the
// object and the Cluster, and besides, for an Infrastructure the credentials, for a Worker its machines and what belongs to them.
func observationRequests(name string) uint64 {
	switch name {
	case "extension-infrastructure-secondary":
		return 3
	case "extension-network-secondary":
		return 2
	default:
		return 5
	}
}

// secondariesResult is what secondary controllers have used.
type secondariesResult struct {
	Shoots          int             `json:"shoots"`
	Accounts        int             `json:"accounts"`
	IntervalSeconds float64         `json:"intervalSeconds"`
	Steps           []secondaryStep `json:"steps"`
}

// secondaryStep is one step. CloudWrites are the calls that may have changed the cloud, of which logins are none.
type secondaryStep struct {
	stepResult
	CloudWrites map[string]int `json:"cloudWrites,omitempty"`
}

// writesOf counts the calls that may change something.
func writesOf(calls wire.Calls) map[string]int {
	return calls.Where(func(c wire.Call) bool { return c.IsWrite() && !c.IsLogin() }).Count()
}

// intervals is how many intervals a step took.
func (s *secondariesResult) intervals(step secondaryStep) float64 {
	return step.Seconds / s.IntervalSeconds
}

// waves is how many waves of reads an account may get in a step: one at its start, and one in each interval.
func (s *secondariesResult) waves(step secondaryStep) int {
	return 1 + int(math.Floor(s.intervals(step)))
}

// checkSecondaries returns an error that names what has exceeded its budget.
func checkSecondaries(s *secondariesResult) error {
	var failures []error
	for _, step := range s.Steps {
		for name, n := range step.CloudWrites {
			failures = append(failures, fmt.Errorf("secondaries, %s: %d times %s, but a secondary changes nothing in a cloud", step.Name, n, name))
		}
		if step.Logins > s.Accounts {
			failures = append(failures, fmt.Errorf("secondaries, %s: %s, at most one for each account is allowed", step.Name, count(step.Logins, "login")))
		}
		for _, name := range slices.Sorted(maps.Keys(step.Calls)) {
			if n, most := step.Calls[name], s.Accounts*s.waves(step); n > most {
				failures = append(failures, fmt.Errorf("secondaries, %s: %d times %s in %.1f s, at most %d are allowed: one for each account and interval",
					step.Name, n, name, step.Seconds, most))
			}
		}
		failures = append(failures, s.checkControllers(step))
	}
	return errors.Join(failures...)
}

func (s *secondariesResult) checkControllers(step secondaryStep) error {
	var failures []error
	for _, name := range slices.Sorted(maps.Keys(step.Controllers)) {
		c := step.Controllers[name]
		if anonymous := float64(c.Anonymous) / megabyte; anonymous > secondaryAnonymous {
			failures = append(failures, fmt.Errorf("secondaries, %s: %s takes %.1f MB of anonymous memory, at most %d are allowed", step.Name, name, anonymous, secondaryAnonymous))
		}
		if step.Name != stepUnchanged {
			continue
		}
		if c.Writes+c.StatusWrites > 0 {
			failures = append(failures, fmt.Errorf("secondaries, %s: %d writes to the API server by %s, although nothing has changed", step.Name, c.Writes+c.StatusWrites, name))
		}
		if most := uint64(s.Shoots * s.waves(step)); c.Reconciliations > most {
			failures = append(failures, fmt.Errorf("secondaries, %s: %d observations by %s, at most %d are allowed: one for each object and interval",
				step.Name, c.Reconciliations, name, most))
		}
		if requests, most := uint64(sumOf(c.Requests)), observationRequests(name)*(c.Reconciliations+observedAtOnce); requests > most {
			failures = append(failures, fmt.Errorf("secondaries, %s: %s makes %d requests to the API server for %d observations and %d that had not ended, at most %d are allowed: %s",
				step.Name, name, requests, c.Reconciliations, observedAtOnce, most, inWords(c.Requests)))
		}
	}
	return errors.Join(failures...)
}

// perObject is how many requests a controller makes for each object and interval.
func (s *secondariesResult) perObject(step secondaryStep, c controllerResult) float64 {
	return float64(sumOf(c.Requests)) / float64(s.Shoots) / max(s.intervals(step), 1)
}

// secondaryTable has a line for each controller in each step, and then one for each call of the cloud.
func secondaryTable(s *secondariesResult) []string {
	const layout = "%-10s %-36s %9s %11s %10s %10s %10s %13s  %s"
	lines := []string{
		fmt.Sprintf("%s in %s, an observation of each every %.0f s", count(s.Shoots, "shoot"), count(s.Accounts, "account"), s.IntervalSeconds),
		fmt.Sprintf(layout, "", "", "CPU", "CPU/object", "requests", "resident", "anonymous", "observations", "requests by verb"),
	}
	for _, step := range s.Steps {
		for _, name := range slices.Sorted(maps.Keys(step.Controllers)) {
			c := step.Controllers[name]
			lines = append(lines, fmt.Sprintf(layout, step.Name, name, fmt.Sprintf("%.2f s", c.CPUSeconds),
				fmt.Sprintf("%.2f ms", 1000*c.CPUSeconds/float64(s.Shoots)/max(s.intervals(step), 1)), fmt.Sprintf("%.1f", s.perObject(step, c)),
				fmt.Sprintf("%.1f MB", float64(c.Resident)/megabyte), fmt.Sprintf("%.1f MB", float64(c.Anonymous)/megabyte),
				fmt.Sprint(c.Reconciliations), inWords(c.Requests)))
		}
	}
	lines = append(lines, "CPU/object and requests: for each object and interval. Lease renewals do not count.", "")
	for _, step := range s.Steps {
		waves := s.waves(step)
		lines = append(lines, fmt.Sprintf("%s: %s and %s of the cloud in %.1f s, at most %s for each account; writes: %d", step.Name,
			count(step.Logins, "login"), count(step.calls()-step.Logins, "read"), step.Seconds, count(waves, "wave"), sumOf(step.CloudWrites)))
		for _, name := range slices.Sorted(maps.Keys(step.Calls)) {
			lines = append(lines, fmt.Sprintf("  %-64s %5d, %.2f for each account and interval", name, step.Calls[name],
				float64(step.Calls[name])/float64(s.Accounts)/max(s.intervals(step), 1)))
		}
	}
	return lines
}
