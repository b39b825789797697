package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// progress describes the rollout as it is after the decision has been carried out.
func (p *plan) progress() Progress {
	progress := p.state()
	progress.Empty = p.emptyWaves()
	progress.DueAt = p.dueAt(progress.State)
	return progress
}

// emptyWaves names the waves that select no installation. The last wave also takes those that no wave selects, so it may be empty.
func (p *plan) emptyWaves() []string {
	var names []string
	for _, w := range p.waves[:len(p.waves)-1] {
		if len(w.members) == 0 && len(p.Installations) > 0 {
			names = append(names, w.name)
		}
	}
	return names
}

// dueAt returns when the rollout should have taken its last step, or should take the next one. It is for status and metrics, and is wall clock time.
func (p *plan) dueAt(state State) time.Time {
	if !slices.Contains([]State{Advancing, Soaking, Waiting, RollingBack}, state) {
		return time.Time{}
	}
	since, soak := p.NewestSince, time.Duration(0)
	for _, w := range p.waves {
		for _, i := range w.members {
			if i.Assigned == p.target() {
				since = latest(since, i.AssignedAt)
				soak = max(soak, w.soakTime)
			}
		}
	}
	if p.result != candidate {
		soak = 0
	}
	return since.Add(p.Rollout.HealthGate.Deadline.Duration + soak)
}

func (p *plan) state() Progress {
	all := &wave{members: p.all()}
	switch w := p.reportedWave(); {
	case p.result == noRevision || p.result == bad:
		return p.failedProgress(all)
	case w != nil:
		return p.advancingProgress(w)
	case p.result == candidate && len(all.members) > 0:
		return p.progressOf(all, Waiting, joinNonEmpty(", ", p.count(all, p.Newest), "no seed has been healthy with it for long enough, so that nothing is proven"))
	case len(all.members) == 0:
		return Progress{State: Idle, Message: fmt.Sprintf("revision %s waits for a first installation", p.Newest)}
	default:
		return p.progressOf(all, Idle, joinNonEmpty(", ", p.count(all, p.Newest), p.problems(all)))
	}
}

func (p *plan) all() []*Installation {
	found := make([]*Installation, 0, len(p.Installations))
	for k := range p.Installations {
		found = append(found, &p.Installations[k])
	}
	return found
}

func (p *plan) progressOf(w *wave, state State, message string) Progress {
	progress := Progress{State: state, Wave: w.name, Total: len(w.members), Message: message}
	for _, i := range w.members {
		if !i.isUnknown() && i.isUpToDate(p.Newest) {
			progress.Updated++
		}
	}
	return progress
}

// reportedWave returns the wave to report: the first one that is not complete, preferably one with reachable members.
func (p *plan) reportedWave() *wave {
	if p.result == candidate {
		return p.firstIncomplete()
	}
	var unreachable *wave
	for _, w := range p.waves {
		for _, i := range w.members {
			switch {
			case i.isDone(p.Newest):
			case !i.isUnknown():
				return w
			case unreachable == nil:
				unreachable = w
			}
		}
	}
	return unreachable
}

// advancingProgress describes a wave that is being updated to Newest.
func (p *plan) advancingProgress(w *wave) Progress {
	count := p.count(w, p.Newest)
	unknown := unknownSeeds(w.members)
	required := seedsOf(p.requiredMembers(w), func(i *Installation) bool { return !i.isUnknown() && !i.available() }).withPrefix("waiting for")
	unknown = joinNonEmpty(", ", unknown, p.notRequired(w))
	switch {
	case p.Rollout.Paused && (p.result == candidate || p.hasOutdated(w)):
		return p.progressOf(w, Paused, joinNonEmpty(", ", count, "paused", unknown))
	case len(w.reachable()) == 0:
		return p.progressOf(w, Waiting, joinNonEmpty(", ", count, "no seed of it can be reached"))
	case !slices.ContainsFunc(w.members, func(i *Installation) bool { return !i.isUnknown() }):
		return p.progressOf(w, Waiting, joinNonEmpty(", ", count, unknown))
	case p.result == candidate && p.updated(w) && !p.Now.Before(p.soakedAt(w)):
		unconfirmed := seedsOf(p.unconfirmed(w), func(*Installation) bool { return true })
		return p.progressOf(w, Soaking, joinNonEmpty(", ", count, unconfirmed.withPrefix("soaked, waiting for a look at"), unknown))
	case p.result == candidate && p.updated(w):
		return p.progressOf(w, Soaking, joinNonEmpty(", ", count, "soaking until "+p.formatTime(p.soakedAt(w)), unknown))
	case p.result == good && !slices.ContainsFunc(w.reachable(), func(i *Installation) bool { return !i.isDone(p.Newest) }):
		return p.progressOf(w, Waiting, joinNonEmpty(", ", count, unknown))
	default:
		return p.progressOf(w, Advancing, joinNonEmpty(", ", count, required, unknown))
	}
}

// hasOutdated reports whether there is any reachable member that has another revision than Newest.
func (p *plan) hasOutdated(w *wave) bool {
	return slices.ContainsFunc(w.reachable(), func(i *Installation) bool { return i.Assigned != p.Newest })
}

// failedProgress describes a rollout whose Newest has failed or does not exist.
func (p *plan) failedProgress(all *wave) Progress {
	cause := "there is no revision to roll out"
	if p.result == bad {
		cause = cmp.Or(p.NewestReason, fmt.Sprintf("revision %s has failed", p.Newest))
	}
	rollingBack := seedsOf(all.members, p.isRollingBack)
	notRolledBack := seedsOf(all.members, func(i *Installation) bool { return p.isBad(i.Assigned) })
	unknown := unknownSeeds(slices.DeleteFunc(p.all(), func(i *Installation) bool { return i.Applied == p.LastGood }))
	switch {
	case len(rollingBack) > 0:
		return p.progressOf(all, RollingBack, joinNonEmpty("; ", cause, rollingBack.withPrefix(fmt.Sprintf("revision %s is brought back to", p.LastGood)), unknown))
	case len(notRolledBack) > 0 && p.Rollout.Rollback == installationv1alpha1.RollbackNever:
		return p.progressOf(all, Stopped, joinNonEmpty("; ", cause, notRolledBack.withVerb("not rolled back, since rollback is Never")))
	case len(notRolledBack) > 0:
		return p.progressOf(all, Stopped, joinNonEmpty("; ", cause, notRolledBack.withVerb("not rolled back, since no revision was ever good")))
	case p.result == bad && len(all.members) > 0:
		return p.progressOf(all, Stopped, joinNonEmpty("; ", cause, p.count(all, p.LastGood), unknown))
	default:
		return p.progressOf(all, Stopped, cause)
	}
}

// isRollingBack reports whether an installation is being rolled back to LastGood, or waits for that.
func (p *plan) isRollingBack(i *Installation) bool {
	if i.isUnknown() || i.Failed != "" || i.Applied == "" || i.Applied == p.LastGood {
		return false
	}
	return i.Assigned == p.LastGood || p.target() != "" && !p.Rollout.Paused
}
