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
		if o.isMoved() && !o.up && o.Assigned != "" {
			w.counts["cured"]++
		}
		if isCandidate && o.Assigned != "" && o.Assigned != o.given && o.given == s.Newest {
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
	w.checks.that("what is bad was shown to be so by somebody who was well before it", !d.Bad || slices.ContainsFunc(w.present(), func(one *site) bool { return w.hasShown(s, one) }), d.Reason)
	isHidden := slices.ContainsFunc(w.present(), func(one *site) bool { return w.hasHidden(s, one) })
	w.checks.that("what is fine is never bad, unless a seed is lost or looking fails until the time is up", !d.Bad || !w.isFine(s.Newest) || isHidden, d.Reason)
	w.checks.that("what is broken is never good", !d.Good || w.revisions[s.Newest].temper != broken)
	if d.Good {
		w.counts["good"]++
		harmed := w.harmed(s.Newest, WasHealthy, WasUnsteady, WasUnhealthy, WasNew)
		if len(harmed) > 0 {
			w.counts["good although one failed"]++
		}
		w.checks.that("what is good breaks no more of those who were well before it, or were new, than may fail", w.beyondMaxFailures(s, harmed) == 0, harmed)
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
	was     Before // how it is said to be when it is given that
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
		o.was = d.Before[i.Name]
		o.up = i.Assigned != "" && i.Applied == i.Assigned && i.Healthy && i.Failed == ""
		o.back = slices.Contains(s.Bad, i.Assigned) && s.LastGood != "" && s.Rollout.Rollback != installationv1alpha1.RollbackNever
		isAway := isAway(i)
		lost := i.Unreachable && i.Assigned == s.Newest && i.Before == WasHealthy && i.Observed.Hidden+s.Now.Sub(i.TriedAt) < 10*minute
		o.down = lost || !isAway && (!o.up || o.isGiven && i.Applied != o.given)
		found = append(found, o)
	}
	return found
}

// checkSpread holds a revision that works nowhere back where it was shown to: where nobody comes and goes, that is in one wave.
func (w *world) checkSpread(revision string) {
	if w.revisions[revision].temper == broken && !w.eventful {
		w.checks.that("what is broken is seen in one wave of healthy seeds only", len(w.waves[revision]) <= 1, w.waves[revision])
	}
	harmed := w.harmed(revision, WasHealthy, WasUnsteady, WasUnhealthy)
	w.counts["harmed"] += len(harmed)
	w.checks.that("what breaks more seeds than may fail, or loses them, does so in one wave only", w.eventful || w.beyondMaxFailures(w.situation(), harmed) <= 1, harmed)
}

// harmed counts in each wave who really was well before it got a revision and cannot be so with it, and who has been cut off by it; of those of whom the operator
// has said that they were so.
func (w *world) harmed(revision string, said ...Before) map[string]int {
	harmed := map[string]int{}
	for _, one := range w.present() {
		isBroken := one.sound && one.applied == revision && w.cannotHave(one, revision)
		if slices.Contains(said, one.seen.Before) && one.seen.Assigned == revision && (isBroken || one.cut == revision) {
			harmed[one.seen.SeedLabels["wave"]]++
		}
	}
	return harmed
}

// beyondMaxFailures counts the waves in which more are harmed than may fail: never all.
func (w *world) beyondMaxFailures(s Situation, harmed map[string]int) int {
	waves := 0
	for wave, number := range harmed {
		if number > mayFail(s, wave) {
			waves++
		}
	}
	return waves
}

func mayFail(s Situation, wave string) int {
	members := 0
	for _, i := range s.Installations {
		if i.SeedLabels["wave"] == wave {
			members++
		}
	}
	return max(0, min(s.Rollout.MaxFailures.IntValue(), members-1))
}

// hasFailedAlready is about who has failed with a candidate, as some may.
func hasFailedAlready(s Situation, i Installation) bool {
	isTried := s.Rollout.MaxFailures.IntValue() > 0 && i.Assigned == s.Newest && i.Trial.Equal(s.NewestSince)
	return isTried && (i.Failed != "" && i.Before != WasRefused || (i.Unreachable || !i.Before.Unwell()) && isBroken(i))
}

