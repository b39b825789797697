package rollout

import (
	"cmp"
	"slices"
	"time"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// plan is an Input changed by the decision so far, with that decision.
type plan struct {
	Input
	result   result
	waves    []*wave
	decision Decision
}

// result is the result of the evaluation of Newest.
type result int

const (
	noRevision result = iota // there is no Newest
	candidate
	good
	bad
)

// newPlan does not change its argument.
func newPlan(s Input) *plan {
	s.Installations = slices.Clone(s.Installations)
	slices.SortFunc(s.Installations, func(a, b Installation) int { return cmp.Or(cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.Name, b.Name)) })
	p := &plan{Input: s, result: resultOf(s), decision: Decision{Assign: map[string]string{}, Before: map[string]Before{}, Waves: map[string]string{}}}
	if p.result == good {
		p.LastGood = s.Newest
	}
	p.waves = wavesOf(p.Rollout, p.Installations)
	for _, w := range p.waves {
		for _, i := range w.members {
			p.decision.Waves[i.Name] = w.name
		}
	}
	return p
}

func resultOf(s Input) result {
	switch {
	case s.Newest == "":
		return noRevision
	case s.NewestBad || slices.Contains(s.Bad, s.Newest):
		return bad
	case s.NewestGood || s.Newest == s.LastGood:
		return good
	default:
		return candidate
	}
}

// evaluate decides whether the candidate has become good or bad.
func (p *plan) evaluate() {
	if p.result != candidate {
		return
	}
	for _, w := range p.waves {
		if p.tooManyFailed(w) {
			p.decision.Bad, p.decision.Reason = true, p.failure(w, p.failed(w))
			p.result, p.NewestReason = bad, p.decision.Reason
			return
		}
	}
	if p.firstIncomplete() == nil && slices.ContainsFunc(p.waves, p.isProven) {
		p.result, p.decision.Good = good, true
		p.LastGood = p.Newest
	}
}

// assignNew assigns LastGood to installations without a revision, or the candidate if their wave has it or no revision was ever good.
func (p *plan) assignNew() {
	for _, w := range p.waves {
		revision, before := cmp.Or(p.LastGood, p.Newest), WasNew
		if p.result == candidate && !p.Rollout.Paused && p.updated(w) && p.isProven(w) {
			revision, before = p.Newest, WasLate
		}
		for _, i := range w.members {
			if i.Assigned == "" {
				p.assign(i, revision, before)
			}
		}
	}
}

// restartTrials assigns a retried candidate anew to installations that have it, which resets what was observed. Those that are unreachable at that moment count as unreachable before the trial.
func (p *plan) restartTrials() {
	for _, i := range p.all() {
		if p.result == candidate && i.Assigned == p.Newest && !p.isInTrial(i) {
			if i.Unreachable {
				i.Before = WasUnreachable
			}
			p.decision.Assign[i.Name], p.decision.Before[i.Name] = p.Newest, i.Before
			i.AssignedAt, i.Trial, i.Observed = p.Now, p.NewestSince, Observed{}
		}
	}
}

func (p *plan) rollBackBad() {
	for _, i := range p.all() {
		if p.rollsBack() && p.isBad(i.Assigned) {
			p.assign(i, p.LastGood, p.originalBefore(i))
		}
	}
}

// replaceSuperseded assigns LastGood to installations that are not healthy with a superseded candidate, which is not evaluated any more. If rollback
// is off, they wait for the newest candidate like all others of their wave, since that is not proven to be better.
func (p *plan) replaceSuperseded() {
	if p.result != candidate || !p.rollsBack() {
		return
	}
	for _, i := range p.all() {
		isPausedAsBefore := p.Rollout.Paused && p.isAsBefore(i) // it has not failed
		if p.isSuperseded(i) && p.isUnhealthy(i) && !isPausedAsBefore {
			p.assign(i, p.LastGood, p.originalBefore(i))
		}
	}
}

func (p *plan) isSuperseded(i *Installation) bool {
	return i.Assigned != "" && i.Assigned != p.Newest && !p.isBad(i.Assigned) && p.wasNeverGood(i.Assigned)
}

