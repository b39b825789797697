package rollout

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// temper is what a revision is like.
type temper string

const (
	fine         temper = "fine"         // becomes healthy, and is ill for moments only
	broken       temper = "broken"       // becomes healthy nowhere
	choosy       temper = "choosy"       // becomes healthy on even seeds only
	unrenderable temper = "unrenderable" // cannot be installed on odd seeds
	mortal       temper = "mortal"       // becomes healthy, and ill for ever some time later
	cutting      temper = "cutting"      // cuts odd seeds off, at once or after some minutes
	faltering    temper = "faltering"    // becomes healthy, and is ill for half a minute every three minutes
)

// record is what a store knows of a revision.
type record struct {
	temper    temper
	number    int
	good, bad bool
	reason    string
	since     time.Time
}

// site is a seed with an installation.
type site struct {
	seen Installation // as the operator has seen it last
	odd  bool
	// allergic is a revision that gets ill here, whatever it is like elsewhere.
	allergic string

	applied string
	well    bool
	epoch   int // counts what is applied, so that what was going to happen to an earlier revision does not
	away    int // how many reasons there are that the seed cannot be reached
	erring  int // how many there are that looking fails there
	asked   bool
	gone    bool
	changes int

	// ill: nothing becomes healthy here. flaps: everything is ill for half a minute every three minutes. Both have been so for long.
	ill, flaps bool
	// sound is whether it really was well, and could be seen, when it was assigned what it has.
	sound bool
	// cut is the revision that has cut the seed off.
	cut string
	// health and marked are of the last look at the present assignment; kept is what is written down of what was observed.
	health Health
	marked time.Time
	kept   Observed
}

// happening is something that happens at a time.
type happening struct {
	at time.Time
	do func()
}

// world is a garden with seeds and an operator, in a time of its own.
type world struct {
	rand *rand.Rand
	now  time.Time
	// jump is by how much the clock on the wall is wrong.
	jump time.Duration
	// isCalm is true when nothing happens but to seeds, and to the clock. given is when the newest was published, and verdict when it was found good.
	isCalm         bool
	given, verdict time.Time
	// began is when the operator was started last; zero while it is down.
	began     time.Time
	rollout   installationv1alpha1.Rollout
	sites     []*site
	revisions map[string]*record
	newest    string
	// eventful is true when installations come and go.
	eventful bool
	coming   []happening
	waves    map[string]map[string]bool // in which a revision was given to anybody who had another
	checks   checks
	counts   map[string]int
	// judged is what was decided about last, by the operator that began then.
	judged Situation
	judge  time.Time
}

func (w *world) chance(percent int) bool { return w.rand.IntN(100) < percent }

func (w *world) between(from, to time.Duration) time.Duration {
	return from + time.Duration(w.rand.Int64N(int64(to-from)))
}

func (w *world) after(d time.Duration, do func()) {
	w.coming = append(w.coming, happening{w.now.Add(d), do})
	slices.SortStableFunc(w.coming, func(a, b happening) int { return a.at.Compare(b.at) })
}

// to the second, as it is written down, by the clock on the wall.
func (w *world) second() time.Time { return w.now.Add(w.jump).Truncate(time.Second) }

func (w *world) appear(name, wave string) *site {
	s := &site{seen: Installation{Name: name, Seed: name, SeedLabels: labels.Set{"wave": wave}}, odd: w.chance(50)}
	w.sites = append(w.sites, s)
	w.rand.Shuffle(len(w.sites), func(a, b int) { w.sites[a], w.sites[b] = w.sites[b], w.sites[a] })
	w.look(s)
	return s
}

func (w *world) present() []*site {
	return slices.DeleteFunc(slices.Clone(w.sites), func(s *site) bool { return s.gone })
}

func (w *world) sees(s *site) bool {
	return !w.began.IsZero() && s.away == 0 && s.erring == 0 && !s.gone
}