// isBroken reports whether it is enough how somebody is to call a candidate bad.
func isBroken(i Installation) bool {
	o := i.Observed
	switch {
	case i.Unreachable || i.TriedAt.Sub(i.SeenAt) > minute:
		return o.Hidden >= 10*minute
	case o.Interruptions > 5 || o.UnhealthyTotal >= 10*minute:
		return true
	case i.Healthy:
		return false
	default:
		return i.WasHealthy && o.Unhealthy >= minute || !i.WasHealthy && o.Progressing >= 10*minute
	}
}

// hasShown reports whether it can be the fault of a candidate how somebody is.
func (w *world) hasShown(s Situation, one *site) bool {
	switch i := one.seen; {
	case i.Assigned != s.Newest || !i.Trial.Equal(s.NewestSince):
		return false
	case i.Failed != "" && i.Before != WasRefused || w.hasHidden(s, one):
		return true
	case one.ill || one.seen.Before.Unwell():
		return false
	default:
		isBroken := !one.well && (i.Observed.Progressing >= 10*minute || i.Observed.Unhealthy >= minute)
		return w.cannotHave(one, s.Newest) || !one.flaps && (isBroken || i.Observed.Interruptions > 5 || i.Observed.UnhealthyTotal >= 10*minute)
	}
}

// hasHidden reports whether nobody can see any more how somebody is with a candidate, until the time is up.
func (w *world) hasHidden(s Situation, one *site) bool {
	isErring := one.erring > 0 && !one.seen.Before.Unwell()
	return one.seen.Assigned == s.Newest && (one.away > 0 || isErring) && one.seen.Observed.Hidden >= 10*minute
}

// cannotHave reports whether a revision never becomes healthy on a seed.
func (w *world) cannotHave(one *site, revision string) bool {
	is := w.revisions[revision].temper
	return is == broken || is == choosy && one.odd
}

func (w *world) checkOne(s Situation, o outcome) {
	switch {
	case o.Assigned == "":
		w.checks.that("who is new has a revision after one decision", o.isGiven || s.Newest == "" && s.LastGood == "", o)
		w.checks.that("who is new has what was good last", o.given == s.LastGood || s.LastGood == "" || o.was == CameLate && w.hasIt(s, o.wave), o)
	case o.back:
		w.counts["taken back"]++
		w.checks.that("who has a bad revision goes back at once", o.given == s.LastGood, o)
	case o.isGiven && o.given == o.Assigned:
		w.checks.that("who is observed anew has a candidate that is tried anew", o.given == s.Newest && !o.Trial.Equal(s.NewestSince), o)
	case o.isGiven:
		w.checkGiven(s, o)
	}
}

// checkGiven is about who has something and is given something else.
func (w *world) checkGiven(s Situation, o outcome) {
	w.checks.that("who is given something does not have it already", o.given != o.Assigned, o)
	w.checks.that("nothing bad is given to anybody who has something", !slices.Contains(s.Bad, o.given), o)
	isTakenBack := o.given == s.LastGood && o.Assigned != s.Newest
	hasFailed := isTakenBack && o.Before != WasUnhealthy && (!o.up || o.Observed.Hidden >= 10*minute)
	w.checks.that("nobody who has something is given anything while it is paused, but what was good for a superseded candidate that failed", !s.Rollout.Paused || hasFailed, o)
	w.checks.that("nobody is given anything who cannot be reached, but what was good for a superseded candidate",
		!isAway(o.Installation) || isTakenBack && o.Observed.Hidden+s.Now.Sub(o.TriedAt) >= 10*minute, o)
}

// hasIt reports whether all of a wave who are waited for are healthy with the newest, and there is one.
func (w *world) hasIt(s Situation, wave string) bool {
	has := false
	for _, i := range s.Installations {
		if i.SeedLabels["wave"] != wave || i.Unreachable || w.isExcused(s, i) {
			continue
		}
		if i.Assigned != s.Newest || i.Applied != s.Newest || !i.Healthy {
			return false
		}
		has = true
	}
	return has
}

