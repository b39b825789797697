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

// behavior is what a revision is like.
type behavior string

const (
	stable             behavior = "fine"         // becomes healthy, and is ill for moments only
	neverHealthy       behavior = "broken"       // becomes healthy nowhere
	healthyOnEvenSeeds behavior = "choosy"       // becomes healthy on even seeds only
	unrenderable       behavior = "unrenderable" // cannot be installed on odd seeds
	failsLater         behavior = "mortal"       // becomes healthy, and ill for ever some time later
	disconnectsSeeds   behavior = "cutting"      // cuts odd seeds off, at once or after some minutes
	flapping           behavior = "faltering"    // becomes healthy, and is ill for half a minute every three minutes
)

// record is what a store knows of a revision.
type record struct {
	behavior  behavior
	number    int
	good, bad bool
	reason    string
	since     time.Time
}

// simulatedSeed is a seed with an installation.
type simulatedSeed struct {
	observed Installation // as the operator has seen it last
	odd      bool
	// incompatible is a revision that gets ill here, whatever it is like elsewhere.
	incompatible string

	applied        string
	healthy        bool
	generation     int // counts what is applied, so that what was going to happen to an earlier revision does not
	outages        int // how many reasons there are that the seed cannot be reached
	errorSources   int // how many there are that looking fails there
	checkRequested bool
	removed        bool
	changes        int

	// alwaysUnhealthy: nothing becomes healthy here. flaps: everything is ill for half a minute every three minutes. Both have been so for long.
	alwaysUnhealthy, flaps bool
	// wasHealthy is whether it really was well, and could be seen, when it was assigned what it has.
	wasHealthy bool
	// wasVisible is whether it could be seen at all then.
	wasVisible bool
	// disconnectedBy is the revision that has cut the seed off.
	disconnectedBy string
	// health and marked are of the last look at the present assignment; kept is what is written down of what was observed.
	health        Health
	observedUntil time.Time
	stored        Observed
}

// event is something that happens at a time.
type event struct {
	at time.Time
	do func()
}

// environment is a garden with seeds and an operator, in a time of its own.
type environment struct {
	rand *rand.Rand
	now  time.Time
	// clockOffset is by how much the clock on the wall is wrong.
	clockOffset time.Duration
	// isCalm is true when only seeds and the clock change. publishedAt is when the newest revision was published, and foundGoodAt when it was found good.
	isCalm                   bool
	publishedAt, foundGoodAt time.Time
	// startedAt is when the operator was started last; zero while it is down.
	startedAt time.Time
	rollout   installationv1alpha1.Rollout
	seeds     []*simulatedSeed
	revisions map[string]*record
	newest    string
	// installationsChange is true when installations come and go.
	installationsChange bool
	events              []event
	waves               map[string]map[string]bool // in which a revision was given to anybody who had another
	checks              checks
	counts              map[string]int
	// lastInput is what was decided about last, by the operator that began then.
	lastInput     Input
	lastStartedAt time.Time
}

func (env *environment) chance(percent int) bool { return env.rand.IntN(100) < percent }

func (env *environment) between(from, to time.Duration) time.Duration {
	return from + time.Duration(env.rand.Int64N(int64(to-from)))
}

func (env *environment) after(d time.Duration, do func()) {
	env.events = append(env.events, event{env.now.Add(d), do})
	slices.SortStableFunc(env.events, func(a, b event) int { return a.at.Compare(b.at) })
}

// to the second, as it is written down, by the clock on the wall.
func (env *environment) wallClock() time.Time {
	return env.now.Add(env.clockOffset).Truncate(time.Second)
}

func (env *environment) addSeed(name, wave string) *simulatedSeed {
	s := &simulatedSeed{observed: Installation{Name: name, Seed: name, SeedLabels: labels.Set{"wave": wave}}, odd: env.chance(50)}
	env.seeds = append(env.seeds, s)
	env.rand.Shuffle(len(env.seeds), func(a, b int) { env.seeds[a], env.seeds[b] = env.seeds[b], env.seeds[a] })
	env.checkSeed(s)
	return s
}

func (env *environment) installedSeeds() []*simulatedSeed {
	return slices.DeleteFunc(slices.Clone(env.seeds), func(s *simulatedSeed) bool { return s.removed })
}

func (env *environment) isVisible(s *simulatedSeed) bool {
	return !env.startedAt.IsZero() && s.outages == 0 && s.errorSources == 0 && !s.removed
}

