package rollout

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// healthyInstallations returns healthy installations of the wave rest.
func healthyInstallations(revision string, seeds ...string) []Installation {
	var installations []Installation
	for _, seed := range seeds {
		installations = append(installations, healthy(seed, revision, hour))
	}
	return installations
}

func joinInstallations(installations []Installation, more ...Installation) []Installation {
	return append(installations, more...)
}

func TestDecide_CandidateBecomesGood(t *testing.T) {
	runDecideTests(t, map[string]decideTest{
		"when all waves have passed":    {Input: candidateOver(healthy("canary-1", "new", hour), healthy("eu-1", "new", 5*minute)), good: true},
		"also while paused":             {Input: candidateOver(healthy("eu-1", "new", 5*minute)).paused(), good: true},
		"but not before the last has":   {Input: candidateOver(healthy("canary-1", "new", hour), healthy("eu-1", "new", 5*minute-time.Second))},
		"but not where nobody has it":   {Input: candidateOver()},
		"but not where nobody can look": {Input: candidateOver(healthy("canary-1", "new", hour), unreachable(healthy("eu-1", "new", hour)))},
		"but not while the first wave is ill": {
			Input: candidateOver(unhealthy("canary-1", "new", time.Second), healthy("eu-1", "new", hour)),
		},
		"although a new installation comes, which gets it too": {
			Input: candidateOver(newInstallation("eu-1"), healthy("eu-2", "new", hour)), assign: assignTo("new", "eu-1"), good: true,
		},
		"without those who cannot be reached": {Input: candidateOver(healthy("eu-1", "new", hour), unreachable(healthy("eu-2", "old", hour))), good: true},
		"but it is so once only":              {Input: candidateOver(healthy("eu-1", "new", hour)).withGoodNewest()},
	})
}

func TestDecide_GoodRevision(t *testing.T) {
	runDecideTests(t, map[string]decideTest{
		"in all waves at once, a few at a time in each": {
			Input: candidateOver(healthy("canary-1", "old", hour), healthy("canary-2", "old", hour), healthy("early-1", "old", hour), healthy("eu-1", "new", hour)).
				withGoodNewest(),
			assign: assignTo("new", "canary-1", "early-1"),
		},
		"as it is when what was good last is registered again": {
			Input:  candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "new", hour), healthy("eu-1", "old", hour)).republished("old"),
			assign: assignTo("old", "canary-1"),
		},
		"but not while paused":     {Input: candidateOver(healthy("eu-1", "old", hour)).withGoodNewest().paused()},
		"when they can be reached": {Input: candidateOver(unreachable(healthy("eu-1", "old", hour)), healthy("eu-2", "new", hour)).withGoodNewest()},
		"from a candidate that was given up, when the newest has failed": {
			Input:  candidateOver(joinInstallations(healthyInstallations("former", "eu-1", "eu-2"), healthy("canary-1", "new", hour))...).withBadNewest(),
			assign: map[string]string{"canary-1": "old", "eu-1": "old"},
		},
		"but nobody leaves such a candidate while paused":           {Input: candidateOver(healthyInstallations("former", "eu-1", "eu-2")...).withBadNewest().paused()},
		"but nobody leaves such a candidate when nothing goes back": {Input: candidateOver(healthyInstallations("former", "eu-1", "eu-2")...).withBadNewest().withoutRollback()},
		"but nobody leaves anything for a deployment that says nothing": {
			Input: candidateOver(healthy("eu-1", "former", hour)).withoutNewest(),
		},
	})
}

func (s Input) republished(revision string) Input {
	s.Newest, s.NewestGood, s.LastGood = revision, true, revision
	return s
}

