package rollout

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/intstr"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// checks collects what a world has seen that must not be.
type checks struct{ broken []error }

func (c *checks) that(rule string, holds bool, details ...any) {
	if !holds {
		c.broken = append(c.broken, fmt.Errorf("%s: %+v", rule, details))
	}
}

func (c *checks) equal(rule string, want, got any) {
	if !reflect.DeepEqual(want, got) {
		difference := cmp.Diff(want, got, cmpopts.EquateEmpty())
		c.that(rule, difference == "", difference)
	}
}

func (c *checks) err() error {
	return errors.Join(c.broken[:min(len(c.broken), 3)]...)
}

// check holds a decision against what a decision must be. Waves, health and numbers are counted here in a way of its own.
func (w *world) check(s Situation, d Decision) {
	shuffled := s
	shuffled.Installations = slices.Clone(s.Installations)
	w.rand.Shuffle(len(s.Installations), func(a, b int) {
		shuffled.Installations[a], shuffled.Installations[b] = shuffled.Installations[b], shuffled.Installations[a]
	})
	w.checks.equal("the order of installations does not matter", d, Decide(shuffled))
	w.checks.equal("deciding changes nothing", w.situation(), s)
	w.checks.that("it looks again not within the second", d.Again == 0 || d.Again >= time.Second, d.Again)
	w.checkVerdict(s, d)
	if d.Good {
		s.LastGood = s.Newest
	}
	if d.Bad {
		s.Bad = append(slices.Clone(s.Bad), s.Newest)
	}
	isCandidate := !s.NewestGood && !d.Good
	for _, o := range outcomes(s, d) {
		w.checkOne(s, o)
		if isCandidate && o.Assigned != "" && o.given == s.Newest {
			w.checkCandidate(s, o)
		}
	}
	for _, name := range []string{"canary", "early", "rest"} {
		w.checkWave(s, d, name)
	}
}

func (w *world) checkVerdict(s Situation, d Decision) {
	w.checks.that("nothing is good and bad", !d.Good || !d.Bad)
	w.checks.that("what was judged is not judged again", !d.Good && !d.Bad || !s.NewestGood && !s.NewestBad)
	isHidden := slices.ContainsFunc(w.present(), func(one *site) bool { return one.erring > 0 && one.seen.Assigned == s.Newest })
	w.checks.that("what is fine is never bad, unless looking fails until the time is up", !d.Bad || !w.isFine(s.Newest) || isHidden, d.Reason)
	w.checks.that("what is broken is never good", !d.Good || w.revisions[s.Newest].temper != broken)
	if d.Good {
		w.counts["good"]++
	}
	if d.Bad {
		w.counts["bad"]++
		w.checkSpread(s.Newest)
	}
}

// outcome is what a decision means for an installation.
type outcome struct {
	Installation

	wave    string
	given   string
	isGiven bool
	up      bool
	back    bool // it has a bad revision and is to lose it
	down    bool // once the decision has been carried out
}

// isAway: nobody knows how it is.
func isAway(i Installation) bool { return i.Unreachable || i.TriedAt.IsZero() && i.Applied != "" }

func outcomes(s Situation, d Decision) []outcome {
	var found []outcome
	for _, i := range s.Installations {
		o := outcome{Installation: i, wave: i.SeedLabels["wave"]}
		o.given, o.isGiven = d.Assign[i.Name]
		o.up = i.Assigned != "" && i.Applied == i.Assigned && !i.HealthySince.IsZero() && i.Failed == ""
		o.back = slices.Contains(s.Bad, i.Assigned) && s.LastGood != "" && s.Rollout.Rollback != installationv1alpha1.RollbackNever
		isAway := isAway(i)
		lost := isAway && i.Assigned == s.Newest && i.Applied != s.Newest && i.Failed == "" && s.Now.Sub(i.AssignedAt) < 10*minute
		o.down = lost || !isAway && (!o.up || o.isGiven && i.Applied != o.given)
		found = append(found, o)
	}
	return found
}

// checkSpread holds a revision that works nowhere back where it was shown to: where nobody comes and goes, that is in one wave.
func (w *world) checkSpread(revision string) {
	if w.revisions[revision].temper == broken && !w.eventful {
		w.checks.that("what is broken is seen in one wave only", len(w.waves[revision]) <= 1, w.waves[revision])
	}
}

func (w *world) checkOne(s Situation, o outcome) {
	switch {
	case o.Assigned == "":
		w.checks.that("who is new has a revision after one decision", o.isGiven || s.Newest == "" && s.LastGood == "", o)
		w.checks.that("who is new has what was good last", o.given == s.LastGood || s.LastGood == "", o)
	case o.back:
		w.counts["taken back"]++
		w.checks.that("who has a bad revision goes back at once", o.given == s.LastGood, o)
	case o.isGiven:
		w.checks.that("who is given something does not have it already", o.given != o.Assigned, o)
		w.checks.that("nothing bad is given to anybody who has something", !slices.Contains(s.Bad, o.given), o)
		w.checks.that("nobody who has something is given anything while it is paused", !s.Rollout.Paused, o)
		w.checks.that("nobody is given anything who cannot be reached", !isAway(o.Installation), o)
	}
}

