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
type checks struct{ violations []error }

func (c *checks) that(rule string, holds bool, details ...any) {
	if !holds {
		c.violations = append(c.violations, fmt.Errorf("%s: %+v", rule, details))
	}
}

func (c *checks) equal(rule string, want, got any) {
	if !reflect.DeepEqual(want, got) {
		difference := cmp.Diff(want, got, cmpopts.EquateEmpty())
		c.that(rule, difference == "", difference)
	}
}

func (c *checks) err() error {
	return errors.Join(c.violations[:min(len(c.violations), 3)]...)
}

// check holds a decision against what a decision must be. Waves, health and numbers are counted here in a way of its own.
func (env *environment) check(s Input, d Decision) {
	shuffled := s
	shuffled.Installations = slices.Clone(s.Installations)
	env.rand.Shuffle(len(s.Installations), func(a, b int) {
		shuffled.Installations[a], shuffled.Installations[b] = shuffled.Installations[b], shuffled.Installations[a]
	})
	env.checks.equal("the order of installations does not matter", d, Decide(shuffled))
	env.checks.equal("deciding changes nothing", env.input(), s)
	env.checks.that("it looks again not within the second", d.RequeueAfter == 0 || d.RequeueAfter >= time.Second, d.RequeueAfter)
	env.checkResult(s, d)
	if d.Good {
		s.LastGood = s.Newest
	}
	if d.Bad {
		s.Bad = append(slices.Clone(s.Bad), s.Newest)
	}
	isCandidate := !s.NewestGood && !d.Good
	for _, o := range outcomes(s, d) {
		env.checkOne(s, o)
		if o.isMoved() && !o.up && o.Assigned != "" {
			env.counts["cured"]++
		}
		if isCandidate && o.Assigned != "" && o.Assigned != o.target && o.target == s.Newest {
			env.checkCandidate(s, o)
		}
	}
	for _, name := range []string{"canary", "early", "rest"} {
		env.checkWave(s, d, name)
	}
}

func (env *environment) checkResult(s Input, d Decision) {
	env.checks.that("nothing is good and bad", !d.Good || !d.Bad)
	env.checks.that("an evaluated revision is not evaluated again", !d.Good && !d.Bad || !s.NewestGood && !s.NewestBad)
	env.checks.that("what is bad was shown to be so by somebody who was well before it", !d.Bad || slices.ContainsFunc(env.installedSeeds(), func(one *simulatedSeed) bool { return env.provesBad(s, one) }), d.Reason)
	isHidden := slices.ContainsFunc(env.installedSeeds(), func(one *simulatedSeed) bool { return env.wasHidden(s, one) })
	env.checks.that("what is fine is never bad, unless a seed is lost or looking fails until the time is up", !d.Bad || !env.isStable(s.Newest) || isHidden, d.Reason)
	env.checks.that("what is broken is never good", !d.Good || env.revisions[s.Newest].behavior != neverHealthy)
	if d.Good {
		env.counts["good"]++
		harmed := env.harmed(s.Newest, WasHealthy, WasUnsteady, WasUnhealthy, WasNew)
		if len(harmed) > 0 {
			env.counts["good although one failed"]++
		}
		env.checks.that("what is good breaks no more of those who were well before it, or were new, than may fail", env.beyondMaxFailures(s, harmed) == 0, harmed)
	}
	if d.Bad {
		env.counts["bad"]++
		env.checkSpread(s.Newest)
	}
}

// outcome is what a decision means for an installation.
type outcome struct {
	Installation

	wave         string
	target       string
	isAssigned   bool
	newBefore    Before // how it is said to be when it is given that
	up           bool
	isRolledBack bool // it has a bad revision and is to lose it
	down         bool // once the decision has been carried out
}

// isAway: nobody knows how it is.
func isAway(i Installation) bool { return i.Unreachable || i.TriedAt.IsZero() && i.Applied != "" }

