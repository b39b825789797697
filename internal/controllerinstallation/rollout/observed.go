package rollout

import "time"

// Before is how an installation was at the moment at which it was assigned its revision. It is written down with the assignment, since nobody can tell
// later. Without a value nothing is known, and the installation counts as one that was healthy.
type Before string

const (
	// WasHealthy: healthy with what it had. Whatever goes wrong from then on speaks against the revision.
	WasHealthy Before = "Healthy"
	// WasUnsteady: healthy with what it had, but not for long again. That it becomes unhealthy with the revision, too, proves nothing against it; that it
	// never becomes healthy, or is lost, does.
	WasUnsteady Before = "Unsteady"
	// WasUnhealthy: not healthy with what it had, or nobody knows. That it does not become healthy with the revision either proves nothing against it; that
	// it is lost does.
	WasUnhealthy Before = "Unhealthy"
	// WasRefused: what it had could not be installed either. Nothing but its loss proves anything against the revision.
	WasRefused Before = "Refused"
	// WasUnreachable: its seed was unreachable. It proves nothing before it was there again, and then what one does that was unhealthy.
	WasUnreachable Before = "Away"
	// WasNew: it had no revision.
	WasNew Before = "New"
	// WasLate: it had no revision, and got the candidate because its wave had it. The wave does not wait for it.
	WasLate Before = "Late"
)

// Inconclusive reports whether an installation that was like this proves nothing by not being healthy with its revision.
func (b Before) Inconclusive() bool {
	return b == WasUnhealthy || b == WasRefused || b == WasUnreachable
}

// Health is what a look at an installation tells of it and the revision that it is assigned.
type Health int

const (
	// Progressing: it was not healthy with the revision yet, or does not have it yet.
	Progressing Health = iota
	// Healthy with the revision.
	Healthy
	// Unhealthy: not any more.
	Unhealthy
	// Hidden: its seed is unreachable, or answers with errors.
	Hidden
)

// SteadyAfter is how long an installation that became unhealthy must have been healthy again to count as healthy.
const SteadyAfter = 30 * time.Minute

// Observed is for how long an installation was seen to be how, since it was assigned its revision. It consists of intervals between looks, measured by
// whoever looked: neither a clock that jumps nor time in which nobody looked makes a difference.
type Observed struct {
	// Total is all of it.
	Total time.Duration
	// Progressing is how long it took to become healthy.
	Progressing time.Duration
	// Healthy is how long it has been healthy without becoming unhealthy in between. Time in which it is hidden neither counts nor ends it.
	Healthy time.Duration
	// Unhealthy is how long it has not been healthy any more without a break, UnhealthyTotal how long in all, and Interruptions how often that began. The
	// latter two begin anew when it has been healthy for SteadyAfter: a rollout may take weeks, in which every seed is unhealthy for a moment at times.
	Unhealthy, UnhealthyTotal time.Duration
	Interruptions             int
	// Hidden grows while nobody can see it, and shrinks at half the speed while somebody can: so a short absence does not begin the time anew, and
	// seldom ones do not add up.
	Hidden time.Duration
}

// After is what has been observed after one more interval: how the installation was when it began, and is at its end.
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
