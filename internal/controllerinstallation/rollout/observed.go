package rollout

import "time"

// Before is the health of an installation at the moment of its assignment. It is recorded with the assignment, since it cannot be found out later. If
// it is empty, the installation counts as healthy.
type Before string

const (
	// WasHealthy: healthy with its former revision. Every problem after the assignment counts against the new one.
	WasHealthy Before = "Healthy"
	// WasUnsteady: healthy with its former revision, but only since a short time. Interruptions do not count against the new revision; never becoming
	// healthy and becoming unreachable do.
	WasUnsteady Before = "Unsteady"
	// WasUnhealthy: not healthy with its former revision, or unknown. Being unhealthy does not count against the new revision; becoming unreachable
	// does.
	WasUnhealthy Before = "Unhealthy"
	// WasRefused: its former revision could not be installed. Only becoming unreachable counts against the new revision.
	WasRefused Before = "Refused"
	// WasUnreachable: its seed was unreachable. Nothing counts against the new revision before the seed becomes reachable, and from then on the same as for WasUnhealthy.
	WasUnreachable Before = "Away"
	// WasNew: it had no revision.
	WasNew Before = "New"
	// WasLate: it had no revision, and got the candidate because its wave already had it. The wave does not wait for it.
	WasLate Before = "Late"
)

// Inconclusive reports whether being unhealthy after the assignment does not count against the new revision.
func (b Before) Inconclusive() bool {
	return b == WasUnhealthy || b == WasRefused || b == WasUnreachable
}

// Health is the result of a check of an installation, with respect to its assigned revision.
type Health int

const (
	// Progressing: the revision is not applied yet, or the installation has not been healthy with it yet.
	Progressing Health = iota
	// Healthy with the revision.
	Healthy
	// Unhealthy: it was healthy with the revision, and is not any more.
	Unhealthy
	// Hidden: its seed is unreachable, or answers with errors.
	Hidden
)

// SteadyAfter is how long an installation must have been healthy again after an interruption to count as steady.
const SteadyAfter = 30 * time.Minute

// Observed has the durations for which an installation was observed in each state of health since its assignment. They are sums of intervals between
// checks, measured with a monotonic clock, so neither changes of the system clock nor time without checks are part of them.
type Observed struct {
	// Total is the sum of all intervals.
	Total time.Duration
	// Progressing is how long it took to become healthy.
	Progressing time.Duration
	// Healthy is how long it has been healthy without interruption. Time in which it is hidden neither counts nor interrupts.
	Healthy time.Duration
	// Unhealthy is the length of the present interruption, UnhealthyTotal that of all interruptions, and Interruptions their number. The latter two
	// are reset when it has been healthy for SteadyAfter: a rollout may take weeks, in which every seed is unhealthy for a moment at times.
	Unhealthy, UnhealthyTotal time.Duration
	Interruptions             int
	// Hidden grows while it is hidden, and shrinks at half that speed while it is visible, so that a moment of visibility does not reset it and rare
	// failures do not add up.
	Hidden time.Duration
}

// After returns the durations after another interval, given the health at its beginning and at its end.
func (o Observed) After(interval time.Duration, was, is Health) Observed {
	o.Total += interval
	switch was {
	case Progressing:
		o.Progressing += interval
	case Healthy:
		o.Healthy += interval
	case Unhealthy:
		o.Unhealthy += interval
		o.UnhealthyTotal += interval
	case Hidden:
		o.Hidden += interval
	}
	if was != Hidden {
		o.Hidden = max(0, o.Hidden-interval/2)
	}
	if o.Healthy >= SteadyAfter {
		o.UnhealthyTotal, o.Interruptions = 0, 0
	}
	switch {
	case is == Healthy:
		o.Unhealthy = 0
	case is == Unhealthy && o.Healthy > 0:
		o.Healthy, o.Interruptions = 0, o.Interruptions+1
	}
	return o
}