func outcomes(s Input, d Decision) []outcome {
	var found []outcome
	for _, i := range s.Installations {
		o := outcome{Installation: i, wave: i.SeedLabels["wave"]}
		o.target, o.isAssigned = d.Assign[i.Name]
		o.newBefore = d.Before[i.Name]
		o.up = i.Assigned != "" && i.Applied == i.Assigned && i.Healthy && i.Failed == ""
		o.isRolledBack = slices.Contains(s.Bad, i.Assigned) && s.LastGood != "" && s.Rollout.Rollback != installationv1alpha1.RollbackNever
		isAway := isAway(i)
		lost := i.Unreachable && i.Assigned == s.Newest && i.Before == WasHealthy && i.Observed.Hidden+s.Now.Sub(i.TriedAt) < 10*minute
		o.down = lost || !isAway && (!o.up || o.isAssigned && i.Applied != o.target)
		found = append(found, o)
	}
	return found
}

// checkSpread holds a revision that works nowhere back where it was shown to: where nobody comes and goes, that is in one wave.
func (env *environment) checkSpread(revision string) {
	if env.revisions[revision].behavior == neverHealthy && !env.installationsChange {
		env.checks.that("what is broken is seen in one wave of healthy seeds only", len(env.waves[revision]) <= 1, env.waves[revision])
	}
	harmed := env.harmed(revision, WasHealthy, WasUnsteady, WasUnhealthy)
	env.counts["harmed"] += len(harmed)
	env.checks.that("what breaks more seeds than may fail, or loses them, does so in one wave only", env.installationsChange || env.beyondMaxFailures(env.input(), harmed) <= 1, harmed)
}

// harmed counts in each wave who really was well before it got a revision and cannot be so with it, and who has been cut off by it; of those of whom the operator
// has said that they were so. Who could not be seen when it was assigned that stops nobody.
func (env *environment) harmed(revision string, before ...Before) map[string]int {
	harmed := map[string]int{}
	for _, one := range env.installedSeeds() {
		isBroken := one.wasHealthy && one.applied == revision && env.isNeverHealthyOn(one, revision)
		isLost := one.wasVisible && one.disconnectedBy == revision
		if slices.Contains(before, one.observed.Before) && one.observed.Assigned == revision && (isBroken || isLost) {
			harmed[one.observed.SeedLabels["wave"]]++
		}
	}
	return harmed
}

// beyondMaxFailures counts the waves in which more are harmed than may fail: never all.
func (env *environment) beyondMaxFailures(s Input, harmed map[string]int) int {
	waves := 0
	for wave, number := range harmed {
		if number > mayFail(s, wave) {
			waves++
		}
	}
	return waves
}

func mayFail(s Input, wave string) int {
	members := 0
	for _, i := range s.Installations {
		if i.SeedLabels["wave"] == wave {
			members++
		}
	}
	return max(0, min(s.Rollout.MaxFailures.IntValue(), members-1))
}

