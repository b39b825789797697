package rollout

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// fleet returns healthy installations of the wave rest.
func fleet(revision string, seeds ...string) []Installation {
	var installations []Installation
	for _, seed := range seeds {
		installations = append(installations, healthy(seed, revision, hour))
	}
	return installations
}

func with(installations []Installation, more ...Installation) []Installation {
	return append(installations, more...)
}

func TestACandidateBecomesGood(t *testing.T) {
	checkDecisions(t, map[string]decided{
		"when all waves have passed":    {Situation: candidateOver(healthy("canary-1", "new", hour), healthy("eu-1", "new", 5*minute)), good: true},
		"also while paused":             {Situation: candidateOver(healthy("eu-1", "new", 5*minute)).paused(), good: true},
		"but not before the last has":   {Situation: candidateOver(healthy("canary-1", "new", hour), healthy("eu-1", "new", 5*minute-time.Second))},
		"but not where nobody has it":   {Situation: candidateOver()},
		"but not where nobody can look": {Situation: candidateOver(healthy("canary-1", "new", hour), unreachable(healthy("eu-1", "new", hour)))},
		"but not while the first wave is ill": {
			Situation: candidateOver(unhealthy("canary-1", "new", time.Second), healthy("eu-1", "new", hour)),
		},
		"although a new installation comes, which gets it too": {
			Situation: candidateOver(fresh("eu-1"), healthy("eu-2", "new", hour)), assign: give("new", "eu-1"), good: true,
		},
		"without those who cannot be reached": {Situation: candidateOver(healthy("eu-1", "new", hour), unreachable(healthy("eu-2", "old", hour))), good: true},
		"but it is so once only":              {Situation: candidateOver(healthy("eu-1", "new", hour)).withGoodNewest()},
	})
}

func TestWhatIsGoodReachesEverybody(t *testing.T) {
	checkDecisions(t, map[string]decided{
		"in all waves at once, a few at a time in each": {
			Situation: candidateOver(healthy("canary-1", "old", hour), healthy("canary-2", "old", hour), healthy("early-1", "old", hour), healthy("eu-1", "new", hour)).
				withGoodNewest(),
			assign: give("new", "canary-1", "early-1"),
		},
		"as it is when what was good last is registered again": {
			Situation: candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "new", hour), healthy("eu-1", "old", hour)).republished("old"),
			assign:    give("old", "canary-1"),
		},
		"but not while paused":     {Situation: candidateOver(healthy("eu-1", "old", hour)).withGoodNewest().paused()},
		"when they can be reached": {Situation: candidateOver(unreachable(healthy("eu-1", "old", hour)), healthy("eu-2", "new", hour)).withGoodNewest()},
		"from a candidate that was given up, when the newest has failed": {
			Situation: candidateOver(with(fleet("former", "eu-1", "eu-2"), healthy("canary-1", "new", hour))...).withBadNewest(),
			assign:    map[string]string{"canary-1": "old", "eu-1": "old"},
		},
		"but nobody leaves such a candidate while paused":           {Situation: candidateOver(fleet("former", "eu-1", "eu-2")...).withBadNewest().paused()},
		"but nobody leaves such a candidate when nothing goes back": {Situation: candidateOver(fleet("former", "eu-1", "eu-2")...).withBadNewest().withoutRollback()},
		"but nobody leaves anything for a deployment that says nothing": {
			Situation: candidateOver(healthy("eu-1", "former", hour)).withoutNewest(),
		},
	})
}

func (s Situation) republished(revision string) Situation {
	s.Newest, s.NewestGood, s.LastGood = revision, true, revision
	return s
}

