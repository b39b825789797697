package rollout

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// environments is how many there are, unless TRELLIS_ROLLOUT_WORLDS says otherwise: a number, or a range like 600-700.
	environments = 250
	// maxBrokenEnvironments is how many worlds may break a rule before the others are left out.
	maxBrokenEnvironments = 10
	// horizon is when things stop to happen by chance.
	horizon = 6 * hour
	// maxEvents bounds how often anything happens in a world: far more than ever does.
	maxEvents = 50000
)

// TestSimulation lets operators work in worlds that are made by chance, until nothing happens any more.
func TestSimulation(t *testing.T) {
	seen, broken := map[string]int{}, 0
	first, end := environmentRange(t)
	for seed := first; seed < end && broken < maxBrokenEnvironments; seed++ {
		env := newEnvironment(seed)
		err := env.run()
		if !assert.NoError(t, errors.Join(err, env.checks.err()), "world %d", seed) {
			broken++
		}
		for what, times := range env.counts {
			seen[what] += times
		}
		if (seed+1)%1000 == 0 {
			t.Logf("%d worlds", seed+1)
		}
	}
	t.Log(seen)
	if end-first < environments {
		return
	}
	for _, what := range []string{
		"good", "bad", "crashed after a result", "crashed among assignments", "paused", "new", "taken back", "taken down", "cured", "republished", "mended",
		"superseded", "ended Idle", "ended Stopped", "ended Waiting", "passed over the unreachable", "asked to look",
		"cut off", "ill before", "flaps", "came late", "clock jumped", "good in a calm world", "harmed", "failures allowed",
	} {
		assert.Positive(t, seen[what], "a simulation in which this never happens proves little: %s", what)
	}
}

// environmentRange returns the first world and the one after the last.
func environmentRange(t *testing.T) (first, end uint64) {
	given := os.Getenv("TRELLIS_ROLLOUT_WORLDS")
	if given == "" {
		return 0, environments
	}
	from, to, isRange := strings.Cut(given, "-")
	if !isRange {
		from, to = "0", given
	}
	first, err := strconv.ParseUint(from, 10, 64)
	require.NoError(t, err)
	end, err = strconv.ParseUint(to, 10, 64)
	require.NoError(t, err)
	return first, end
}

// newEnvironment makes a world with everything that is going to happen to it from outside.
func newEnvironment(seed uint64) *environment {
	env := &environment{
		rand: rand.New(rand.NewPCG(seed, 0)), now: noon(), startedAt: noon(), rollout: threeWaves(),
		revisions: map[string]*record{}, waves: map[string]map[string]bool{}, counts: map[string]int{},
	}
	for k := range env.rollout.Waves {
		maximum := intstr.FromString(fmt.Sprintf("%d%%", 1+env.rand.IntN(100)))
		if env.chance(50) {
			maximum = intstr.FromInt32(1 + env.rand.Int32N(3))
		}
		env.rollout.Waves[k].MaxUnavailable = &maximum
	}
	if env.chance(15) {
		env.rollout.Rollback = "Never"
	}
	if rand.New(rand.NewPCG(seed, 1)).IntN(6) == 0 {
		env.rollout.MaxFailures = new(intstr.FromInt32(1))
		env.counts["failures allowed"]++
	}
	if env.chance(80) {
		env.publish("r0", stable)
		env.revisions["r0"].good = true
	}
	for k := range env.rand.IntN(14) {
		s := env.addSeed(env.placement(k))
		if env.lastGood() != "" {
			env.assignInitial(s)
		}
	}
	env.schedule()
	return env
}

// assignInitial gives a seed r0, long ago. Some have been ill with it ever since, or are now and then.
func (env *environment) assignInitial(s *simulatedSeed) {
	s.observed.Assigned, s.observed.AssignedAt, s.observed.Applied, s.applied = "r0", env.now.Add(-hour), "r0", "r0"
	s.observed.Healthy, s.healthy = true, true
	s.observed.Observed = Observed{Total: hour, Progressing: minute, Healthy: 59 * minute}
	switch env.rand.IntN(12) {
	case 0:
		s.alwaysUnhealthy, s.healthy, s.observed.Healthy = true, false, false
		s.observed.Observed = Observed{Total: hour, Progressing: hour}
		env.counts["ill before"]++
	case 1:
		s.flaps = true
		s.observed.Observed.Interruptions, s.observed.Observed.Healthy = 3, minute
		env.flap(s)
		env.counts["flaps"]++
	}
	s.stored = s.observed.Observed
	env.checkSeed(s)
}

