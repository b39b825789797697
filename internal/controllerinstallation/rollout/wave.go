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

func (w *wave) those(are func(*Installation) bool) []*Installation {
	return slices.DeleteFunc(slices.Clone(w.members), func(i *Installation) bool { return !are(i) })
}

func (w *wave) reachable() []*Installation {
	return w.those(func(i *Installation) bool { return !i.Unreachable })
}

// awaited are the members without which a wave does not pass.
func (p *plan) awaited(w *wave) []*Installation {
	return w.those(func(i *Installation) bool { return p.isWaitedFor(w, i) })
}

// updated reports whether all members that are waited for have the candidate and are healthy, and it is known of all whether they are reachable. At least
// one is reachable.
func (p *plan) updated(w *wave) bool {
	for _, i := range p.awaited(w) {
		if i.absent() || !i.settled(p.Newest) {
			return false
		}
	}
	return len(w.reachable()) > 0
}

func (p *plan) firstNotPassed() *wave {
	for _, w := range p.waves {
		if !p.passed(w) {
			return w
		}
	}
	return nil
}

func (p *plan) passed(w *wave) bool {
	return len(w.members) == 0 || p.updated(w) && len(p.toBeSeen(w)) == 0
}

// isProven reports whether any member is healthy with the candidate that is waited for, or has soaked although it is not any more.
func (p *plan) isProven(w *wave) bool {
	return slices.ContainsFunc(w.members, func(i *Installation) bool {
		return !i.absent() && i.settled(p.Newest) && (p.isWaitedFor(w, i) || p.isPassedOver(i) && i.Observed.Healthy >= w.soakTime)
	})
}

// toBeSeen returns the members that are waited for and that nobody has seen at the end of the soak, or not for some time.
func (p *plan) toBeSeen(w *wave) []*Installation {
	return slices.DeleteFunc(p.awaited(w), func(i *Installation) bool { return !i.SeenAt.Before(p.soakEnds(w, i)) && !p.hidden(i) })
}

// soaked returns when a wave that is updated will have been healthy for long enough.
func (p *plan) soaked(w *wave) time.Time {
	var end time.Time
	for _, i := range p.awaited(w) {
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

// chosen returns the members of a wave that may be brought to the target now. Of a candidate, healthy ones come first: only they can tell what it is like.
// Who is not well with a revision that was given up waits for nobody.
func (p *plan) chosen(w *wave, target string) []*Installation {
	var ill, stranded, up []*Installation
	changing, isServed := 0, false
	for _, i := range w.members {
		switch {
		case p.isChanging(w, i, target):
			changing++
		case i.settled(target):
			isServed = isServed || !i.absent()
		case i.absent(), i.Assigned == target, p.isNewcomer(w, i):
		case i.works():
			up = append(up, i)
		case i.Assigned != p.LastGood:
			stranded = append(stranded, i)
		default:
			ill = append(ill, i)
		}
	}
	slices.SortStableFunc(up, func(a, b *Installation) int { return p.rank(a) - p.rank(b) })
	room := w.maxUnavailable - changing - len(ill) - len(stranded)
	if p.verdict == candidate && len(up) > 0 {
		if changing+len(stranded) == 0 {
			room = max(room, 1) // who was ill before never stops those who are well
		}
		if !isServed {
			ill = nil
		}
	}
	return slices.Concat(ill, stranded, up[:min(max(room, 0), len(up))])
}

// rank puts installations first that can prove something, and last those for which something is missing already.
func (p *plan) rank(i *Installation) int {
	order := []Before{WasHealthy, WasUnsteady, WasUnhealthy, WasRefused}
	rank := slices.Index(order, p.before(i))
	if i.Failed != "" {
		rank += len(order)
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
	case i.Assigned == target && i.absent():
		return p.hopeful(i)
	case i.Assigned == target && p.verdict == candidate:
		return p.isWaitedFor(w, i)
	case i.Assigned == target:
		return p.hopeful(i) || !p.isExcused(i)
	default:
		return !i.absent() && p.hopeful(i) && (i.Assigned == p.LastGood || i.wasHealthy())
	}
}