func TestNoMoreThanMaxUnavailableAreTakenDown(t *testing.T) {
	four := func() []Installation { return fleet("old", "eu-1", "eu-2", "eu-3", "eu-4") }
	six := func() []Installation { return with(four(), fleet("old", "eu-5", "eu-6")...) }
	checkDecisions(t, map[string]decided{
		"a number":                   {Situation: candidateOver(four()...).within("2"), assign: give("new", "eu-1", "eu-2")},
		"a percentage":               {Situation: candidateOver(four()...).within("50%"), assign: give("new", "eu-1", "eu-2")},
		"a percentage, rounded down": {Situation: candidateOver(six()...).within("49%"), assign: give("new", "eu-1", "eu-2")},
		"a percentage, but one":      {Situation: candidateOver(four()...).within("1%"), assign: give("new", "eu-1")},
		"a percentage of all, whether they can be reached or not": {
			Situation: candidateOver(with(four(), unreachable(healthy("eu-7", "old", hour)), unreachable(healthy("eu-8", "old", hour)))...).within("34%"),
			assign:    give("new", "eu-1", "eu-2"),
		},
		"more than there are":                     {Situation: candidateOver(fleet("old", "eu-1", "eu-2")...).within("7"), assign: give("new", "eu-1", "eu-2")},
		"a senseless one, so one":                 {Situation: candidateOver(four()...).within("many"), assign: give("new", "eu-1")},
		"counting who has not got it":             {Situation: candidateOver(with(four(), assigned("eu-5", "new", minute, "old"))...).within("2"), assign: give("new", "eu-1")},
		"counting who is not healthy with it yet": {Situation: candidateOver(with(four(), started("eu-5", "new", minute))...).within("2"), assign: give("new", "eu-1")},
		"not counting who is healthy with it":     {Situation: candidateOver(with(four(), healthy("eu-5", "new", time.Second))...).within("2"), assign: give("new", "eu-1", "eu-2")},
		"counting who is ill without it, who proves nothing and waits": {
			Situation: candidateOver(with(four(), unhealthy("eu-5", "old", minute))...).within("2"), assign: give("new", "eu-1"),
		},
		"but one at a time however many are ill without it": {
			Situation: candidateOver(with(four(), unhealthy("eu-5", "old", minute), unhealthy("eu-6", "old", hour), started("eu-7", "old", hour))...),
			assign:    give("new", "eu-1"),
		},
		"but curing all who are ill without it, when one that was healthy has it": {
			Situation: candidateOver(with(fleet("old", "eu-1", "eu-2"), healthy("eu-3", "new", 0), unhealthy("eu-5", "old", minute), unhealthy("eu-6", "old", hour), started("eu-7", "old", hour))...),
			assign:    give("new", "eu-1", "eu-5", "eu-6", "eu-7"),
		},
		"also when places are taken":                       {Situation: candidateOver(started("eu-1", "new", minute), unhealthy("eu-2", "old", hour)), assign: give("new", "eu-2")},
		"beginning with one that can have what is good":    {Situation: candidateOver(refusing("eu-1", "old", "no"), healthy("eu-2", "old", hour)), assign: give("new", "eu-2")},
		"curing at once who is ill with what was given up": {Situation: candidateOver(unhealthy("eu-1", "worse", hour), healthy("eu-2", "old", hour)).withBad("worse").withoutRollback(), assign: give("new", "eu-1")},
		"beginning with one that did not become ill lately": {
			Situation: candidateOver(interrupted(healthy("eu-1", "old", 29*minute)), healthy("eu-2", "old", minute)), assign: give("new", "eu-2"),
		},
		"but not for an illness of a moment": {
			Situation: candidateOver(healthy("eu-1", "old", hour), unhealthy("eu-2", "old", minute-time.Second)),
		},
		"counting who comes back from a bad one": {
			Situation: candidateOver(healthy("eu-1", "old", hour), healthy("eu-2", "worse", hour)).withBad("worse"), assign: give("old", "eu-2"),
		},
		"counting who is new": {Situation: candidateOver(fresh("eu-1"), healthy("eu-2", "old", hour)), assign: give("old", "eu-1")},
		"counting in each wave by itself": {
			Situation: candidateOver(healthy("canary-1", "new", hour), started("early-1", "old", minute), healthy("early-2", "old", hour), unhealthy("eu-1", "old", hour)).within("2"),
			assign:    give("new", "early-2"),
		},
		"not counting who cannot be reached": {
			Situation: candidateOver(unreachable(unhealthy("eu-1", "old", hour)), before("", lost(assigned("eu-2", "new", hour, "old"), hour)), healthy("eu-3", "old", hour)),
			assign:    give("new", "eu-3"),
		},
		"but counting who was lost while it changed": {
			Situation: candidateOver(unreachable(assigned("eu-1", "new", 9*minute, "old")), healthy("eu-2", "old", hour)),
		},
		"counting who was lost with what is good": {
			Situation: candidateOver(lost(healthy("eu-1", "new", hour), minute), healthy("eu-2", "old", hour)).withGoodNewest(),
		},
		"not counting who was lost with what is good for too long": {
			Situation: candidateOver(lost(healthy("eu-1", "new", hour), 10*minute), healthy("eu-2", "old", hour)).withGoodNewest(), assign: give("new", "eu-2"),
		},
		"in the order of seeds, and on a seed in that of names": {
			Situation: candidateOver(named("b", healthy("eu-1", "old", hour)), named("c", healthy("eu-0", "old", hour)), named("a", healthy("eu-1", "old", hour))).within("2"),
			assign:    give("new", "c", "a"),
		},
	})
}

