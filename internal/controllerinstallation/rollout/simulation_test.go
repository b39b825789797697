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
	// worlds is how many there are, unless TRELLIS_ROLLOUT_WORLDS says otherwise: a number, or a range like 600-700.
	worlds = 250
	// brokenWorlds is how many worlds may break a rule before the others are left out.
	brokenWorlds = 10
	// horizon is when things stop to happen by chance.
	horizon = 6 * hour
	// happenings bounds how often anything happens in a world: far more than ever does.
	happenings = 50000
)

// TestSimulation lets operators work in worlds that are made by chance, until nothing happens any more.
func TestSimulation(t *testing.T) {
	seen, broken := map[string]int{}, 0
	first, end := givenWorlds(t)
	for seed := first; seed < end && broken < brokenWorlds; seed++ {
		w := newWorld(seed)
		err := w.run()
		if !assert.NoError(t, errors.Join(err, w.checks.err()), "world %d", seed) {
			broken++
		}
		for what, times := range w.counts {
			seen[what] += times
		}
		if (seed+1)%1000 == 0 {
			t.Logf("%d worlds", seed+1)
		}
	}
	t.Log(seen)
	if end-first < worlds {
		return
	}
	for _, what := range []string{
		"good", "bad", "crashed after a verdict", "crashed among assignments", "paused", "new", "taken back", "taken down", "cured", "republished", "mended",
		"superseded", "ended Idle", "ended Stopped", "ended Waiting", "passed over the unreachable", "asked to look",
		"cut off", "ill before", "flaps", "came late", "clock jumped", "good in a calm world", "harmed", "failures allowed",
	} {
		assert.Positive(t, seen[what], "a simulation in which this never happens proves little: %s", what)
	}
}