// checkCandidate is about somebody who has something and is given a candidate.
func (w *world) checkCandidate(s Situation, o outcome) {
	isOnTheWay := o.Assigned == s.LastGood && o.Applied != o.Assigned && max(o.Observed.Progressing, o.Observed.Hidden)+s.Now.Sub(o.TriedAt) < 10*minute && o.Failed == ""
	w.checks.that("who is on the way to what is good may arrive", !isOnTheWay, o)
	if w.waves[o.given] == nil {
		w.waves[o.given] = map[string]bool{}
	}
	if o.was != WasHealthy {
		return // it is ill with what it has, and can only win
	}
	w.waves[o.given][o.wave] = true
	w.checkHarm(s, o.wave)
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
		if !i.Unreachable {
			reached++
		}
		if hasFailedAlready(s, i) {
			continue
		}
		if i.Unreachable {
			w.checks.that("who is in an earlier wave was not lost since", i.Assigned != s.Newest || i.Before != WasHealthy && i.Before != WasUnsteady, i)
			continue
		}
		if w.isExcused(s, i) {
			continue
		}
		w.checks.that("who is in an earlier wave has been seen when it had soaked, and not long ago", !i.SeenAt.IsZero() && i.TriedAt.Sub(i.SeenAt) <= minute, i)
		w.checks.that("who is in an earlier wave has been healthy for long",
			i.Applied == s.Newest && i.Assigned == s.Newest && i.Healthy && i.Observed.Healthy >= 5*minute, i)
	}
	w.checks.that("somebody in an earlier wave was seen", members == 0 || reached > 0, name)
	if reached < members {
		w.counts["passed over the unreachable"]++
	}
}

// isExcused: nobody waits for who is as it was before, for more than ten minutes; nor for who is new, as long as there is anybody else.
func (w *world) isExcused(s Situation, i Installation) bool {
	if !isNew(s, i) {
		return hadItsTime(s, i) || hasFailedAlready(s, i)
	}
	return slices.ContainsFunc(s.Installations, func(other Installation) bool {
		wasAway := other.Unreachable && (other.Assigned != s.Newest || other.Before == WasNew && other.Applied != s.Newest)
		return other.SeedLabels["wave"] == i.SeedLabels["wave"] && !isNew(s, other) && !wasAway && !hadItsTime(s, other)
	})
}

func isNew(s Situation, i Installation) bool {
	return i.Before == CameLate || i.Before == WasNew && i.Assigned != s.Newest && i.Trial.Equal(s.NewestSince) || i.Assigned == ""
}

// hadItsTime is about who was not well before, or not for long.
func hadItsTime(s Situation, i Installation) bool {
	isAsBefore := i.Before == WasUnhealthy || i.Before == WasUnsteady && !i.Unreachable && (i.Observed.Interruptions > 0 || i.Applied == i.Assigned && i.WasHealthy && !i.Healthy)
	return isAsBefore && i.Assigned == s.Newest && i.Observed.Total >= 10*minute
}

// checkHarm: a candidate that has broken, or cut off, anybody in another wave who was well before goes no further.
func (w *world) checkHarm(s Situation, wave string) {
	harmed := w.harmed(s.Newest, WasHealthy, WasUnsteady, WasUnhealthy)
	delete(harmed, wave)
	w.checks.that("no more in another wave are broken, or cut off, than may fail", w.beyondMaxFailures(s, harmed) == 0, harmed)
	for _, one := range w.present() {
		isTried := one.sound && one.seen.Before == WasHealthy && one.seen.Assigned == s.Newest && one.seen.SeedLabels["wave"] != wave
		if isTried && one.away == 0 && one.erring == 0 && !hasFailedAlready(s, one.seen) {
			w.checks.that("who is in another wave is really healthy", one.applied == s.Newest && one.well, one.seen)
		}
	}
}