func TestDecide_MaxUnavailable(t *testing.T) {
	four := func() []Installation { return healthyInstallations("old", "eu-1", "eu-2", "eu-3", "eu-4") }
	six := func() []Installation {
		return joinInstallations(four(), healthyInstallations("old", "eu-5", "eu-6")...)
	}
	runDecideTests(t, map[string]decideTest{
		"a number":                   {Input: candidateOver(four()...).within("2"), assign: assignTo("new", "eu-1", "eu-2")},
		"a percentage":               {Input: candidateOver(four()...).within("50%"), assign: assignTo("new", "eu-1", "eu-2")},
		"a percentage, rounded down": {Input: candidateOver(six()...).within("49%"), assign: assignTo("new", "eu-1", "eu-2")},
		"a percentage, but one":      {Input: candidateOver(four()...).within("1%"), assign: assignTo("new", "eu-1")},
		"a percentage of all, whether they can be reached or not": {
			Input:  candidateOver(joinInstallations(four(), unreachable(healthy("eu-7", "old", hour)), unreachable(healthy("eu-8", "old", hour)))...).within("34%"),
			assign: assignTo("new", "eu-1", "eu-2"),
		},
		"more than there are":                     {Input: candidateOver(healthyInstallations("old", "eu-1", "eu-2")...).within("7"), assign: assignTo("new", "eu-1", "eu-2")},
		"a senseless one, so one":                 {Input: candidateOver(four()...).within("many"), assign: assignTo("new", "eu-1")},
		"counting who has not got it":             {Input: candidateOver(joinInstallations(four(), assigned("eu-5", "new", minute, "old"))...).within("2"), assign: assignTo("new", "eu-1")},
		"counting who is not healthy with it yet": {Input: candidateOver(joinInstallations(four(), started("eu-5", "new", minute))...).within("2"), assign: assignTo("new", "eu-1")},
		"not counting who is healthy with it":     {Input: candidateOver(joinInstallations(four(), healthy("eu-5", "new", time.Second))...).within("2"), assign: assignTo("new", "eu-1", "eu-2")},
		"counting who is ill without it, who proves nothing and waits": {
			Input: candidateOver(joinInstallations(four(), unhealthy("eu-5", "old", minute))...).within("2"), assign: assignTo("new", "eu-1"),
		},
		"but one at a time however many are ill without it": {
			Input:  candidateOver(joinInstallations(four(), unhealthy("eu-5", "old", minute), unhealthy("eu-6", "old", hour), started("eu-7", "old", hour))...),
			assign: assignTo("new", "eu-1"),
		},
		"but curing all who are ill without it, when one that was healthy has it": {
			Input:  candidateOver(joinInstallations(healthyInstallations("old", "eu-1", "eu-2"), healthy("eu-3", "new", 0), unhealthy("eu-5", "old", minute), unhealthy("eu-6", "old", hour), started("eu-7", "old", hour))...),
			assign: assignTo("new", "eu-1", "eu-5", "eu-6", "eu-7"),
		},
		"also when places are taken":                       {Input: candidateOver(started("eu-1", "new", minute), unhealthy("eu-2", "old", hour)), assign: assignTo("new", "eu-2")},
		"beginning with one that can have what is good":    {Input: candidateOver(failing("eu-1", "old", "no"), healthy("eu-2", "old", hour)), assign: assignTo("new", "eu-2")},
		"curing at once who is ill with what was given up": {Input: candidateOver(unhealthy("eu-1", "worse", hour), healthy("eu-2", "old", hour)).withBad("worse").withoutRollback(), assign: assignTo("new", "eu-1")},
		"beginning with one that did not become ill lately": {
			Input: candidateOver(interrupted(healthy("eu-1", "old", 29*minute)), healthy("eu-2", "old", minute)), assign: assignTo("new", "eu-2"),
		},
		"but not for an illness of a moment": {
			Input: candidateOver(healthy("eu-1", "old", hour), unhealthy("eu-2", "old", minute-time.Second)),
		},
		"counting who comes back from a bad one": {
			Input: candidateOver(healthy("eu-1", "old", hour), healthy("eu-2", "worse", hour)).withBad("worse"), assign: assignTo("old", "eu-2"),
		},
		"counting who is new": {Input: candidateOver(newInstallation("eu-1"), healthy("eu-2", "old", hour)), assign: assignTo("old", "eu-1")},
		"counting in each wave by itself": {
			Input:  candidateOver(healthy("canary-1", "new", hour), started("early-1", "old", minute), healthy("early-2", "old", hour), unhealthy("eu-1", "old", hour)).within("2"),
			assign: assignTo("new", "early-2"),
		},
		"not counting who cannot be reached": {
			Input:  candidateOver(unreachable(unhealthy("eu-1", "old", hour)), withBefore("", lost(assigned("eu-2", "new", hour, "old"), hour)), healthy("eu-3", "old", hour)),
			assign: assignTo("new", "eu-3"),
		},
		"but counting who was lost while it changed": {
			Input: candidateOver(unreachable(assigned("eu-1", "new", 9*minute, "old")), healthy("eu-2", "old", hour)),
		},
		"counting who was lost with what is good": {
			Input: candidateOver(lost(healthy("eu-1", "new", hour), minute), healthy("eu-2", "old", hour)).withGoodNewest(),
		},
		"not counting who was lost with what is good for too long": {
			Input: candidateOver(lost(healthy("eu-1", "new", hour), 10*minute), healthy("eu-2", "old", hour)).withGoodNewest(), assign: assignTo("new", "eu-2"),
		},
		"in the order of seeds, and on a seed in that of names": {
			Input:  candidateOver(named("b", healthy("eu-1", "old", hour)), named("c", healthy("eu-0", "old", hour)), named("a", healthy("eu-1", "old", hour))).within("2"),
			assign: assignTo("new", "c", "a"),
		},
	})
}

