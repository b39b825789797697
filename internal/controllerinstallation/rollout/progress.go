package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// progress says where the rollout is once the decision has been carried out.
func (p *plan) progress() Progress {
	progress := p.state()
	progress.Empty = p.empty()
	progress.DueAt = p.dueAt(progress.State)
	return progress
}

// empty names the waves that select nobody. To the last one belong those that are left over, so it may well be.
func (p *plan) empty() []string {
	var names []string
	for _, w := range p.waves[:len(p.waves)-1] {
		if len(w.members) == 0 && len(p.Installations) > 0 {
			names = append(names, w.name)
		}
	}
	return names
}

// dueAt is when the rollout should have taken its last step, or the next one. It is for people, and so of the clock on the wall.
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
	if p.verdict != candidate {
		soak = 0
	}
	return since.Add(p.Rollout.HealthGate.Deadline.Duration + soak)
}

func (p *plan) state() Progress {
	all := &wave{members: p.all()}
	switch w := p.unfinished(); {
	case p.verdict == nothing || p.verdict == bad:
		return p.givenUp(all)
	case w != nil:
		return p.underWay(w)
	case p.verdict == candidate && len(all.members) > 0:
		return p.of(all, Waiting, joined(", ", p.count(all, p.Newest), "no seed has been healthy with it for long enough, so that nothing is proven"))
	case len(all.members) == 0:
		return Progress{State: Idle, Message: fmt.Sprintf("revision %s waits for a first installation", p.Newest)}
	default:
		return p.of(all, Idle, joined(", ", p.count(all, p.Newest), p.ailments(all)))
	}
}

func (p *plan) all() []*Installation {
	found := make([]*Installation, 0, len(p.Installations))
	for k := range p.Installations {
		found = append(found, &p.Installations[k])
	}
	return found
}

func (p *plan) of(w *wave, state State, message string) Progress {
	progress := Progress{State: state, Wave: w.name, Total: len(w.members), Message: message}
	for _, i := range w.members {
		if !i.absent() && i.settled(p.Newest) {
			progress.Updated++
		}
	}
	return progress
}

// unfinished returns the wave to tell about: the first one that something is still to be done for, and rather one that can be reached.
func (p *plan) unfinished() *wave {
	if p.verdict == candidate {
		return p.firstNotPassed()
	}
	var waits *wave
	for _, w := range p.waves {
		for _, i := range w.members {
			switch {
			case i.given(p.Newest):
			case !i.absent():
				return w
			case waits == nil:
				waits = w
			}
		}
	}
	return waits
}

// underWay tells about a wave that is being brought to Newest.
func (p *plan) underWay(w *wave) Progress {
	count := p.count(w, p.Newest)
	missed := missing(w.members)
	awaited := which(p.awaited(w), func(i *Installation) bool { return !i.absent() && !i.available() }).after("waiting for")
	missed = joined(", ", missed, p.notWaitedFor(w))
	switch {
	case p.Rollout.Paused && (p.verdict == candidate || p.holdsBack(w)):
		return p.of(w, Paused, joined(", ", count, "paused", missed))
	case len(w.reachable()) == 0:
		return p.of(w, Waiting, joined(", ", count, "no seed of it can be reached"))
	case !slices.ContainsFunc(w.members, func(i *Installation) bool { return !i.absent() }):
		return p.of(w, Waiting, joined(", ", count, missed))
	case p.verdict == candidate && p.updated(w) && !p.Now.Before(p.soaked(w)):
		unsure := which(p.toBeSeen(w), func(*Installation) bool { return true })
		return p.of(w, Soaking, joined(", ", count, unsure.after("soaked, waiting for a look at"), missed))
	case p.verdict == candidate && p.updated(w):
		return p.of(w, Soaking, joined(", ", count, "soaking until "+p.clock(p.soaked(w)), missed))
	case p.verdict == good && !slices.ContainsFunc(w.reachable(), func(i *Installation) bool { return !i.given(p.Newest) }):
		return p.of(w, Waiting, joined(", ", count, missed))
	default:
		return p.of(w, Advancing, joined(", ", count, awaited, missed))
	}
}

// holdsBack reports whether there is any reachable member that has another revision than Newest.
func (p *plan) holdsBack(w *wave) bool {
	return slices.ContainsFunc(w.reachable(), func(i *Installation) bool { return i.Assigned != p.Newest })
}

// givenUp tells about a Newest that has failed, or does not exist.
func (p *plan) givenUp(all *wave) Progress {
	cause := "there is no revision to roll out"
	if p.verdict == bad {
		cause = cmp.Or(p.NewestReason, fmt.Sprintf("revision %s has failed", p.Newest))
	}
	returning := which(all.members, p.isReturning)
	keeping := which(all.members, func(i *Installation) bool { return p.isBad(i.Assigned) })
	missed := missing(slices.DeleteFunc(p.all(), func(i *Installation) bool { return i.Applied == p.LastGood }))
	switch {
	case len(returning) > 0:
		return p.of(all, RollingBack, joined("; ", cause, returning.after(fmt.Sprintf("revision %s is brought back to", p.LastGood)), missed))
	case len(keeping) > 0 && p.Rollout.Rollback == installationv1alpha1.RollbackNever:
		return p.of(all, Stopped, joined("; ", cause, keeping.are("not rolled back, since rollback is Never")))
	case len(keeping) > 0:
		return p.of(all, Stopped, joined("; ", cause, keeping.are("not rolled back, since no revision was ever good")))
	case p.verdict == bad && len(all.members) > 0:
		return p.of(all, Stopped, joined("; ", cause, p.count(all, p.LastGood), missed))
	default:
		return p.of(all, Stopped, cause)
	}
}

// isReturning reports whether an installation is on its way back to LastGood, or is going to be when others are.
func (p *plan) isReturning(i *Installation) bool {
	if i.absent() || i.Failed != "" || i.Applied == "" || i.Applied == p.LastGood {
		return false
	}
	return i.Assigned == p.LastGood || p.target() != "" && !p.Rollout.Paused
}