// checkWave counts who is down once the decision has been carried out.
func (w *world) checkWave(s Situation, d Decision, name string) {
	var members, unavailable, takenDown, ill int
	for _, o := range outcomes(s, d) {
		if o.wave != name {
			continue
		}
		members++
		if o.isMoved() && o.up {
			takenDown++
		}
		if !o.down || w.isExcused(s, o.Installation) || isPastHope(s, o.Installation) {
			continue
		}
		unavailable++
		if o.isIllWithout(s.Newest) {
			ill++
		}
	}
	w.counts["taken down"] += takenDown
	if isCandidate := !s.NewestGood && !d.Good && !slices.Contains(s.Bad, s.Newest); isCandidate && takenDown == 1 {
		unavailable -= ill // one may always be given a candidate beside those that are ill without it
	}
	w.checks.that("no more are taken down than may be", takenDown == 0 || unavailable <= allowed(s.Rollout, name, members), name, unavailable, takenDown)
}

// isMoved reports whether somebody is given anything else than what it has, and not because that is bad. Who is observed anew is not.
func (o outcome) isMoved() bool { return o.isGiven && o.given != o.Applied && !o.back }

func (o outcome) isIllWithout(revision string) bool {
	return !o.up && o.Assigned != "" && o.Assigned != revision
}

// isPastHope is about who was not well before it got what everybody is to have, and is not well with that: it would hold up the others for ever.
func isPastHope(s Situation, i Installation) bool {
	isTarget := i.Assigned == s.Newest && s.NewestGood || i.Assigned == s.LastGood && slices.Contains(s.Bad, s.Newest)
	o, since := i.Observed, s.Now.Sub(i.TriedAt)
	return isTarget && (i.Before == WasUnhealthy || i.Before == WasUnsteady) && (o.Progressing+since >= 10*minute || o.Unhealthy > 0 && (o.Unhealthy+since >= minute || o.UnhealthyTotal+since >= 10*minute))
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
	w.checks.that("at the end nothing is left to do", len(d.Assign) == 0 && !d.Good && !d.Bad, d)
	for _, one := range w.present() {
		w.checks.that("nobody is given things again and again", one.changes <= 4*w.counts["published"]+2*w.counts["mended"], one.seen.Name, one.changes)
	}
	newest := w.revisions[w.newest]
	w.checkCalm(newest)
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

// checkCalm: what is fine is good within a bound, although seeds were ill before, come and go for less than the deadline, or are new, and clocks jump. It
// is for each wave: one seed after the other, the longest wait, and the soak, begun anew once for each that was away or ill for a moment.
func (w *world) checkCalm(newest *record) {
	if !w.isCalm || len(w.present()) == 0 || w.nothingCanBeProven() {
		return
	}
	w.checks.that("what is fine is good within a bound", newest.good && w.verdict.Sub(w.given) <= 5*hour, newest, w.verdict.Sub(w.given))
	if newest.good {
		w.counts["good in a calm world"]++
	}
}

// nothingCanBeProven reports whether there is nobody who was well before.
func (w *world) nothingCanBeProven() bool {
	return !slices.ContainsFunc(w.present(), func(one *site) bool { return !one.ill && !one.flaps })
}

// isFine reports whether a revision gets well on every seed.
func (w *world) isFine(revision string) bool {
	return w.revisions[revision].temper == fine && !slices.ContainsFunc(w.sites, func(s *site) bool { return s.allergic == revision })
}

// blocked reports whether an installation cannot have the target: it does not go together with the seed, or others that became ill with it
// take all places of the wave.
func (w *world) blocked(one *site) bool {
	wave := one.seen.SeedLabels["wave"]
	members, ill := 0, 0
	for _, other := range w.present() {
		if other.seen.SeedLabels["wave"] != wave {
			continue
		}
		members++
		if other.away == 0 && other.seen.Before != WasUnhealthy && (!other.well || other.seen.Failed != "") {
			ill++
		}
	}
	return one.seen.Failed != "" || ill >= allowed(w.rollout, wave, members)
}