func (env *environment) placement(k int) (name, wave string) {
	wave = []string{"canary", "early", "rest", "rest"}[env.rand.IntN(4)]
	return fmt.Sprintf("eu-%02d", k), wave
}

// schedule decides what happens from outside.
func (env *environment) schedule() {
	behaviors := []behavior{stable, stable, stable, neverHealthy, healthyOnEvenSeeds, unrenderable, failsLater, disconnectsSeeds, disconnectsSeeds, flapping}
	if env.isCalm = env.chance(25); env.isCalm {
		env.calm()
		return
	}
	env.after(minute, func() { env.publish("r1", behaviors[env.rand.IntN(len(behaviors))]) })
	if env.chance(40) {
		env.after(env.between(2*minute, horizon), func() { env.publish("r2", behaviors[env.rand.IntN(len(behaviors))]); env.counts["superseded"]++ })
	}
	if env.chance(15) && env.lastGood() != "" {
		env.after(env.between(2*minute, horizon), func() { env.publish("r0", stable); env.counts["republished"]++ })
	}
	if env.chance(30) {
		env.after(env.between(0, horizon/2), func() { env.rollout.Paused = true; env.counts["paused"]++ })
		env.after(env.between(horizon/2, horizon), func() { env.rollout.Paused = false })
	}
	if env.chance(40) {
		env.after(env.between(hour, horizon), env.repair)
	}
	env.installationsChange = env.chance(50)
	for k := range env.rand.IntN(5) {
		if env.installationsChange {
			env.after(env.between(0, horizon), func() { env.addSeed(env.placement(20 + k)); env.counts["new"]++ })
			env.after(env.between(0, horizon), func() { env.remove() })
		}
	}
	if env.chance(30) {
		env.after(env.between(0, horizon), func() { env.shiftClock(2*hour, env.between(time.Second, 2*hour)) })
	}
	for range env.rand.IntN(3) {
		env.after(env.between(0, horizon), func() { env.restartOperator(env.between(time.Second, hour)) })
	}
	for _, s := range env.seeds {
		env.scheduleFailures(s)
	}
}

// calm publishes something fine, and lets seeds and the clock misbehave.
func (env *environment) calm() {
	env.after(minute, func() { env.publish("r1", stable) })
	for range 1 + env.rand.IntN(3) {
		env.after(env.between(0, horizon/2), func() {
			env.shiftClock([]time.Duration{2 * hour, -2 * hour}[env.rand.IntN(2)], env.between(time.Second, 2*minute))
		})
	}
	if env.chance(30) {
		env.addLateSeeds(0)
	}
	for _, s := range env.seeds {
		for env.chance(25) {
			env.after(env.between(0, horizon), func() { env.makeUnreachable(s, env.between(time.Second, 8*minute)) })
		}
	}
}

// shiftClock sets the clock on the wall wrong for a while.
func (env *environment) shiftClock(by, d time.Duration) {
	env.counts["clock jumped"]++
	env.clockOffset += by
	env.after(d, func() { env.clockOffset -= by })
}

// addLateSeeds brings one more canary every twelve minutes.
func (env *environment) addLateSeeds(k int) {
	env.after(12*minute, func() {
		if env.now.Sub(noon()) < horizon {
			env.counts["came late"]++
			env.addSeed(fmt.Sprintf("late-%03d", k), "canary")
			env.addLateSeeds(k + 1)
		}
	})
}

func (env *environment) scheduleFailures(s *simulatedSeed) {
	if env.chance(10) && env.lastGood() != "" {
		s.incompatible = "r0"
		env.later(s, env.between(0, horizon), func() { env.setHealthy(s, false) })
	}
	for env.chance(25) {
		env.after(env.between(0, horizon), func() { env.makeUnreachable(s, env.between(time.Second, 2*hour)) })
	}
	for env.chance(25) {
		env.after(env.between(0, horizon), func() { env.makeErroring(s, env.between(time.Second, 2*hour)) })
	}
	if env.chance(4) {
		env.after(env.between(0, horizon), func() { s.outages++; env.checkSeed(s) })
	}
	if env.chance(25) {
		env.later(s, env.between(0, horizon), func() { env.failBriefly(s) })
	}
}