// interrupted became unhealthy some time with what it has.
func interrupted(i Installation) Installation { i.Observed.Interruptions = 1; return i }

func named(name string, i Installation) Installation { i.Name = name; return i }

func TestSeedsBelongToTheFirstWaveThatSelectsThem(t *testing.T) {
	s := candidateOver(healthy("canary-1", "old", hour), healthy("early-1", "old", hour), healthy("eu-1", "old", hour), healthy("other", "old", hour))
	assert.Equal(t, map[string]string{"canary-1": "canary", "early-1": "early", "eu-1": "rest", "other": "rest"}, Decide(s).Waves)

	s.Rollout.Waves[0].SeedSelector.MatchLabels = nil
	assert.Equal(t, "canary", Decide(s).Waves["early-1"], "an empty selector selects all")
	s.Rollout.Waves[0].SeedSelector.MatchLabels = map[string]string{"no label": "!"}
	assert.Equal(t, "rest", Decide(s).Waves["canary-1"], "a senseless one selects none")
	s.Rollout.Waves[2].SeedSelector = nil
	assert.Equal(t, "rest", Decide(s).Waves["eu-1"], "nobody is left over")
}

func TestItLooksAgainWhenTimeAloneMatters(t *testing.T) {
	for sentence, test := range map[string]struct {
		Situation

		want time.Duration
	}{
		"at the deadline of what has just been assigned": {candidateOver(healthy("eu-1", "old", hour)), 10 * minute},
		"at the deadline of what was assigned earlier":   {candidateOver(started("eu-1", "new", 7*minute), started("eu-2", "new", minute)), 3 * minute},
		"when tolerance ends":                            {candidateOver(unhealthy("canary-1", "new", 20*time.Second), started("eu-1", "new", minute)), 40 * time.Second},
		"when the soaking ends":                          {candidateOver(healthy("eu-1", "new", 2*minute), healthy("eu-2", "new", hour)), 3 * minute},
		"when the soaking ends, also while paused":       {candidateOver(healthy("eu-1", "new", 2*minute)).paused(), 3 * minute},
		"when a look long enough has made sure of it":    {candidateOver(healthy("eu-1", "new", hour)).watchedFor(20 * time.Second), 40 * time.Second},
		"when who is new should have become healthy":     {candidateOver(started("eu-1", "old", 8*minute), started("canary-1", "old", 9*minute)), minute},
		"when a lost one stops to count":                 {candidateOver(lost(started("eu-1", "new", minute), 8*minute), healthy("eu-2", "old", hour)), 2 * minute},
		"when who was unsteady before stops to count":    {candidateOver(before(WasUnsteady, unhealthy("eu-1", "new", 20*time.Second)), healthy("eu-2", "old", hour)).withGoodNewest(), 40 * time.Second},
		"but a second later at the earliest":             {candidateOver(healthy("eu-1", "new", 5*minute-time.Millisecond)), time.Second},
		"never while others must move first":             {candidateOver(unreachable(healthy("eu-1", "old", hour))), 0},
		"never when it is done":                          {candidateOver(unhealthy("eu-1", "new", time.Second)).withGoodNewest(), 0},
		"never when it has failed":                       {candidateOver(started("eu-1", "old", minute)).withBadNewest(), 0},
		"never when there is nothing":                    {candidateOver(started("eu-1", "old", minute)).withoutNewest(), 0},
		"never without installations":                    {candidateOver(), 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, Decide(test.Situation).Again)
		})
	}
}

func TestMany(t *testing.T) {
	var installations []Installation
	for k := range 1000 {
		installations = append(installations, healthy(fmt.Sprintf("eu-%04d", k), "old", hour))
	}
	assert.Len(t, Decide(candidateOver(installations...)).Assign, 250)
}
