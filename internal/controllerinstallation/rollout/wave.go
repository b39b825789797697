package rollout

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// wave is a step of a rollout with the installations that belong to it.
type wave struct {
	name           string
	soakTime       time.Duration
	maxUnavailable int
	members        []*Installation
}

// wavesOf distributes the installations in their order. A seed belongs to the first wave that selects it, and to the last one when none does.
func wavesOf(rollout installationv1alpha1.Rollout, installations []Installation) []*wave {
	waves := make([]*wave, 0, len(rollout.Waves))
	for _, w := range rollout.Waves {
		waves = append(waves, &wave{name: w.Name, soakTime: w.SoakTime.Duration})
	}
	for k := range installations {
		w := waves[indexOf(rollout.Waves, &installations[k])]
		w.members = append(w.members, &installations[k])
	}
	for k, w := range waves {
		w.maxUnavailable = scaled(rollout.Waves[k].MaxUnavailable, len(w.members), 1) // with none, nothing would ever change
	}
	return waves
}

func indexOf(waves []installationv1alpha1.Wave, i *Installation) int {
	for k, w := range waves {
		// A selector that makes no sense selects nothing. Whoever validates it says so.
		if selector, err := metav1.LabelSelectorAsSelector(w.SeedSelector); err == nil && selector.Matches(i.SeedLabels) {
			return k
		}
	}
	return len(waves) - 1
}

// scaled returns what a number or percentage is of the members, but at least something.
func scaled(value *intstr.IntOrString, members, least int) int {
	number, err := intstr.GetScaledValueFromIntOrPercent(value, members, false)
	if err != nil {
		return least
	}
	return max(number, least)
}

func (w *wave) filter(matches func(*Installation) bool) []*Installation {
	return slices.DeleteFunc(slices.Clone(w.members), func(i *Installation) bool { return !matches(i) })
}

func (w *wave) reachable() []*Installation {
	return w.filter(func(i *Installation) bool { return !i.Unreachable })
}

// requiredMembers are the members without which a wave does not pass.
func (p *plan) requiredMembers(w *wave) []*Installation {
	return w.filter(func(i *Installation) bool { return p.isRequired(w, i) })
}

// updated reports whether all members that are waited for have the candidate and are healthy, and it is known of all whether they are reachable. At least
// one is reachable.
func (p *plan) updated(w *wave) bool {
	for _, i := range p.requiredMembers(w) {
		if i.isUnknown() || !i.isUpToDate(p.Newest) {
			return false
		}
	}
	return len(w.reachable()) > 0
}

func (p *plan) firstIncomplete() *wave {
	for _, w := range p.waves {
		if !p.isComplete(w) {
			return w
		}
	}
	return nil
}

func (p *plan) isComplete(w *wave) bool {
	return len(w.members) == 0 || p.updated(w) && len(p.unconfirmed(w)) == 0
}

// isProven reports whether any member is healthy with the candidate that is waited for, or has soaked although it is not any more.
func (p *plan) isProven(w *wave) bool {
	return slices.ContainsFunc(w.members, func(i *Installation) bool {
		return !i.isUnknown() && i.isUpToDate(p.Newest) && (p.isRequired(w, i) || p.isSkipped(i) && i.Observed.Healthy >= w.soakTime)
	})
}

// unconfirmed returns the members that are waited for and that nobody has seen at the end of the soak, or not for some time.
func (p *plan) unconfirmed(w *wave) []*Installation {
	return slices.DeleteFunc(p.requiredMembers(w), func(i *Installation) bool { return !i.SeenAt.Before(p.soakEnds(w, i)) && !p.hidden(i) })
}

// soakedAt returns when a wave that is updated will have been healthy for long enough.
func (p *plan) soakedAt(w *wave) time.Time {
	var end time.Time
	for _, i := range p.requiredMembers(w) {
		end = latest(end, p.soakEnds(w, i))
	}
	return end
}

// soakEnds returns when an installation will have been seen to be healthy for long enough.
func (p *plan) soakEnds(w *wave, i *Installation) time.Time {
	end := i.SeenAt.Add(w.soakTime - min(i.Observed.Healthy, w.soakTime))
	if !i.WatchedSince.IsZero() {
		end = latest(end, i.WatchedSince.Add(p.Rollout.HealthGate.Tolerance.Duration))
	}
	return end
}

// selectMembers returns the members of a wave that may be brought to the target now. Of a candidate, healthy ones come first: only they can tell what it is like.
// Who is not well with a revision that was given up waits for nobody.
func (p *plan) selectMembers(w *wave, target string) []*Installation {
	var unhealthy, outdated, healthy []*Installation
	changing, isUpdated := 0, false
	for _, i := range w.members {
		switch {
		case p.isChanging(w, i, target):
			changing++
		case i.isUpToDate(target):
			isUpdated = isUpdated || !i.isUnknown()
		case i.isUnknown(), i.Assigned == target, p.isNewcomer(w, i):
		case i.works():
			healthy = append(healthy, i)
		case i.Assigned != p.LastGood:
			outdated = append(outdated, i)
		default:
			unhealthy = append(unhealthy, i)
		}
	}
	slices.SortStableFunc(healthy, func(a, b *Installation) int { return p.rank(a) - p.rank(b) })
	available := w.maxUnavailable - changing - len(unhealthy) - len(outdated)
	if p.result == candidate && len(healthy) > 0 {
		if changing+len(outdated) == 0 {
			available = max(available, 1) // who was ill before never stops those who are well
		}
		if !isUpdated {
			unhealthy = nil
		}
	}
	return slices.Concat(unhealthy, outdated, healthy[:min(max(available, 0), len(healthy))])
}

// rank puts installations first that can prove something, and last those for which something is missing already.
func (p *plan) rank(i *Installation) int {
	byBefore := []Before{WasHealthy, WasUnsteady, WasUnhealthy, WasRefused}
	rank := slices.Index(byBefore, p.before(i))
	if i.Failed != "" {
		rank += len(byBefore)
	}
	return rank
}

// isChanging reports whether an installation is unavailable for others to wait for until its hope ends, and not longer: one that gets the target, or is
// lost while it does; and one of which nobody knows yet whether it gets well with what it has. Who was healthy before and is not with the target keeps
// others from it.
func (p *plan) isChanging(w *wave, i *Installation, target string) bool {
	switch {
	case i.Assigned == "", i.works() && !i.Unreachable && (i.Failed == "" || i.Assigned != target):
		return false
	case i.Assigned == target && i.isUnknown():
		return p.hasTimeLeft(i)
	case i.Assigned == target && p.result == candidate:
		return p.isRequired(w, i)
	case i.Assigned == target:
		return p.hasTimeLeft(i) || !p.isAsBefore(i)
	default:
		return !i.isUnknown() && p.hasTimeLeft(i) && (i.Assigned == p.LastGood || i.wasHealthy())
	}
}