// hasFailedAlready is about who has failed with a candidate, as some may.
func hasFailedAlready(s Input, i Installation) bool {
	isTried := s.Rollout.MaxFailures.IntValue() > 0 && i.Assigned == s.Newest && i.Trial.Equal(s.NewestSince)
	return isTried && (i.Failed != "" && i.Before != WasRefused || (i.Unreachable || !i.Before.Inconclusive()) && isBroken(i))
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

// provesBad reports whether it can be the fault of a candidate how somebody is.
func (env *environment) provesBad(s Input, one *simulatedSeed) bool {
	switch i := one.observed; {
	case i.Assigned != s.Newest || !i.Trial.Equal(s.NewestSince):
		return false
	case i.Failed != "" && i.Before != WasRefused || env.wasHidden(s, one):
		return true
	case one.alwaysUnhealthy || one.observed.Before.Inconclusive():
		return false
	default:
		isBroken := !one.healthy && (i.Observed.Progressing >= 10*minute || i.Observed.Unhealthy >= minute)
		return env.isNeverHealthyOn(one, s.Newest) || !one.flaps && (isBroken || i.Observed.Interruptions > 5 || i.Observed.UnhealthyTotal >= 10*minute)
	}
}

// wasHidden reports whether nobody can see any more how somebody is with a candidate, until the time is up.
func (env *environment) wasHidden(s Input, one *simulatedSeed) bool {
	isErring := one.errorSources > 0 && !one.observed.Before.Inconclusive()
	return one.observed.Assigned == s.Newest && (one.outages > 0 || isErring) && one.observed.Observed.Hidden >= 10*minute
}

// isNeverHealthyOn reports whether a revision never becomes healthy on a seed.
func (env *environment) isNeverHealthyOn(one *simulatedSeed, revision string) bool {
	is := env.revisions[revision].behavior
	return is == neverHealthy || is == healthyOnEvenSeeds && one.odd
}

func (env *environment) checkOne(s Input, o outcome) {
	switch {
	case o.Assigned == "":
		env.checks.that("who is new has a revision after one decision", o.isAssigned || s.Newest == "" && s.LastGood == "", o)
		env.checks.that("who is new has what was good last", o.target == s.LastGood || s.LastGood == "" || o.newBefore == WasLate && env.hasNewest(s, o.wave), o)
	case o.isRolledBack:
		env.counts["taken back"]++
		env.checks.that("who has a bad revision goes back at once", o.target == s.LastGood, o)
	case o.isAssigned && o.target == o.Assigned:
		env.checks.that("who is observed anew has a candidate that is tried anew", o.target == s.Newest && !o.Trial.Equal(s.NewestSince), o)
	case o.isAssigned:
		env.checkAssigned(s, o)
	}
}

// checkAssigned is about who has something and is given something else.
func (env *environment) checkAssigned(s Input, o outcome) {
	env.checks.that("who is given something does not have it already", o.target != o.Assigned, o)
	env.checks.that("nothing bad is given to anybody who has something", !slices.Contains(s.Bad, o.target), o)
	isTakenBack := o.target == s.LastGood && o.Assigned != s.Newest
	hasFailed := isTakenBack && o.Before != WasUnhealthy && (!o.up || o.Observed.Hidden >= 10*minute)
	env.checks.that("nobody who has something is given anything while it is paused, but what was good for a superseded candidate that failed", !s.Rollout.Paused || hasFailed, o)
	env.checks.that("nobody is given anything who cannot be reached, but what was good for a superseded candidate",
		!isAway(o.Installation) || isTakenBack && o.Observed.Hidden+s.Now.Sub(o.TriedAt) >= 10*minute, o)
}

// hasNewest reports whether all of a wave who are waited for are healthy with the newest, and there is one.
func (env *environment) hasNewest(s Input, wave string) bool {
	has := false
	for _, i := range s.Installations {
		if i.SeedLabels["wave"] != wave || i.Unreachable || env.isNotRequired(s, i) {
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
func (env *environment) checkCandidate(s Input, o outcome) {
	isOnTheWay := o.Assigned == s.LastGood && o.Applied != o.Assigned && max(o.Observed.Progressing, o.Observed.Hidden)+s.Now.Sub(o.TriedAt) < 10*minute && o.Failed == ""
	env.checks.that("who is on the way to what is good may arrive", !isOnTheWay, o)
	if env.waves[o.target] == nil {
		env.waves[o.target] = map[string]bool{}
	}
	if o.newBefore != WasHealthy {
		return // it is ill with what it has, and can only win
	}
	env.waves[o.target][o.wave] = true
	env.checkHarm(s, o.wave)
	for _, before := range []string{"canary", "early", "rest"} {
		if before == o.wave {
			break
		}
		env.checkComplete(s, before)
	}
}

// checkComplete is called when a candidate is given to somebody in a later wave.
func (env *environment) checkComplete(s Input, name string) {
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
			env.checks.that("who is in an earlier wave was not lost since", i.Assigned != s.Newest || i.Before != WasHealthy && i.Before != WasUnsteady, i)
			continue
		}
		if env.isNotRequired(s, i) {
			continue
		}
		env.checks.that("who is in an earlier wave has been seen when it had soaked, and not long ago", !i.SeenAt.IsZero() && i.TriedAt.Sub(i.SeenAt) <= minute, i)
		env.checks.that("who is in an earlier wave has been healthy for long",
			i.Applied == s.Newest && i.Assigned == s.Newest && i.Healthy && i.Observed.Healthy >= 5*minute, i)
	}
	env.checks.that("somebody in an earlier wave was seen", members == 0 || reached > 0, name)
	if reached < members {
		env.counts["passed over the unreachable"]++
	}
}

// isNotRequired: nobody waits for who is as it was before, for more than ten minutes; nor for who is new, as long as there is anybody else.
func (env *environment) isNotRequired(s Input, i Installation) bool {
	if !isNew(s, i) {
		return isWaitOver(s, i) || hasFailedAlready(s, i)
	}
	return slices.ContainsFunc(s.Installations, func(other Installation) bool {
		wasAway := other.Unreachable && (other.Assigned != s.Newest || other.Before == WasNew && other.Applied != s.Newest)
		return other.SeedLabels["wave"] == i.SeedLabels["wave"] && !isNew(s, other) && !wasAway && !isWaitOver(s, other)
	})
}

func isNew(s Input, i Installation) bool {
	return i.Before == WasLate || i.Before == WasNew && i.Assigned != s.Newest && i.Trial.Equal(s.NewestSince) || i.Assigned == ""
}

// isWaitOver is about who was not well before, or not for long.
func isWaitOver(s Input, i Installation) bool {
	isAsBefore := i.Before.Inconclusive() && !i.Unreachable || i.Before == WasUnsteady && !i.Unreachable && (i.Observed.Interruptions > 0 || i.Applied == i.Assigned && i.WasHealthy && !i.Healthy)
	return isAsBefore && i.Assigned == s.Newest && i.Observed.Total >= 10*minute
}

// checkHarm: a candidate that has broken, or cut off, anybody in another wave who was well before goes no further.
func (env *environment) checkHarm(s Input, wave string) {
	harmed := env.harmed(s.Newest, WasHealthy, WasUnsteady, WasUnhealthy)
	delete(harmed, wave)
	env.checks.that("no more in another wave are broken, or cut off, than may fail", env.beyondMaxFailures(s, harmed) == 0, harmed)
	for _, one := range env.installedSeeds() {
		isTried := one.wasHealthy && one.observed.Before == WasHealthy && one.observed.Assigned == s.Newest && one.observed.SeedLabels["wave"] != wave
		if isTried && one.outages == 0 && one.errorSources == 0 && !hasFailedAlready(s, one.observed) {
			env.checks.that("who is in another wave is really healthy", one.applied == s.Newest && one.healthy, one.observed)
		}
	}
}

// checkWave counts who is down once the decision has been carried out.
func (env *environment) checkWave(s Input, d Decision, name string) {
	var members, unavailable, takenDown, unhealthyCount int
	for _, o := range outcomes(s, d) {
		if o.wave != name {
			continue
		}
		members++
		if o.isMoved() && o.up {
			takenDown++
		}
		if !o.down || env.isNotRequired(s, o.Installation) || isTimeUp(s, o.Installation) {
			continue
		}
		unavailable++
		if o.isUnhealthyWithout(s.Newest) {
			unhealthyCount++
		}
	}
	env.counts["taken down"] += takenDown
	if isCandidate := !s.NewestGood && !d.Good && !slices.Contains(s.Bad, s.Newest); isCandidate && takenDown == 1 {
		unavailable -= unhealthyCount // one may always be given a candidate beside those that are ill without it
	}
	env.checks.that("no more are taken down than may be", takenDown == 0 || unavailable <= allowed(s.Rollout, name, members), name, unavailable, takenDown)
}

// isMoved reports whether somebody is given anything else than what it has, and not because that is bad. Who is observed anew is not.
func (o outcome) isMoved() bool { return o.isAssigned && o.target != o.Applied && !o.isRolledBack }

func (o outcome) isUnhealthyWithout(revision string) bool {
	return !o.up && o.Assigned != "" && o.Assigned != revision
}

// isTimeUp is about who was not well before it got what everybody is to have, and is not well with that: it would hold up the others for ever.
func isTimeUp(s Input, i Installation) bool {
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

// checkEnd says what a world must have come to.
func (env *environment) checkEnd() error {
	s := env.input()
	d := Decide(s)
	env.counts["ended "+string(d.Progress.State)]++
	env.checks.that("at the end nothing is left to do", len(d.Assign) == 0 && !d.Good && !d.Bad, d)
	for _, one := range env.installedSeeds() {
		env.checks.that("nobody is given things again and again", one.changes <= 4*env.counts["published"]+2*env.counts["mended"], one.observed.Name, one.changes)
	}
	newest := env.revisions[env.newest]
	env.checkCalm(newest)
	var target string
	switch {
	case newest.good:
		target = env.newest
	case newest.bad && env.lastGood() != "" && env.rollout.Rollback != installationv1alpha1.RollbackNever:
		target = env.lastGood()
	case newest.bad:
		return nil
	case len(env.installedSeeds()) == 0:
		return nil
	default:
		env.checks.that("a candidate is evaluated unless all seeds of a wave are unreachable", d.Progress.State == Waiting, d.Progress)
		return nil
	}
	for _, one := range env.installedSeeds() {
		if one.outages == 0 && !env.blocked(one) {
			env.checks.that("everybody who can be reached has what is good", one.applied == target, one.observed, target)
		}
	}
	return nil
}

// checkCalm: what is fine is good within a bound, although seeds were ill before, come and go for less than the deadline, or are new, and clocks jump. It
// is for each wave: one seed after the other, the longest wait, and the soak, begun anew once for each that was away or ill for a moment.
func (env *environment) checkCalm(newest *record) {
	if !env.isCalm || len(env.installedSeeds()) == 0 || env.nothingCanBeProven() {
		return
	}
	env.checks.that("what is fine is good within a bound", newest.good && env.foundGoodAt.Sub(env.publishedAt) <= 5*hour, newest, env.foundGoodAt.Sub(env.publishedAt))
	if newest.good {
		env.counts["good in a calm world"]++
	}
}

// nothingCanBeProven reports whether there is nobody who was well before.
func (env *environment) nothingCanBeProven() bool {
	return !slices.ContainsFunc(env.installedSeeds(), func(one *simulatedSeed) bool { return !one.alwaysUnhealthy && !one.flaps })
}

// isStable reports whether a revision gets well on every seed.
func (env *environment) isStable(revision string) bool {
	return env.revisions[revision].behavior == stable && !slices.ContainsFunc(env.seeds, func(s *simulatedSeed) bool { return s.incompatible == revision })
}

// blocked reports whether an installation cannot have the target: it does not go together with the seed, or others that became ill with it
// take all places of the wave.
func (env *environment) blocked(one *simulatedSeed) bool {
	wave := one.observed.SeedLabels["wave"]
	members, unhealthyCount := 0, 0
	for _, other := range env.installedSeeds() {
		if other.observed.SeedLabels["wave"] != wave {
			continue
		}
		members++
		if other.outages == 0 && other.observed.Before != WasUnhealthy && (!other.healthy || other.observed.Failed != "") {
			unhealthyCount++
		}
	}
	return one.observed.Failed != "" || unhealthyCount >= allowed(env.rollout, wave, members)
}
