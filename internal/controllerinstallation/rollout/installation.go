package rollout

import "time"

// available reports whether an installation has what it is to have and is healthy with it.
func (i *Installation) available() bool {
	return i.Assigned != "" && i.Applied == i.Assigned && !i.HealthySince.IsZero() && i.Failed == ""
}

// settled reports whether nothing is left to do for an installation to have the revision.
func (i *Installation) settled(revision string) bool { return i.Assigned == revision && i.available() }

// given reports whether nothing is left to do for an installation to get the revision, whether or not it gets well with it.
func (i *Installation) given(revision string) bool {
	return i.Assigned == revision && (i.Applied == revision || i.Failed != "")
}

// absent reports whether nobody knows how an installation is.
func (i *Installation) absent() bool { return i.Unreachable || i.unseen() }

// unseen reports whether nobody has looked yet at an installation that is not new.
func (i *Installation) unseen() bool { return !i.Unreachable && i.TriedAt.IsZero() && i.Applied != "" }

// hidden reports whether looking at an installation has failed for some time, for other reasons than that its seed cannot be reached.
func (p *plan) hidden(i *Installation) bool {
	return !i.absent() && i.TriedAt.Sub(i.SeenAt) > p.Rollout.HealthGate.Tolerance.Duration
}

// hopeful reports whether an installation that is not available may still become so with what it was assigned.
func (p *plan) hopeful(i *Installation) bool { return p.Now.Before(p.hopeEnds(i)) }

// hopeEnds returns until when there is hope; zero when there is none.
func (p *plan) hopeEnds(i *Installation) time.Time {
	if i.Failed != "" {
		return time.Time{}
	}
	since := latest(i.AssignedAt, i.WatchedSince)
	if i.Assigned == p.Newest {
		since = latest(since, p.NewestSince)
	}
	gate := p.Rollout.HealthGate
	if i.Applied != i.Assigned {
		return since.Add(gate.Deadline.Duration)
	}
	if !i.UnhealthySince.IsZero() {
		return latest(since, i.UnhealthySince).Add(gate.Tolerance.Duration)
	}
	return latest(since, i.AppliedAt).Add(gate.Deadline.Duration)
}

func latest(a time.Time, others ...time.Time) time.Time {
	for _, b := range others {
		if b.After(a) {
			a = b
		}
	}
	return a
}