func (env *environment) remove() {
	if present := env.installedSeeds(); len(present) > 0 {
		present[env.rand.IntN(len(present))].removed = true
	}
}

// run lets time pass until nothing is left to happen.
func (env *environment) run() error {
	var requeueAt time.Time
	idle := 0
	for range maxEvents {
		switch {
		case len(env.events) > 0 && (requeueAt.IsZero() || !env.events[0].at.After(requeueAt)):
			next := env.events[0]
			env.events = env.events[1:]
			env.now = next.at
			next.do()
		case requeueAt.IsZero():
			return env.checkEnd()
		default:
			env.now = requeueAt
		}
		if !env.now.Equal(requeueAt) && !env.hasChanged() {
			continue
		}
		requeueAt = time.Time{}
		again, hasActed := env.decide()
		if len(env.checks.violations) > 0 {
			return nil
		}
		if again > 0 {
			requeueAt = env.now.Add(again)
		}
		if idle++; hasActed || env.now.Sub(noon()) < 3*horizon {
			idle = 0
		}
		if idle > 50 { // it looks at what nobody reaches, and nothing comes of it
			return env.checkEnd()
		}
	}
	return fmt.Errorf("it never comes to rest: %+v", Decide(env.input()).Progress)
}

// hasChanged reports whether there is anything but the time that the operator has not seen yet. Only then it looks before the time that it named.
func (env *environment) hasChanged() bool {
	s := env.input()
	s.Now = env.lastInput.Now
	return !env.lastStartedAt.Equal(env.startedAt) || !reflect.DeepEqual(env.lastInput, s)
}

// decide decides and carries the decision out, as far as the operator lives.
func (env *environment) decide() (again time.Duration, hasActed bool) {
	if env.startedAt.IsZero() {
		return 0, true
	}
	s := env.input()
	env.lastInput, env.lastStartedAt = s, env.startedAt
	d := Decide(s)
	env.check(s, d)
	if d.Good || d.Bad {
		newest := env.revisions[env.newest]
		newest.good, newest.bad, newest.reason, newest.since = d.Good, d.Bad, d.Reason, env.wallClock()
		env.foundGoodAt = env.now
		env.checks.equal("after a crash between result and assignment the decision is the same", Decide(env.input()).Assign, d.Assign)
		if env.chance(10) {
			env.counts["crashed after a result"]++
			env.restartOperator(env.between(time.Second, hour))
			return 0, true
		}
	}
	if !env.assign(s, d) {
		return 0, true
	}
	for _, name := range d.Check {
		if one := env.seeds[slices.IndexFunc(env.seeds, func(s *simulatedSeed) bool { return s.observed.Name == name })]; !one.checkRequested {
			one.checkRequested = true
			env.counts["asked to look"]++
			env.after(time.Second, func() { env.checkSeed(one) })
		}
	}
	return d.RequeueAfter, d.Good || d.Bad || len(d.Assign) > 0
}

// assign carries assignments out, unless the operator dies among them.
func (env *environment) assign(s Input, d Decision) bool {
	for _, name := range slices.Sorted(maps.Keys(d.Assign)) {
		one := env.seeds[slices.IndexFunc(env.seeds, func(s *simulatedSeed) bool { return s.observed.Name == name })]
		if one.observed.Assigned != d.Assign[name] {
			wasWell := one.observed.Assigned == "" || one.observed.Assigned == one.applied && one.healthy
			one.wasHealthy = wasWell && !one.alwaysUnhealthy && !one.flaps && one.outages == 0 && one.errorSources == 0
			one.wasVisible = env.isVisible(one)
		}
		one.observed.Assigned, one.observed.AssignedAt, one.observed.Failed = d.Assign[name], env.wallClock(), ""
		one.observed.Before, one.observed.Trial, one.observed.Observed, one.stored, one.observedUntil = d.Before[name], s.NewestSince, Observed{}, Observed{}, time.Time{}
		one.changes++
		env.checkSeed(one)
		if env.chance(3) {
			env.counts["crashed among assignments"]++
			env.restartOperator(env.between(time.Second, hour))
			return false
		}
	}
	return true
}
