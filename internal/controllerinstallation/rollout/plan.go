package rollout

import (
	"cmp"
	"slices"
	"time"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// plan is a situation as it will be when the decision, as far as it is taken, has been carried out.
type plan struct {
	Situation
	verdict  verdict
	waves    []*wave
	decision Decision
}

// verdict is what is known of Newest.
type verdict int

const (
	nothing verdict = iota // there is no Newest
	candidate
	good
	bad
)

// newPlan leaves the situation itself as it is.
func newPlan(s Situation) *plan {
	s.Installations = slices.Clone(s.Installations)
	slices.SortFunc(s.Installations, func(a, b Installation) int { return cmp.Or(cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.Name, b.Name)) })
	p := &plan{Situation: s, verdict: verdictOf(s), decision: Decision{Assign: map[string]string{}, Waves: map[string]string{}}}
	if p.verdict == good {
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

func verdictOf(s Situation) verdict {
	switch {
	case s.Newest == "":
		return nothing
	case s.NewestBad || slices.Contains(s.Bad, s.Newest):
		return bad
	case s.NewestGood || s.Newest == s.LastGood:
		return good
	default:
		return candidate
	}
}

// judge finds out whether a candidate is good or bad by now.
func (p *plan) judge() {
	if p.verdict != candidate {
		return
	}
	for _, w := range p.waves {
		for _, i := range w.members {
			if p.hasFailed(i) {
				p.verdict, p.decision.Bad = bad, true
				p.decision.Reason = p.failure(w, i)
				p.NewestReason = p.decision.Reason
				return
			}
		}
	}
	if len(p.Installations) > 0 && p.firstNotPassed() == nil {
		p.verdict, p.decision.Good = good, true
		p.LastGood = p.Newest
	}
}

// onTrial reports whether an installation may still prove that the candidate is bad.
func (p *plan) onTrial(i *Installation) bool {
	return p.verdict == candidate && i.Assigned == p.Newest && !i.absent() && !i.available()
}

// hasFailed reports whether an installation has proven that the candidate is bad: when its time was up, somebody has looked once more.
func (p *plan) hasFailed(i *Installation) bool {
	return p.onTrial(i) && !p.hopeful(i) && !i.TriedAt.Before(p.hopeEnds(i))
}

// overdue names the installations that a verdict waits for: their time is up and nobody has looked since.
func (p *plan) overdue() []string {
	if p.verdict != candidate {
		return nil
	}
	due := slices.DeleteFunc(p.all(), func(i *Installation) bool { return !p.onTrial(i) || p.hopeful(i) || p.hasFailed(i) })
	if w := p.firstNotPassed(); w != nil && w.updated(p.Newest) && !p.Now.Before(p.soaked(w)) {
		due = append(due, p.toBeSeen(w)...)
	}
	names := make([]string, 0, len(due))
	for _, i := range due {
		names = append(names, i.Name)
	}
	return names
}

func (p *plan) serveNew() {
	for k := range p.Installations {
		if i := &p.Installations[k]; i.Assigned == "" {
			p.assign(i, cmp.Or(p.LastGood, p.Newest))
		}
	}
}

func (p *plan) takeBack() {
	for k := range p.Installations {
		if i := &p.Installations[k]; p.rollsBack() && p.isBad(i.Assigned) {
			p.assign(i, p.LastGood)
		}
	}
}

func (p *plan) isBad(revision string) bool {
	return slices.Contains(p.Bad, revision) || p.verdict == bad && revision == p.Newest
}

func (p *plan) rollsBack() bool {
	return p.Rollout.Rollback != installationv1alpha1.RollbackNever && p.LastGood != ""
}

// advance brings installations to the target within what the waves at work allow.
func (p *plan) advance() {
	if p.Rollout.Paused {
		return
	}
	for _, w := range p.atWork() {
		for _, i := range p.chosen(w, p.target()) {
			p.assign(i, p.target())
		}
	}
}

// target is the revision that everybody is to have in the end, as far as that is known; empty when everybody keeps what they have.
func (p *plan) target() string {
	switch {
	case p.verdict == candidate, p.verdict == good:
		return p.Newest
	case p.verdict == bad && p.rollsBack():
		return p.LastGood
	default:
		return ""
	}
}

// atWork returns the waves in which installations may be brought to the target.
func (p *plan) atWork() []*wave {
	switch w := p.firstNotPassed(); {
	case p.target() == "" || p.verdict == candidate && w == nil:
		return nil
	case p.verdict == candidate:
		return []*wave{w}
	default:
		return p.waves
	}
}

// assign overrides nothing that was decided before.
func (p *plan) assign(i *Installation, revision string) {
	if _, decided := p.decision.Assign[i.Name]; decided || i.Assigned == revision {
		return
	}
	p.decision.Assign[i.Name] = revision
	i.Assigned, i.AssignedAt, i.Failed = revision, p.Now, ""
}

// again returns how long it is until the next moment from which on something else may be decided.
func (p *plan) again() time.Duration {
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
	for k := range p.Installations {
		if i := &p.Installations[k]; p.onTrial(i) {
			moments = append(moments, p.hopeEnds(i))
		}
	}
	for _, w := range p.atWork() {
		if p.verdict == candidate && w.updated(p.Newest) {
			moments = append(moments, p.soaked(w))
		}
		for _, i := range w.members {
			if p.holdsPlace(i, p.target()) {
				moments = append(moments, p.hopeEnds(i))
			}
		}
	}
	return moments
}