// interrupted became unhealthy some time with what it has.
func interrupted(i Installation) Installation { i.Observed.Interruptions = 1; return i }

func named(name string, i Installation) Installation { i.Name = name; return i }

func TestDecide_Waves(t *testing.T) {
	s := candidateOver(healthy("canary-1", "old", hour), healthy("early-1", "old", hour), healthy("eu-1", "old", hour), healthy("other", "old", hour))
	assert.Equal(t, map[string]string{"canary-1": "canary", "early-1": "early", "eu-1": "rest", "other": "rest"}, Decide(s).Waves)

	s.Rollout.Waves[0].SeedSelector.MatchLabels = nil
	assert.Equal(t, "canary", Decide(s).Waves["early-1"], "an empty selector selects all")
	s.Rollout.Waves[0].SeedSelector.MatchLabels = map[string]string{"no label": "!"}
	assert.Equal(t, "rest", Decide(s).Waves["canary-1"], "a senseless one selects none")
	s.Rollout.Waves[2].SeedSelector = nil
	assert.Equal(t, "rest", Decide(s).Waves["eu-1"], "nobody is left over")
}

func TestDecide_RequeueAfter(t *testing.T) {
	for sentence, test := range map[string]struct {
		Input

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
		"when who was unsteady before stops to count":    {candidateOver(withBefore(WasUnsteady, unhealthy("eu-1", "new", 20*time.Second)), healthy("eu-2", "old", hour)).withGoodNewest(), 40 * time.Second},
		"but a second later at the earliest":             {candidateOver(healthy("eu-1", "new", 5*minute-time.Millisecond)), time.Second},
		"never while others must move first":             {candidateOver(unreachable(healthy("eu-1", "old", hour))), 0},
		"never when it is done":                          {candidateOver(unhealthy("eu-1", "new", time.Second)).withGoodNewest(), 0},
		"never when it has failed":                       {candidateOver(started("eu-1", "old", minute)).withBadNewest(), 0},
		"never when there is nothing":                    {candidateOver(started("eu-1", "old", minute)).withoutNewest(), 0},
		"never without installations":                    {candidateOver(), 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, Decide(test.Input).RequeueAfter)
		})
	}
}

func TestDecide_ManyInstallations(t *testing.T) {
	var installations []Installation
	for k := range 1000 {
		installations = append(installations, healthy(fmt.Sprintf("eu-%04d", k), "old", hour))
	}
	assert.Len(t, Decide(candidateOver(installations...)).Assign, 250)
}
