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

// wavesOf distributes the installations in their order. A seed belongs to the first wave that selects it, and to the last wave if none does.
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
		w.maxUnavailable = scaled(rollout.Waves[k].MaxUnavailable, len(w.members), 1) // with zero, the rollout could never proceed
	}
	return waves
}

func indexOf(waves []installationv1alpha1.Wave, i *Installation) int {
	for k, w := range waves {
		// An invalid selector selects nothing. Validation reports it.
		if selector, err := metav1.LabelSelectorAsSelector(w.SeedSelector); err == nil && selector.Matches(i.SeedLabels) {
			return k
		}
	}
	return len(waves) - 1
}

// scaled returns a number, or a percentage of the members, but not less than a minimum.
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

// requiredMembers returns the members that must be healthy before a wave passes.
func (p *plan) requiredMembers(w *wave) []*Installation {
	return w.filter(func(i *Installation) bool { return p.isRequired(w, i) })
}

// updated reports whether all required members have the candidate and are healthy, all members have been checked, and at least one is reachable.
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

// isProven reports whether any member that is required, or has soaked, is healthy with the candidate.
func (p *plan) isProven(w *wave) bool {
	return slices.ContainsFunc(w.members, func(i *Installation) bool {
		return !i.isUnknown() && i.isUpToDate(p.Newest) && (p.isRequired(w, i) || p.isSkipped(i) && i.Observed.Healthy >= w.soakTime)
	})
}

// unconfirmed returns the required members that were not checked successfully at the end of the soak, or not recently.
func (p *plan) unconfirmed(w *wave) []*Installation {
	return slices.DeleteFunc(p.requiredMembers(w), func(i *Installation) bool { return !i.SeenAt.Before(p.soakEnds(w, i)) && !p.hidden(i) })
}

// soakedAt returns when an updated wave will have been healthy for SoakTime.
func (p *plan) soakedAt(w *wave) time.Time {
	var end time.Time
	for _, i := range p.requiredMembers(w) {
		end = latest(end, p.soakEnds(w, i))
	}
	return end
}

// soakEnds returns when an installation will have been observed to be healthy for SoakTime.
func (p *plan) soakEnds(w *wave, i *Installation) time.Time {
	end := i.SeenAt.Add(w.soakTime - min(i.Observed.Healthy, w.soakTime))
	if !i.WatchedSince.IsZero() {
		end = latest(end, i.WatchedSince.Add(p.Rollout.HealthGate.Tolerance.Duration))
	}
	return end
}

// selectMembers returns the members of a wave that may be updated to the target now. For a candidate, healthy members come first, because only they
// can prove that it is bad. Unhealthy members with a revision that was given up are not limited by MaxUnavailable.
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
			available = max(available, 1) // members that were unhealthy before must not block healthy ones
		}
		if !isUpdated {
			unhealthy = nil
		}
	}
	return slices.Concat(unhealthy, outdated, healthy[:min(max(available, 0), len(healthy))])
}

// rank orders installations: those that can prove a candidate bad come first, those whose present revision cannot be installed come last.
func (p *plan) rank(i *Installation) int {
	byBefore := []Before{WasHealthy, WasUnsteady, WasUnhealthy, WasRefused}
	rank := slices.Index(byBefore, p.before(i))
	if i.Failed != "" {
		rank += len(byBefore)
	}
	return rank
}

// isChanging reports whether an installation counts as unavailable because it is being updated: it is on its way to the target, or became unreachable
// during that, or it may still become healthy with its present revision. It counts until its deadline. One that was healthy before and is not healthy
// with the target counts without limit.
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