func (p *plan) wasNeverGood(revision string) bool {
	return revision != p.LastGood && !slices.Contains(p.Good, revision)
}

// isUnhealthy reports whether an installation was never healthy with its revision, or has been unhealthy for longer than it may be.
func (p *plan) isUnhealthy(i *Installation) bool {
	switch {
	case i.isUnchecked():
		return false
	case !i.Unreachable && i.available():
		return p.hidden(i) && p.timeLeft(i) <= 0
	case i.Unreachable:
		return p.timeLeft(i) <= 0
	default:
		return p.timeLeft(i) <= 0 || !i.wasHealthy() && !p.Rollout.Paused
	}
}

func (p *plan) isBad(revision string) bool {
	return slices.Contains(p.Bad, revision) || p.result == bad && revision == p.Newest
}

func (p *plan) rollsBack() bool {
	return p.Rollout.Rollback != installationv1alpha1.RollbackNever && p.LastGood != ""
}

// advance assigns the target to as many installations as the active waves allow.
func (p *plan) advance() {
	if p.Rollout.Paused {
		return
	}
	for _, w := range p.activeWaves() {
		for _, i := range p.selectMembers(w, p.target()) {
			p.assign(i, p.target(), p.before(i))
		}
	}
}

// target returns the revision that all installations should have in the end; empty if all keep their revision.
func (p *plan) target() string {
	switch {
	case p.result == candidate, p.result == good:
		return p.Newest
	case p.result == bad && p.rollsBack():
		return p.LastGood
	default:
		return ""
	}
}

// activeWaves returns the waves in which installations may be updated to the target.
func (p *plan) activeWaves() []*wave {
	switch w := p.firstIncomplete(); {
	case p.target() == "" || p.result == candidate && (w == nil || p.isBlockedByOtherWave(w)):
		return nil
	case p.result == candidate:
		return []*wave{w}
	default:
		return p.waves
	}
}

// isBlockedByOtherWave reports whether an installation of another wave is currently not healthy with the candidate, is lost, or has not been checked
// yet: no other installation gets the candidate meanwhile. So an installation of an earlier wave that becomes reachable again does not get a
// candidate with which a later wave is about to fail.
func (p *plan) isBlockedByOtherWave(at *wave) bool {
	return slices.ContainsFunc(p.waves, func(w *wave) bool {
		return w != at && slices.ContainsFunc(w.members, func(i *Installation) bool {
			return p.onTrial(w, i) && !p.hasFailed(w, i) || p.isInTrial(i) && i.isUnchecked()
		})
	})
}

// assign does not override an earlier assignment of this decision.
func (p *plan) assign(i *Installation, revision string, before Before) {
	if _, decided := p.decision.Assign[i.Name]; decided || i.Assigned == revision {
		return
	}
	p.decision.Assign[i.Name], p.decision.Before[i.Name] = revision, before
	i.Assigned, i.AssignedAt, i.Failed, i.Before = revision, p.Now, "", before
	i.Trial, i.Observed = p.NewestSince, Observed{}
}

// requeueAfter returns the time until the next deadline that may change the decision.
func (p *plan) requeueAfter() time.Duration {
	var next time.Time
	for _, moment := range p.moments() {
		if moment.After(p.Now) && (next.IsZero() || moment.Before(next)) {
			next = moment
		}
	}
	if next.IsZero() {
		return 0
	}
	return max(next.Sub(p.Now), time.Second)
}

func (p *plan) moments() []time.Time {
	var moments []time.Time
	for _, w := range p.waves {
		for _, i := range w.members {
			if p.onTrial(w, i) {
				moments = append(moments, p.deadlineOf(i))
			}
			if p.isWaitLimited(w, i) {
				moments = append(moments, p.after(i, p.waitLeft(i)))
			}
		}
	}
	for _, w := range p.activeWaves() {
		if p.result == candidate && p.updated(w) {
			moments = append(moments, p.soakedAt(w))
		}
		for _, i := range w.members {
			if p.isChanging(w, i, p.target()) && (p.result == candidate || i.Assigned != p.target() || i.isUnknown() || p.isAsBefore(i)) {
				moments = append(moments, p.deadlineOf(i))
			}
		}
	}
	return moments
}