// checkCandidate is about somebody who has something and is given a candidate.
func (w *world) checkCandidate(s Situation, o outcome) {
	isOnTheWay := o.Assigned == s.LastGood && o.Applied != o.Assigned && s.Now.Sub(o.AssignedAt) < 10*minute && o.Failed == ""
	w.checks.that("who is on the way to what is good may arrive", !isOnTheWay, o)
	if w.waves[o.given] == nil {
		w.waves[o.given] = map[string]bool{}
	}
	w.waves[o.given][o.wave] = true
	for _, before := range []string{"canary", "early", "rest"} {
		if before == o.wave {
			break
		}
		w.checkPassed(s, before)
	}
}

// checkPassed is called when a candidate is given to somebody in a later wave.
func (w *world) checkPassed(s Situation, name string) {
	members, reached := 0, 0
	for _, i := range s.Installations {
		if i.SeedLabels["wave"] != name {
			continue
		}
		members++
		if i.Unreachable {
			continue
		}
		w.checks.that("who is in an earlier wave has been seen when it had soaked, and not long ago",
			!i.SeenAt.Before(i.HealthySince.Add(5*minute)) && i.TriedAt.Sub(i.SeenAt) <= minute, i)
		reached++
		w.checks.that("who is in an earlier wave has been healthy for long",
			i.Applied == s.Newest && i.Assigned == s.Newest && !i.HealthySince.IsZero() && s.Now.Sub(i.HealthySince) >= 5*minute, i)
	}
	for _, one := range w.present() {
		if one.away == 0 && one.erring == 0 && one.seen.SeedLabels["wave"] == name {
			w.checks.that("who is in an earlier wave is really healthy", one.applied == s.Newest && one.well, one.seen)
		}
	}
	w.checks.that("somebody in an earlier wave was seen", members == 0 || reached > 0, name)
	if reached < members {
		w.counts["passed over the unreachable"]++
	}
}

// checkWave counts who is down once the decision has been carried out.
func (w *world) checkWave(s Situation, d Decision, name string) {
	var members, unavailable, takenDown int
	for _, o := range outcomes(s, d) {
		if o.wave != name {
			continue
		}
		members++
		if o.isGiven && o.up && !o.back {
			takenDown++
		}
		if o.isGiven && !o.up && !o.back && o.Assigned != "" {
			w.counts["cured"]++
		}
		if o.down {
			unavailable++
		}
	}
	w.counts["taken down"] += takenDown
	w.checks.that("no more are taken down than may be", takenDown == 0 || unavailable <= allowed(s.Rollout, name, members), name, unavailable, takenDown)
}

func allowed(rollout installationv1alpha1.Rollout, wave string, members int) int {
	for _, w := range rollout.Waves {
		if w.Name != wave {
			continue
		}
		if w.MaxUnavailable.Type == intstr.Int {
			return w.MaxUnavailable.IntValue()
		}
		var percent int
		if _, err := fmt.Sscanf(w.MaxUnavailable.StrVal, "%d%%", &percent); err != nil {
			return 0
		}
		return max(1, members*percent/100)
	}
	return 0
}

// atTheEnd says what a world must have come to.
func (w *world) atTheEnd() error {
	s := w.situation()
	d := Decide(s)
	w.counts["ended "+string(d.Progress.State)]++
	w.checks.equal("at the end nothing is left to do", Decision{Waves: d.Waves, Progress: d.Progress}, d)
	for _, one := range w.present() {
		w.checks.that("nobody is given things again and again", one.changes <= 4*w.counts["published"], one.seen.Name, one.changes)
	}
	newest := w.revisions[w.newest]
	var target string
	switch {
	case newest.good:
		target = w.newest
	case newest.bad && w.lastGood() != "" && w.rollout.Rollback != installationv1alpha1.RollbackNever:
		target = w.lastGood()
	case newest.bad:
		return nil
	case len(w.present()) == 0:
		return nil
	default:
		w.checks.that("a candidate is judged unless nobody of a wave can be reached", d.Progress.State == Waiting, d.Progress)
		return nil
	}
	for _, one := range w.present() {
		if one.away == 0 && !w.blocked(one) {
			w.checks.that("everybody who can be reached has what is good", one.applied == target, one.seen, target)
		}
	}
	return nil
}

// isFine reports whether a revision gets well on every seed.
func (w *world) isFine(revision string) bool {
	return w.revisions[revision].temper == fine && !slices.ContainsFunc(w.sites, func(s *site) bool { return s.allergic == revision })
}

// blocked reports whether an installation cannot have the target: it does not go together with the seed, or others that are ill with it take all
// places of the wave.
func (w *world) blocked(one *site) bool {
	wave := one.seen.SeedLabels["wave"]
	members, ill := 0, 0
	for _, other := range w.present() {
		if other.seen.SeedLabels["wave"] != wave {
			continue
		}
		members++
		if other.away == 0 && (!other.well || other.seen.Failed != "") {
			ill++
		}
	}
	return one.seen.Failed != "" || ill >= allowed(w.rollout, wave, members)
}