// checkSeed is what the operator does with an installation each time when anything has happened to it.
func (env *environment) checkSeed(s *simulatedSeed) {
	if env.startedAt.IsZero() || s.removed {
		return
	}
	env.observe(s)
	if s.outages > 0 {
		s.observed.Unreachable, s.observed.TriedAt, s.observed.SeenAt, s.checkRequested = true, env.now, time.Time{}, false
		return
	}
	if s.observed.TriedAt.IsZero() || s.observed.Unreachable || s.errorSources == 0 && s.observed.TriedAt.Sub(s.observed.SeenAt) > minute {
		s.observed.WatchedSince = env.now
	}
	s.observed.Unreachable, s.observed.TriedAt = false, env.now
	if s.errorSources > 0 {
		if s.checkRequested {
			env.after(minute, func() { env.checkSeed(s) })
		}
		return
	}
	s.observed.SeenAt, s.checkRequested = env.now, false
	env.updateObserved(s)
}

// observe adds what a look is going to tell to what has been observed. While all seeds are away, the operator takes itself for cut off.
func (env *environment) observe(s *simulatedSeed) {
	interval, was, is := env.now.Sub(s.observedUntil), s.health, env.healthOf(s)
	if s.observedUntil.IsZero() {
		interval, was = 0, is
	}
	if was == Hidden && !slices.ContainsFunc(env.installedSeeds(), func(other *simulatedSeed) bool { return other.outages == 0 }) {
		interval = 0
	}
	o := s.observed.Observed.After(interval, was, is)
	newest := env.revisions[env.newest]
	isOnTrial := newest != nil && !newest.good && !newest.bad && s.observed.Assigned == env.newest
	isSteady := s.stored.Healthy < SteadyAfter && o.Healthy >= SteadyAfter
	if is != was || isSteady || isOnTrial && o.Total-s.stored.Total >= max(minute, s.stored.Total/5) {
		s.stored = o
	}
	s.observed.Observed, s.health, s.observedUntil = o, is, env.now
}

func (env *environment) healthOf(s *simulatedSeed) Health {
	wasSeen := s.observed.Applied == s.observed.Assigned
	switch {
	case s.outages > 0 || s.errorSources > 0:
		return Hidden
	case s.applied == s.observed.Assigned && s.healthy:
		return Healthy
	case s.applied == s.observed.Assigned && wasSeen && (s.observed.Healthy || s.observed.WasHealthy):
		return Unhealthy
	}
	return Progressing
}

// updateObserved is a look that tells how an installation is.
func (env *environment) updateObserved(s *simulatedSeed) {
	if s.observed.Applied != s.applied {
		s.observed.Applied, s.observed.Healthy, s.observed.WasHealthy = s.applied, false, false
	}
	s.observed.WasHealthy = s.observed.WasHealthy || s.observed.Healthy && !s.healthy
	s.observed.Healthy = s.healthy
	if s.observed.Assigned != s.applied && s.observed.Assigned != "" {
		assigned := s.observed.Assigned
		env.after(env.between(time.Second, 20*time.Second), func() { env.apply(s, assigned) })
	}
}

// apply brings a revision into a seed, unless something has come in between.
func (env *environment) apply(s *simulatedSeed, name string) {
	if !env.isVisible(s) || s.observed.Assigned != name || s.applied == name {
		return
	}
	is := env.revisions[name].behavior
	if is == unrenderable && s.odd {
		s.observed.Failed = "it cannot be rendered"
		return
	}
	s.applied, s.healthy = name, false
	s.generation++
	if is == disconnectsSeeds && s.odd {
		env.later(s, []time.Duration{0, env.between(time.Second, 4*minute)}[env.rand.IntN(2)], func() { env.disconnect(s, name) })
	}
	env.checkSeed(s)
	if is == neverHealthy || is == healthyOnEvenSeeds && s.odd || s.alwaysUnhealthy {
		return
	}
	env.later(s, env.between(5*time.Second, 2*minute), func() { env.becomeHealthy(s, name, is) })
}

// becomeHealthy has an installation be well with what it has, and decides what comes after that.
func (env *environment) becomeHealthy(s *simulatedSeed, name string, is behavior) {
	env.setHealthy(s, true)
	switch {
	case s.flaps || is == flapping:
		env.flap(s)
	case s.incompatible == name:
		env.later(s, env.between(time.Second, hour), func() { env.setHealthy(s, false) })
	case is == failsLater:
		env.later(s, env.between(time.Second, 30*minute), func() { env.setHealthy(s, false) })
	case env.chance(30):
		env.later(s, env.between(time.Second, hour), func() { env.failBriefly(s) })
	}
}

// failBriefly is an illness that is over within tolerance.
func (env *environment) failBriefly(s *simulatedSeed) {
	env.setHealthy(s, false)
	env.later(s, env.between(time.Second, 50*time.Second), func() { env.setHealthy(s, true) })
}