// look is what the operator does with an installation each time when anything has happened to it.
func (w *world) look(s *site) {
	if w.began.IsZero() || s.gone {
		return
	}
	w.observe(s)
	if s.away > 0 {
		s.seen.Unreachable, s.seen.TriedAt, s.seen.SeenAt, s.asked = true, w.now, time.Time{}, false
		return
	}
	if s.seen.TriedAt.IsZero() || s.seen.Unreachable || s.erring == 0 && s.seen.TriedAt.Sub(s.seen.SeenAt) > minute {
		s.seen.WatchedSince = w.now
	}
	s.seen.Unreachable, s.seen.TriedAt = false, w.now
	if s.erring > 0 {
		if s.asked {
			w.after(minute, func() { w.look(s) })
		}
		return
	}
	s.seen.SeenAt, s.asked = w.now, false
	w.see(s)
}

// observe adds what a look is going to tell to what has been observed. While all seeds are away, the operator takes itself for cut off.
func (w *world) observe(s *site) {
	interval, was, is := w.now.Sub(s.marked), s.health, w.healthOf(s)
	if s.marked.IsZero() {
		interval, was = 0, is
	}
	if was == Hidden && !slices.ContainsFunc(w.present(), func(other *site) bool { return other.away == 0 }) {
		interval = 0
	}
	o := s.seen.Observed.After(interval, was, is)
	newest := w.revisions[w.newest]
	isOnTrial := newest != nil && !newest.good && !newest.bad && s.seen.Assigned == w.newest
	isSteady := s.kept.Healthy < SteadyAfter && o.Healthy >= SteadyAfter
	if is != was || isSteady || isOnTrial && o.Total-s.kept.Total >= max(minute, s.kept.Total/5) {
		s.kept = o
	}
	s.seen.Observed, s.health, s.marked = o, is, w.now
}

func (w *world) healthOf(s *site) Health {
	wasSeen := s.seen.Applied == s.seen.Assigned
	switch {
	case s.away > 0 || s.erring > 0:
		return Hidden
	case s.applied == s.seen.Assigned && s.well:
		return Healthy
	case s.applied == s.seen.Assigned && wasSeen && (s.seen.Healthy || s.seen.WasHealthy):
		return Unhealthy
	}
	return Progressing
}

// see is a look that tells how an installation is.
func (w *world) see(s *site) {
	if s.seen.Applied != s.applied {
		s.seen.Applied, s.seen.Healthy, s.seen.WasHealthy = s.applied, false, false
	}
	s.seen.WasHealthy = s.seen.WasHealthy || s.seen.Healthy && !s.well
	s.seen.Healthy = s.well
	if s.seen.Assigned != s.applied && s.seen.Assigned != "" {
		assigned := s.seen.Assigned
		w.after(w.between(time.Second, 20*time.Second), func() { w.apply(s, assigned) })
	}
}

// apply brings a revision into a seed, unless something has come in between.
func (w *world) apply(s *site, name string) {
	if !w.sees(s) || s.seen.Assigned != name || s.applied == name {
		return
	}
	is := w.revisions[name].temper
	if is == unrenderable && s.odd {
		s.seen.Failed = "it cannot be rendered"
		return
	}
	s.applied, s.well = name, false
	s.epoch++
	if is == cutting && s.odd {
		w.later(s, []time.Duration{0, w.between(time.Second, 4*minute)}[w.rand.IntN(2)], func() { w.cut(s, name) })
	}
	w.look(s)
	if is == broken || is == choosy && s.odd || s.ill {
		return
	}
	w.later(s, w.between(5*time.Second, 2*minute), func() { w.settleDown(s, name, is) })
}

// settleDown has an installation be well with what it has, and decides what comes after that.
func (w *world) settleDown(s *site, name string, is temper) {
	w.wellness(s, true)
	switch {
	case s.flaps || is == faltering:
		w.falter(s)
	case s.allergic == name:
		w.later(s, w.between(time.Second, hour), func() { w.wellness(s, false) })
	case is == mortal:
		w.later(s, w.between(time.Second, 30*minute), func() { w.wellness(s, false) })
	case w.chance(30):
		w.later(s, w.between(time.Second, hour), func() { w.swoon(s) })
	}
}

// swoon is an illness that is over within tolerance.
func (w *world) swoon(s *site) {
	w.wellness(s, false)
	w.later(s, w.between(time.Second, 50*time.Second), func() { w.wellness(s, true) })
}