// givenWorlds returns the first world and the one after the last.
func givenWorlds(t *testing.T) (first, end uint64) {
	given := os.Getenv("TRELLIS_ROLLOUT_WORLDS")
	if given == "" {
		return 0, worlds
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

// newWorld makes a world with everything that is going to happen to it from outside.
func newWorld(seed uint64) *world {
	w := &world{
		rand: rand.New(rand.NewPCG(seed, 0)), now: noon(), began: noon(), rollout: threeWaves(),
		revisions: map[string]*record{}, waves: map[string]map[string]bool{}, counts: map[string]int{},
	}
	for k := range w.rollout.Waves {
		maximum := intstr.FromString(fmt.Sprintf("%d%%", 1+w.rand.IntN(100)))
		if w.chance(50) {
			maximum = intstr.FromInt32(1 + w.rand.Int32N(3))
		}
		w.rollout.Waves[k].MaxUnavailable = &maximum
	}
	if w.chance(15) {
		w.rollout.Rollback = "Never"
	}
	if rand.New(rand.NewPCG(seed, 1)).IntN(6) == 0 {
		w.rollout.MaxFailures = new(intstr.FromInt32(1))
		w.counts["failures allowed"]++
	}
	if w.chance(80) {
		w.publish("r0", fine)
		w.revisions["r0"].good = true
	}
	for k := range w.rand.IntN(14) {
		s := w.appear(w.place(k))
		if w.lastGood() != "" {
			w.settle(s)
		}
	}
	w.schedule()
	return w
}

// settle gives a seed r0, long ago. Some have been ill with it ever since, or are now and then.
func (w *world) settle(s *site) {
	s.seen.Assigned, s.seen.AssignedAt, s.seen.Applied, s.applied = "r0", w.now.Add(-hour), "r0", "r0"
	s.seen.Healthy, s.well = true, true
	s.seen.Observed = Observed{Total: hour, Progressing: minute, Healthy: 59 * minute}
	switch w.rand.IntN(12) {
	case 0:
		s.ill, s.well, s.seen.Healthy = true, false, false
		s.seen.Observed = Observed{Total: hour, Progressing: hour}
		w.counts["ill before"]++
	case 1:
		s.flaps = true
		s.seen.Observed.Interruptions, s.seen.Observed.Healthy = 3, minute
		w.falter(s)
		w.counts["flaps"]++
	}
	s.kept = s.seen.Observed
	w.look(s)
}

func (w *world) place(k int) (name, wave string) {
	wave = []string{"canary", "early", "rest", "rest"}[w.rand.IntN(4)]
	return fmt.Sprintf("eu-%02d", k), wave
}

// schedule decides what happens from outside.
func (w *world) schedule() {
	tempers := []temper{fine, fine, fine, broken, choosy, unrenderable, mortal, cutting, cutting, faltering}
	if w.isCalm = w.chance(25); w.isCalm {
		w.calm()
		return
	}
	w.after(minute, func() { w.publish("r1", tempers[w.rand.IntN(len(tempers))]) })
	if w.chance(40) {
		w.after(w.between(2*minute, horizon), func() { w.publish("r2", tempers[w.rand.IntN(len(tempers))]); w.counts["superseded"]++ })
	}
	if w.chance(15) && w.lastGood() != "" {
		w.after(w.between(2*minute, horizon), func() { w.publish("r0", fine); w.counts["republished"]++ })
	}
	if w.chance(30) {
		w.after(w.between(0, horizon/2), func() { w.rollout.Paused = true; w.counts["paused"]++ })
		w.after(w.between(horizon/2, horizon), func() { w.rollout.Paused = false })
	}
	if w.chance(40) {
		w.after(w.between(hour, horizon), w.mend)
	}
	w.eventful = w.chance(50)
	for k := range w.rand.IntN(5) {
		if w.eventful {
			w.after(w.between(0, horizon), func() { w.appear(w.place(20 + k)); w.counts["new"]++ })
			w.after(w.between(0, horizon), func() { w.remove() })
		}
	}
	if w.chance(30) {
		w.after(w.between(0, horizon), func() { w.jumpFor(2*hour, w.between(time.Second, 2*hour)) })
	}
	for range w.rand.IntN(3) {
		w.after(w.between(0, horizon), func() { w.down(w.between(time.Second, hour)) })
	}
	for _, s := range w.sites {
		w.misfortunes(s)
	}
}

// calm publishes something fine, and lets seeds and the clock misbehave.
func (w *world) calm() {
	w.after(minute, func() { w.publish("r1", fine) })
	for range 1 + w.rand.IntN(3) {
		w.after(w.between(0, horizon/2), func() {
			w.jumpFor([]time.Duration{2 * hour, -2 * hour}[w.rand.IntN(2)], w.between(time.Second, 2*minute))
		})
	}
	if w.chance(30) {
		w.comeLate(0)
	}
	for _, s := range w.sites {
		for w.chance(25) {
			w.after(w.between(0, horizon), func() { w.stepAway(s, w.between(time.Second, 8*minute)) })
		}
	}
}

// jumpFor sets the clock on the wall wrong for a while.
func (w *world) jumpFor(by, d time.Duration) {
	w.counts["clock jumped"]++
	w.jump += by
	w.after(d, func() { w.jump -= by })
}

// comeLate brings one more canary every twelve minutes.
func (w *world) comeLate(k int) {
	w.after(12*minute, func() {
		if w.now.Sub(noon()) < horizon {
			w.counts["came late"]++
			w.appear(fmt.Sprintf("late-%03d", k), "canary")
			w.comeLate(k + 1)
		}
	})
}

func (w *world) misfortunes(s *site) {
	if w.chance(10) && w.lastGood() != "" {
		s.allergic = "r0"
		w.later(s, w.between(0, horizon), func() { w.wellness(s, false) })
	}
	for w.chance(25) {
		w.after(w.between(0, horizon), func() { w.stepAway(s, w.between(time.Second, 2*hour)) })
	}
	for w.chance(25) {
		w.after(w.between(0, horizon), func() { w.stepAstray(s, w.between(time.Second, 2*hour)) })
	}
	if w.chance(4) {
		w.after(w.between(0, horizon), func() { s.away++; w.look(s) })
	}
	if w.chance(25) {
		w.later(s, w.between(0, horizon), func() { w.swoon(s) })
	}
}

func (w *world) remove() {
	if present := w.present(); len(present) > 0 {
		present[w.rand.IntN(len(present))].gone = true
	}
}

// run lets time pass until nothing is left to happen.
func (w *world) run() error {
	var wake time.Time
	idle := 0
	for range happenings {
		switch {
		case len(w.coming) > 0 && (wake.IsZero() || !w.coming[0].at.After(wake)):
			next := w.coming[0]
			w.coming = w.coming[1:]
			w.now = next.at
			next.do()
		case wake.IsZero():
			return w.atTheEnd()
		default:
			w.now = wake
		}
		if !w.now.Equal(wake) && !w.hasChanged() {
			continue
		}
		wake = time.Time{}
		again, hasActed := w.operate()
		if len(w.checks.broken) > 0 {
			return nil
		}
		if again > 0 {
			wake = w.now.Add(again)
		}
		if idle++; hasActed || w.now.Sub(noon()) < 3*horizon {
			idle = 0
		}
		if idle > 50 { // it looks at what nobody reaches, and nothing comes of it
			return w.atTheEnd()
		}
	}
	return fmt.Errorf("it never comes to rest: %+v", Decide(w.situation()).Progress)
}

// hasChanged reports whether there is anything but the time that the operator has not seen yet. Only then it looks before the time that it named.
func (w *world) hasChanged() bool {
	s := w.situation()
	s.Now = w.judged.Now
	return !w.judge.Equal(w.began) || !reflect.DeepEqual(w.judged, s)
}

// operate decides and carries the decision out, as far as the operator lives.
func (w *world) operate() (again time.Duration, hasActed bool) {
	if w.began.IsZero() {
		return 0, true
	}
	s := w.situation()
	w.judged, w.judge = s, w.began
	d := Decide(s)
	w.check(s, d)
	if d.Good || d.Bad {
		newest := w.revisions[w.newest]
		newest.good, newest.bad, newest.reason, newest.since = d.Good, d.Bad, d.Reason, w.second()
		w.verdict = w.now
		w.checks.equal("after a crash between verdict and assignment the same is decided", Decide(w.situation()).Assign, d.Assign)
		if w.chance(10) {
			w.counts["crashed after a verdict"]++
			w.down(w.between(time.Second, hour))
			return 0, true
		}
	}
	if !w.assign(s, d) {
		return 0, true
	}
	for _, name := range d.Look {
		if one := w.sites[slices.IndexFunc(w.sites, func(s *site) bool { return s.seen.Name == name })]; !one.asked {
			one.asked = true
			w.counts["asked to look"]++
			w.after(time.Second, func() { w.look(one) })
		}
	}
	return d.Again, d.Good || d.Bad || len(d.Assign) > 0
}

// assign carries assignments out, unless the operator dies among them.
func (w *world) assign(s Situation, d Decision) bool {
	for _, name := range slices.Sorted(maps.Keys(d.Assign)) {
		one := w.sites[slices.IndexFunc(w.sites, func(s *site) bool { return s.seen.Name == name })]
		if one.seen.Assigned != d.Assign[name] {
			wasWell := one.seen.Assigned == "" || one.seen.Assigned == one.applied && one.well
			one.sound = wasWell && !one.ill && !one.flaps && one.away == 0 && one.erring == 0
		}
		one.seen.Assigned, one.seen.AssignedAt, one.seen.Failed = d.Assign[name], w.second(), ""
		one.seen.Before, one.seen.Trial, one.seen.Observed, one.kept, one.marked = d.Before[name], s.NewestSince, Observed{}, Observed{}, time.Time{}
		one.changes++
		w.look(one)
		if w.chance(3) {
			w.counts["crashed among assignments"]++
			w.down(w.between(time.Second, hour))
			return false
		}
	}
	return true
}
