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
		w.maxUnavailable = scaled(rollout.Waves[k].MaxUnavailable, len(w.members))
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

// scaled returns at least one, or nothing would ever change.
func scaled(maxUnavailable *intstr.IntOrString, members int) int {
	number, err := intstr.GetScaledValueFromIntOrPercent(maxUnavailable, members, false)
	if err != nil {
		return 1
	}
	return max(number, 1)
}

// updated reports whether all reachable members, and at least one, have the revision and are healthy, and it is known of all whether they are reachable.
func (w *wave) updated(revision string) bool {
	reachable := w.reachable()
	for _, i := range reachable {
		if i.unseen() || !i.settled(revision) {
			return false
		}
	}
	return len(reachable) > 0
}

func (w *wave) reachable() []*Installation {
	var found []*Installation
	for _, i := range w.members {
		if !i.Unreachable {
			found = append(found, i)
		}
	}
	return found
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
	return len(w.members) == 0 || w.updated(p.Newest) && !p.Now.Before(p.soaked(w)) && len(p.toBeSeen(w)) == 0
}

// toBeSeen returns the members of a wave that nobody has seen since it has soaked, or not for some time.
func (p *plan) toBeSeen(w *wave) []*Installation {
	return slices.DeleteFunc(w.reachable(), func(i *Installation) bool { return !i.SeenAt.Before(p.soaked(w)) && !p.hidden(i) })
}

// soaked returns when a wave that is updated has been healthy for long enough.
func (p *plan) soaked(w *wave) time.Time {
	var end time.Time
	for _, i := range w.reachable() {
		end = latest(end, i.HealthySince.Add(w.soakTime))
		if !i.WatchedSince.IsZero() {
			end = latest(end, i.WatchedSince.Add(p.Rollout.HealthGate.Tolerance.Duration))
		}
	}
	return end
}

// chosen returns the members of a wave that may be brought to the target now.
func (p *plan) chosen(w *wave, target string) []*Installation {
	var down, up []*Installation
	places := w.maxUnavailable
	for _, i := range w.members {
		switch {
		case p.holdsPlace(i, target):
			places--
		case i.absent() || i.settled(target):
		case i.Assigned == target:
			places--
		case i.available():
			up = append(up, i)
		default:
			down = append(down, i)
			places--
		}
	}
	return append(down, up[:min(max(places, 0), len(up))]...)
}

// holdsPlace reports whether an installation is unavailable for others to wait for until its hope ends, and not longer: one that is lost while it
// changes, and one of which nobody knows yet whether it gets well with LastGood.
func (p *plan) holdsPlace(i *Installation, target string) bool {
	if i.available() || !p.hopeful(i) {
		return false
	}
	if i.Assigned == target {
		return i.absent()
	}
	return !i.absent() && i.Assigned == p.LastGood
}