// flap makes an installation ill for half a minute every three minutes, as long as things happen.
func (env *environment) flap(s *simulatedSeed) {
	if env.now.Sub(noon()) > 2*horizon {
		return
	}
	env.later(s, 150*time.Second, func() {
		env.setHealthy(s, false)
		env.later(s, 30*time.Second, func() { env.setHealthy(s, true); env.flap(s) })
	})
}

// disconnect has a revision cut its seed off: it is there no more, whoever asks.
func (env *environment) disconnect(s *simulatedSeed, name string) {
	env.counts["cut off"]++
	s.disconnectedBy = name
	s.outages++
	env.checkSeed(s)
}

func (env *environment) setHealthy(s *simulatedSeed, well bool) {
	s.healthy = well && !s.alwaysUnhealthy
	env.checkSeed(s)
}

// later happens unless another revision is applied before.
func (env *environment) later(s *simulatedSeed, d time.Duration, do func()) {
	epoch := s.generation
	env.after(d, func() {
		if s.generation == epoch && !s.removed {
			do()
		}
	})
}

func (env *environment) makeUnreachable(s *simulatedSeed, d time.Duration) {
	s.outages++
	env.checkSeed(s)
	env.after(d, func() {
		s.outages--
		env.checkSeed(s)
	})
}

// makeErroring has the seed answer with errors.
func (env *environment) makeErroring(s *simulatedSeed, d time.Duration) {
	s.errorSources++
	env.checkSeed(s)
	env.after(d, func() {
		s.errorSources--
		env.checkSeed(s)
	})
}

// restartOperator ends the operator and starts it again after a while. Then it looks at one installation after the other.
func (env *environment) restartOperator(d time.Duration) {
	if env.startedAt.IsZero() {
		return
	}
	env.startedAt = time.Time{}
	env.after(d, func() {
		env.startedAt = env.now
		for _, s := range env.installedSeeds() {
			s.observed.Unreachable, s.observed.TriedAt, s.observed.SeenAt, s.checkRequested = false, time.Time{}, time.Time{}, false
			s.observedUntil, s.observed.Observed = time.Time{}, s.stored
			env.after(env.between(0, 3*time.Minute), func() { env.checkSeed(s) })
		}
	})
}

// publish makes a revision the newest one, with what a store makes of one that it knows already.
func (env *environment) publish(name string, is behavior) {
	last := env.lastGood()
	known := env.revisions[name]
	if known == nil {
		known = &record{behavior: is}
		env.revisions[name] = known
	}
	known.number = len(env.revisions) + 100*(1+env.counts["published"])
	if !known.bad && name != last {
		known.good, known.since = false, env.wallClock()
	}
	env.newest, env.publishedAt = name, env.now
	env.counts["published"]++
}

// repair makes a newest revision well that has failed, as when what it needs has been brought, and asks to try it once more.
func (env *environment) repair() {
	newest := env.revisions[env.newest]
	if newest == nil || !newest.bad {
		return
	}
	env.counts["mended"]++
	newest.behavior, newest.bad, newest.since = stable, false, env.wallClock()
	for _, s := range env.installedSeeds() {
		if s.applied == env.newest {
			s.generation++
			env.later(s, env.between(5*time.Second, 50*time.Second), func() {
				if env.setHealthy(s, true); s.flaps {
					env.flap(s)
				}
			})
		}
		if s.observed.Assigned == env.newest {
			s.observed.Failed = ""
			env.checkSeed(s)
		}
	}
}

func (env *environment) lastGood() string {
	names := slices.SortedFunc(maps.Keys(env.revisions), func(a, b string) int { return cmp.Compare(env.revisions[b].number, env.revisions[a].number) })
	for _, name := range names {
		if env.revisions[name].good {
			return name
		}
	}
	return ""
}

func (env *environment) input() Input {
	s := Input{Now: env.now, Newest: env.newest, LastGood: env.lastGood(), Rollout: env.rollout}
	if newest := env.revisions[env.newest]; newest != nil {
		s.NewestGood, s.NewestBad, s.NewestSince, s.NewestReason = newest.good, newest.bad, newest.since, newest.reason
	}
	for _, name := range slices.Sorted(maps.Keys(env.revisions)) {
		if env.revisions[name].bad {
			s.Bad = append(s.Bad, name)
		}
		if env.revisions[name].good {
			s.Good = append(s.Good, name)
		}
	}
	for _, one := range env.installedSeeds() {
		s.Installations = append(s.Installations, one.observed)
	}
	return s
}
