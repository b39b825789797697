package rollout

import (
	"time"
)

// works reports whether an installation is healthy with what it is assigned. That this could not be installed once more, because a Secret is gone or a
// newer operator refuses it, takes nothing from whoever uses it.
func (i *Installation) works() bool {
	return i.Assigned != "" && i.Applied == i.Assigned && i.Healthy
}

// available reports whether an installation has what it is to have, is healthy with it, and can be kept so.
func (i *Installation) available() bool { return i.works() && i.Failed == "" }

// isSteady reports whether an installation works and did so for a while, or has never done anything else.
func (i *Installation) isSteady() bool {
	hasAlwaysBeen := i.Observed.Interruptions == 0 && i.Before != WasUnsteady && !i.Before.Inconclusive()
	return i.works() && (hasAlwaysBeen || i.Observed.Healthy >= SteadyAfter)
}

// isUpToDate reports whether nothing is left to do for an installation to have the revision.
func (i *Installation) isUpToDate(revision string) bool {
	return i.Assigned == revision && i.available()
}

// isDone reports whether nothing is left to do for an installation to get the revision, whether or not it gets well with it.
func (i *Installation) isDone(revision string) bool {
	return i.Assigned == revision && (i.Applied == revision || i.Failed != "")
}

// isUnknown reports whether nobody knows how an installation is.
func (i *Installation) isUnknown() bool { return i.Unreachable || i.isUnchecked() }

// isUnchecked reports whether nobody has looked yet at an installation that is not new.
func (i *Installation) isUnchecked() bool {
	return !i.Unreachable && i.TriedAt.IsZero() && i.Applied != ""
}

// wasHealthy reports whether an installation was healthy with what it is assigned, now or earlier.
func (i *Installation) wasHealthy() bool {
	return i.Applied == i.Assigned && (i.Healthy || i.WasHealthy)
}

// before is how an installation is that is going to be assigned another revision.
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
		return WasHealthy // that it was interrupted is the fault of what it has
	default:
		return WasUnsteady
	}
}

// originalBefore is how an installation was before it got a revision that is taken away from it: what went wrong since is the fault of that, and the next one
// finds the installation as it was.
func (p *plan) originalBefore(i *Installation) Before {
	if i.Before == WasHealthy || i.Before == WasUnsteady {
		return i.Before
	}
	return p.before(i)
}

// hidden reports whether looking at an installation has failed for some time, for other reasons than that its seed cannot be reached.
func (p *plan) hidden(i *Installation) bool {
	return !i.isUnknown() && i.TriedAt.Sub(i.SeenAt) > p.Rollout.HealthGate.Tolerance.Duration
}

// hasTimeLeft reports whether an installation that is not available may still become so with what it was assigned.
func (p *plan) hasTimeLeft(i *Installation) bool {
	return p.timeLeft(i) > 0 && p.Now.Before(p.deadlineOf(i))
}

// deadlineOf returns until when there is hope if it stays as it is.
func (p *plan) deadlineOf(i *Installation) time.Time { return p.after(i, p.timeLeft(i)) }

// after returns when an installation will have been observed for a time more.
func (p *plan) after(i *Installation, more time.Duration) time.Time {
	if i.TriedAt.IsZero() {
		return p.Now.Add(more)
	}
	return i.TriedAt.Add(more)
}

// timeLeft returns for how long an installation may be seen as it is until its time is up. It is not positive when it is.
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

// maxUnhealthy is how long an installation may be unhealthy in all.
func (p *plan) maxUnhealthy() time.Duration {
	gate := p.Rollout.HealthGate
	return max(gate.Deadline.Duration, gate.Tolerance.Duration)
}

// isFlapping reports whether an installation that may be healthy at the moment was unhealthy too often, or for too long in all.
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
