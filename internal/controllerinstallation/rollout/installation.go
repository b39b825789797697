package rollout

import (
	"time"
)

// works reports whether an installation is healthy with its assigned revision. A later failure to install it again, e.g. because a Secret was deleted
// or a newer operator rejects it, does not matter to its users.
func (i *Installation) works() bool {
	return i.Assigned != "" && i.Applied == i.Assigned && i.Healthy
}

// available reports whether an installation has its assigned revision, is healthy with it, and that revision can still be installed.
func (i *Installation) available() bool { return i.works() && i.Failed == "" }

// isSteady reports whether an installation works and has done so for a while, or without any interruption.
func (i *Installation) isSteady() bool {
	hasAlwaysBeen := i.Observed.Interruptions == 0 && i.Before != WasUnsteady && !i.Before.Inconclusive()
	return i.works() && (hasAlwaysBeen || i.Observed.Healthy >= SteadyAfter)
}

// isUpToDate reports whether an installation is available with the revision.
func (i *Installation) isUpToDate(revision string) bool {
	return i.Assigned == revision && i.available()
}

// isDone reports whether the revision was applied to an installation, whether or not that is healthy.
func (i *Installation) isDone(revision string) bool {
	return i.Assigned == revision && (i.Applied == revision || i.Failed != "")
}

// isUnknown reports whether the present health of an installation is unknown.
func (i *Installation) isUnknown() bool { return i.Unreachable || i.isUnchecked() }

// isUnchecked reports whether an installation that is not new has not been checked since the operator started.
func (i *Installation) isUnchecked() bool {
	return !i.Unreachable && i.TriedAt.IsZero() && i.Applied != ""
}

// wasHealthy reports whether an installation is or was healthy with its assigned revision.
func (i *Installation) wasHealthy() bool {
	return i.Applied == i.Assigned && (i.Healthy || i.WasHealthy)
}

// before returns the health to record for an installation that is about to be assigned another revision.
func (p *plan) before(i *Installation) Before {
	switch {
	case i.Assigned == "":
		return WasNew
	case i.isUnknown() || p.hidden(i):
		return WasUnhealthy
	case !i.works() && i.Failed != "" && !p.wasNeverGood(i.Assigned):
		return WasRefused
	case !i.works():
		return WasUnhealthy
	case i.isSteady():
		return WasHealthy
	case i.Before == WasHealthy && p.wasNeverGood(i.Assigned):
		return WasHealthy // its interruptions are caused by its present revision
	default:
		return WasUnsteady
	}
}

// originalBefore returns the health to record for an installation whose revision is replaced by another: that from before this revision, since later
// problems are caused by it.
func (p *plan) originalBefore(i *Installation) Before {
	if i.Before == WasHealthy || i.Before == WasUnsteady {
		return i.Before
	}
	return p.before(i)
}

// hidden reports whether checks of an installation have failed for some time although its seed is reachable.
func (p *plan) hidden(i *Installation) bool {
	return !i.isUnknown() && i.TriedAt.Sub(i.SeenAt) > p.Rollout.HealthGate.Tolerance.Duration
}

// hasTimeLeft reports whether an installation that is not available may still become available with its assigned revision.
func (p *plan) hasTimeLeft(i *Installation) bool {
	return p.timeLeft(i) > 0 && p.Now.Before(p.deadlineOf(i))
}

// deadlineOf returns the time at which an installation has failed if its health does not change.
func (p *plan) deadlineOf(i *Installation) time.Time { return p.after(i, p.timeLeft(i)) }

// after returns when an installation will have been observed for another duration.
func (p *plan) after(i *Installation, more time.Duration) time.Time {
	if i.TriedAt.IsZero() {
		return p.Now.Add(more)
	}
	return i.TriedAt.Add(more)
}

// timeLeft returns how long the present health of an installation may continue until its deadline. It is zero or negative once the deadline has passed.
func (p *plan) timeLeft(i *Installation) time.Duration {
	gate, o := p.Rollout.HealthGate, i.Observed
	switch {
	case i.Failed != "" && !i.works():
		return 0
	case i.Unreachable, p.hidden(i):
		return gate.Deadline.Duration - o.Hidden
	case !i.wasHealthy():
		return gate.Deadline.Duration - o.Progressing
	case i.Healthy:
		return gate.Deadline.Duration - o.Hidden
	default:
		return min(gate.Tolerance.Duration-o.Unhealthy, p.maxUnhealthy()-o.UnhealthyTotal)
	}
}

// maxUnhealthy returns how long an installation may be unhealthy in total.
func (p *plan) maxUnhealthy() time.Duration {
	gate := p.Rollout.HealthGate
	return max(gate.Deadline.Duration, gate.Tolerance.Duration)
}

// isFlapping reports whether an installation was unhealthy too often, or too long in total, even if it is healthy at the moment.
func (p *plan) isFlapping(i *Installation) bool {
	return !i.isUnknown() && i.wasHealthy() && (i.Observed.Interruptions > int(*p.Rollout.HealthGate.MaxInterruptions) || i.Observed.UnhealthyTotal >= p.maxUnhealthy())
}

func latest(a time.Time, others ...time.Time) time.Time {
	for _, b := range others {
		if b.After(a) {
			a = b
		}
	}
	return a
}
