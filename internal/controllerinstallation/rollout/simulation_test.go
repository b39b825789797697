package rollout

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	worlds = 250
	// horizon is when things stop to happen by chance.
	horizon = 6 * hour
	// patience bounds how often anything happens in a world: far more than ever does.
	patience = 20000
)

// TestSimulation lets operators work in worlds that are made by chance, until nothing happens any more.
func TestSimulation(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(worlds) {
		w := newWorld(seed)
		err := w.run()
		require.NoError(t, errors.Join(err, w.checks.err()), "world %d", seed)
		for what, times := range w.counts {
			seen[what] += times
		}
	}
	t.Log(seen)
	for _, what := range []string{
		"good", "bad", "crashed after a verdict", "crashed among assignments", "paused", "new", "taken back", "taken down", "cured", "republished", "mended",
		"superseded", "ended Idle", "ended Stopped", "ended Waiting", "passed over the unreachable", "asked to look",
	} {
		assert.Positive(t, seen[what], "a simulation in which this never happens proves little: %s", what)
	}
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
	if w.chance(80) {
		w.publish("r0", fine)
		w.revisions["r0"].good = true
	}
	for k := range w.rand.IntN(14) {
		s := w.appear(w.place(k))
		if w.lastGood() != "" {
			s.seen.Assigned, s.seen.AssignedAt = "r0", w.now.Add(-hour)
			s.seen.Applied, s.seen.AppliedAt, s.seen.HealthySince = "r0", w.now.Add(-hour), w.now.Add(-hour)
			s.applied, s.well = "r0", true
		}
	}
	w.schedule()
	return w
}

func (w *world) place(k int) (name, wave string) {
	wave = []string{"canary", "early", "rest", "rest"}[w.rand.IntN(4)]
	return fmt.Sprintf("eu-%02d", k), wave
}

// schedule decides what happens from outside.
func (w *world) schedule() {
	tempers := []temper{fine, fine, fine, broken, choosy, unrenderable, mortal}
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
	for range w.rand.IntN(3) {
		w.after(w.between(0, horizon), func() { w.down(w.between(time.Second, hour)) })
	}
	for _, s := range w.sites {
		w.misfortunes(s)
	}
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
	for range patience {
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
		if again := w.operate(); again > 0 {
			wake = w.now.Add(again)
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
func (w *world) operate() time.Duration {
	if w.began.IsZero() {
		return 0
	}
	s := w.situation()
	w.judged, w.judge = s, w.began
	d := Decide(s)
	w.check(s, d)
	if d.Good || d.Bad {
		newest := w.revisions[w.newest]
		newest.good, newest.bad, newest.reason, newest.since = d.Good, d.Bad, d.Reason, w.second()
		w.checks.equal("after a crash between verdict and assignment the same is decided", Decide(w.situation()).Assign, d.Assign)
		if w.chance(10) {
			w.counts["crashed after a verdict"]++
			w.down(w.between(time.Second, hour))
			return 0
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Assign)) {
		one := w.sites[slices.IndexFunc(w.sites, func(s *site) bool { return s.seen.Name == name })]
		one.seen.Assigned, one.seen.AssignedAt, one.seen.Failed = d.Assign[name], w.second(), ""
		one.changes++
		w.look(one)
		if w.chance(3) {
			w.counts["crashed among assignments"]++
			w.down(w.between(time.Second, hour))
			return 0
		}
	}
	for _, name := range d.Look {
		if one := w.sites[slices.IndexFunc(w.sites, func(s *site) bool { return s.seen.Name == name })]; !one.asked {
			one.asked = true
			w.counts["asked to look"]++
			w.after(time.Second, func() { w.look(one) })
		}
	}
	return d.Again
}