// falter makes an installation ill for half a minute every three minutes, as long as things happen.
func (w *world) falter(s *site) {
	if w.now.Sub(noon()) > 2*horizon {
		return
	}
	w.later(s, 150*time.Second, func() {
		w.wellness(s, false)
		w.later(s, 30*time.Second, func() { w.wellness(s, true); w.falter(s) })
	})
}

// cut has a revision cut its seed off: it is there no more, whoever asks.
func (w *world) cut(s *site, name string) {
	w.counts["cut off"]++
	s.cut = name
	s.away++
	w.look(s)
}

func (w *world) wellness(s *site, well bool) {
	s.well = well && !s.ill
	w.look(s)
}

// later happens unless another revision is applied before.
func (w *world) later(s *site, d time.Duration, do func()) {
	epoch := s.epoch
	w.after(d, func() {
		if s.epoch == epoch && !s.gone {
			do()
		}
	})
}

func (w *world) stepAway(s *site, d time.Duration) {
	s.away++
	w.look(s)
	w.after(d, func() {
		s.away--
		w.look(s)
	})
}

// stepAstray has the seed answer with errors.
func (w *world) stepAstray(s *site, d time.Duration) {
	s.erring++
	w.look(s)
	w.after(d, func() {
		s.erring--
		w.look(s)
	})
}

// down ends the operator and starts it again after a while. Then it looks at one installation after the other.
func (w *world) down(d time.Duration) {
	if w.began.IsZero() {
		return
	}
	w.began = time.Time{}
	w.after(d, func() {
		w.began = w.now
		for _, s := range w.present() {
			s.seen.Unreachable, s.seen.TriedAt, s.seen.SeenAt, s.asked = false, time.Time{}, time.Time{}, false
			s.marked, s.seen.Observed = time.Time{}, s.kept
			w.after(w.between(0, 3*time.Minute), func() { w.look(s) })
		}
	})
}

// publish makes a revision the newest one, with what a store makes of one that it knows already.
func (w *world) publish(name string, is temper) {
	last := w.lastGood()
	known := w.revisions[name]
	if known == nil {
		known = &record{temper: is}
		w.revisions[name] = known
	}
	known.number = len(w.revisions) + 100*(1+w.counts["published"])
	if !known.bad && name != last {
		known.good, known.since = false, w.second()
	}
	w.newest, w.given = name, w.now
	w.counts["published"]++
}

// mend makes a newest revision well that has failed, as when what it needs has been brought, and asks to try it once more.
func (w *world) mend() {
	newest := w.revisions[w.newest]
	if newest == nil || !newest.bad {
		return
	}
	w.counts["mended"]++
	newest.temper, newest.bad, newest.since = fine, false, w.second()
	for _, s := range w.present() {
		if s.applied == w.newest {
			s.epoch++
			w.later(s, w.between(5*time.Second, 50*time.Second), func() {
				if w.wellness(s, true); s.flaps {
					w.falter(s)
				}
			})
		}
		if s.seen.Assigned == w.newest {
			s.seen.Failed = ""
			w.look(s)
		}
	}
}

func (w *world) lastGood() string {
	names := slices.SortedFunc(maps.Keys(w.revisions), func(a, b string) int { return cmp.Compare(w.revisions[b].number, w.revisions[a].number) })
	for _, name := range names {
		if w.revisions[name].good {
			return name
		}
	}
	return ""
}

func (w *world) situation() Situation {
	s := Situation{Now: w.now, Newest: w.newest, LastGood: w.lastGood(), Rollout: w.rollout}
	if newest := w.revisions[w.newest]; newest != nil {
		s.NewestGood, s.NewestBad, s.NewestSince, s.NewestReason = newest.good, newest.bad, newest.since, newest.reason
	}
	for _, name := range slices.Sorted(maps.Keys(w.revisions)) {
		if w.revisions[name].bad {
			s.Bad = append(s.Bad, name)
		}
		if w.revisions[name].good {
			s.Good = append(s.Good, name)
		}
	}
	for _, one := range w.present() {
		s.Installations = append(s.Installations, one.seen)
	}
	return s
}
