package rollout

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// wasUnhealthy was not healthy before it was assigned its revision.
func wasUnhealthy(i Installation) Installation { return withBefore(WasUnhealthy, i) }

func (s Input) failuresAllowed(most string) Input {
	s.Rollout.MaxFailures = new(intstr.Parse(most))
	return s
}

func (s Input) attemptedSince(trial time.Time) Input { s.NewestSince = trial; return s }

func TestDecide_SeedUnreachableSinceCandidate(t *testing.T) {
	const gone = "wave canary: seed canary-1 cannot be reached any more since it got revision new, for 10m0s"
	runDecideTests(t, map[string]decideTest{
		"hold back the next wave": {
			Input: candidateOver(lost(healthy("canary-1", "new", hour), minute), healthy("canary-2", "new", hour), healthy("eu-1", "old", hour)),
		},
		"hold back the next wave although they were lost before they had it": {
			Input: candidateOver(lost(assigned("canary-1", "new", minute, "old"), minute), healthy("canary-2", "new", hour), healthy("eu-1", "old", hour)),
		},
		"keep the candidate from being good": {Input: candidateOver(healthy("canary-1", "new", hour), lost(healthy("eu-1", "new", hour), minute), healthy("eu-2", "new", hour))},
		"fail at the deadline": {
			Input:  candidateOver(lost(healthy("canary-1", "new", hour), 10*minute), healthy("canary-2", "new", hour), healthy("eu-1", "old", hour)),
			assign: assignTo("old", "canary-1", "canary-2"), bad: true, reason: gone,
		},
		"fail at the deadline, when they were lost at once": {
			Input:  candidateOver(lost(assigned("canary-1", "new", 10*minute, "old"), 10*minute), healthy("eu-1", "old", hour)),
			assign: assignTo("old", "canary-1"), bad: true, reason: gone,
		},
		"fail also in a wave that had passed": {
			Input:  candidateOver(lost(healthy("canary-1", "new", hour), 10*minute), healthy("canary-2", "new", hour), healthy("eu-1", "new", hour)),
			assign: assignTo("old", "canary-1", "canary-2", "eu-1"), bad: true, reason: gone,
		},
		"are looked at before they fail": {
			Input: candidateOver(checkedAt(lost(healthy("canary-1", "new", hour), 9*minute), minute, 10*minute), healthy("eu-1", "old", hour)), check: []string{"canary-1"},
		},
		"hold places of their wave": {
			Input: candidateOver(lost(healthy("eu-1", "new", hour), minute), healthy("eu-2", "old", hour), healthy("eu-3", "old", hour), healthy("eu-4", "old", hour)),
		},
		"fail when nobody can look although they were healthy": {
			Input:  candidateOver(hiddenFor(healthy("canary-1", "new", hour), 10*minute), healthy("eu-1", "old", hour)),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 does not tell any more how it is since it got revision new, for 10m0s",
		},
		"keep a seed that is back in an earlier wave from getting it": {
			Input: candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "old", hour), lost(healthy("early-1", "new", hour), minute)),
		},
		"may be lost where nobody has looked yet since the operator began": {
			Input: candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "old", hour), healthy("early-1", "new", hour)).unchecked("early-1"),
		},
		"do not matter where they were unreachable before the others got it": {
			Input:  candidateOver(unreachable(healthy("canary-1", "old", hour)), healthy("canary-2", "new", hour), healthy("eu-1", "old", hour)),
			assign: assignTo("new", "eu-1"),
		},
	})
}

// hiddenFor was healthy, and answers with errors since some time.
func hiddenFor(i Installation, d time.Duration) Installation {
	i.TriedAt, i.SeenAt, i.Observed.Hidden = noon(), ago(d), d
	return i
}

func TestDecide_UnhealthyBefore(t *testing.T) {
	runDecideTests(t, map[string]decideTest{
		"prove nothing when they do not become healthy": {
			Input: candidateOver(healthy("canary-1", "new", hour), wasUnhealthy(started("canary-2", "new", 10*minute)), healthy("eu-1", "old", hour)), assign: assignTo("new", "eu-1"),
		},
		"prove nothing when they become unhealthy": {
			Input: candidateOver(healthy("canary-1", "new", hour), wasUnhealthy(unhealthy("canary-2", "new", hour)), healthy("eu-1", "old", hour)), assign: assignTo("new", "eu-1"),
		},
		"hold back the next wave when they are lost": {
			Input: candidateOver(healthy("canary-1", "new", hour), wasUnhealthy(lost(started("canary-2", "new", hour), 9*minute)), healthy("eu-1", "old", hour)),
		},
		"prove that it is bad by being lost": {
			Input:  candidateOver(healthy("canary-1", "new", hour), wasUnhealthy(lost(started("canary-2", "new", hour), 10*minute)), healthy("eu-1", "old", hour)),
			assign: assignTo("old", "canary-1", "canary-2"), bad: true, reason: "wave canary: seed canary-2 cannot be reached any more since it got revision new, for 10m0s",
		},
		"prove nothing when what they had cannot be installed either": {
			Input: candidateOver(healthy("canary-1", "new", hour), withBefore(WasRefused, failing("canary-2", "new", "no number")), healthy("eu-1", "old", hour)),
		},
		"hold up nobody beyond a bound when what they had cannot be installed either": {
			Input:  candidateOver(healthy("canary-1", "new", hour), withBefore(WasRefused, progressing(failing("canary-2", "new", "no number"), 10*minute)), healthy("eu-1", "old", hour)),
			assign: assignTo("new", "eu-1"),
		},
		"are waited for": {
			Input: candidateOver(healthy("canary-1", "new", hour), wasUnhealthy(started("canary-2", "new", 9*minute)), healthy("eu-1", "old", hour)),
		},
		"are looked at when the wait ends": {
			Input: candidateOver(healthy("canary-1", "new", hour), checkedAt(wasUnhealthy(started("canary-2", "new", 10*minute)), minute, minute), healthy("eu-1", "old", hour)),
			check: []string{"canary-2"},
		},
		"hold up nobody where they are the whole wave": {
			Input: candidateOver(wasUnhealthy(started("canary-1", "new", 10*minute)), healthy("eu-1", "old", hour)), assign: assignTo("new", "eu-1"),
		},
		"make nothing good by themselves": {Input: candidateOver(wasUnhealthy(started("eu-1", "new", hour)))},
		"are passed over when all others are well": {
			Input: candidateOver(wasUnhealthy(started("eu-1", "new", hour)), healthy("eu-2", "new", hour)), good: true,
		},
		"show as others do that the candidate cannot be rendered": {
			Input:  candidateOver(wasUnhealthy(failing("canary-1", "new", "no number")), healthy("eu-1", "old", hour)),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: revision new cannot be installed on seed canary-1: no number",
		},
		"hold no place where the candidate is good": {
			Input: candidateOver(wasUnhealthy(started("eu-1", "new", hour)), healthy("eu-2", "old", hour)).withGoodNewest(), assign: assignTo("new", "eu-2"),
		},
		"hold a place where the candidate is good and it may be its fault": {
			Input: candidateOver(withBefore(WasHealthy, started("eu-1", "new", hour)), healthy("eu-2", "old", hour)).withGoodNewest(),
		},
	})
}

func TestDecide_WaveWithoutHealthyBefore(t *testing.T) {
	trial := ago(hour)
	late := func(i Installation) Installation { i.Trial = trial; return withBefore(WasNew, i) }
	flapping := func(of Installation) Installation {
		of.WasHealthy, of.Observed.Interruptions, of.Observed.UnhealthyTotal, of.Observed.Healthy = true, 20, 10*minute, minute
		return of
	}
	tried := func(i Installation) Installation { i.Trial = trial; return i }
	recovered := wasUnhealthy(healthy("eu-1", "new", 20*minute))
	runDecideTests(t, map[string]decideTest{
		"do not pass by newcomers that nobody waits for, but have those try it": {
			Input:  candidateOver(unreachable(healthy("canary-1", "old", hour)), late(healthy("canary-2", "old", hour)), healthy("eu-1", "old", hour)).attemptedSince(trial),
			assign: assignTo("new", "canary-2"),
		},
		"have newcomers try it when those that were there had their time": {
			Input:  candidateOver(tried(wasUnhealthy(flapping(healthy("canary-1", "new", hour)))), late(healthy("canary-2", "old", hour)), healthy("eu-1", "old", hour)).attemptedSince(trial),
			assign: assignTo("new", "canary-2"),
		},
		"wait for a newcomer that tries it": {
			Input: candidateOver(
				tried(wasUnhealthy(flapping(healthy("canary-1", "new", hour)))), tried(withBefore(WasHealthy, started("canary-2", "new", minute))), late(healthy("canary-3", "old", hour)),
				healthy("eu-1", "old", hour),
			).attemptedSince(trial),
		},
		"find bad what has failed wherever it could": {
			Input:  candidateOver(wasUnhealthy(started("canary-1", "new", hour)), started("canary-2", "new", 10*minute), healthy("eu-1", "old", hour)).failuresAllowed("1"),
			assign: assignTo("old", "canary-1", "canary-2"), bad: true,
			reason: "wave canary: seed canary-2 is not healthy 10m0s after it got revision new",
		},
		"find bad what has failed wherever it could, although other seeds are away": {
			Input:  candidateOver(unreachable(healthy("canary-1", "old", hour)), started("canary-2", "new", 10*minute), healthy("eu-1", "old", hour)).failuresAllowed("1"),
			assign: assignTo("old", "canary-2"), bad: true,
			reason: "wave canary: seed canary-2 is not healthy 10m0s after it got revision new",
		},
		"pass where one that was cured does well beside one that may fail": {
			Input:  candidateOver(wasUnhealthy(healthy("canary-1", "new", hour)), started("canary-2", "new", 10*minute), healthy("eu-1", "old", hour)).failuresAllowed("1"),
			assign: assignTo("new", "eu-1"),
		},
		"find good what has cured them": {Input: candidateOver(recovered), good: true},
		"find nothing good that heals them for a moment": {
			Input: candidateOver(wasUnhealthy(flapping(healthy("eu-1", "new", hour)))),
		},
	})
}

func TestDecide_UnsteadyBefore(t *testing.T) {
	unsteady := func(i Installation) Installation { return withBefore(WasUnsteady, i) }
	runDecideTests(t, map[string]decideTest{
		"prove that it is bad by never becoming healthy": {
			Input:  candidateOver(unsteady(started("canary-1", "new", 10*minute)), healthy("eu-1", "old", hour)),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 is not healthy 10m0s after it got revision new",
		},
		"are waited for until then": {Input: candidateOver(unsteady(started("canary-1", "new", 9*minute)), healthy("eu-1", "old", hour))},
		"prove that it is bad by being lost": {
			Input:  candidateOver(withBefore(WasUnsteady, lost(healthy("canary-1", "new", hour), 10*minute)), healthy("canary-2", "new", hour), healthy("eu-1", "old", hour)),
			assign: assignTo("old", "canary-1", "canary-2"), bad: true, reason: "wave canary: seed canary-1 cannot be reached any more since it got revision new, for 10m0s",
		},
		"hold back the next wave when they are lost before they have it": {
			Input: candidateOver(withBefore(WasUnsteady, lost(assigned("canary-1", "new", minute, "old"), minute)), healthy("canary-2", "new", hour), healthy("eu-1", "old", hour)),
		},
		"hold no place where the candidate is good": {
			Input: candidateOver(unsteady(unhealthy("eu-1", "new", hour)), healthy("eu-2", "old", hour)).withGoodNewest(), assign: assignTo("new", "eu-2"),
		},
		"hold a place where the candidate is good and they never became healthy": {
			Input: candidateOver(unsteady(started("eu-1", "new", hour)), healthy("eu-2", "old", hour)).withGoodNewest(),
		},
		"soak as others do while they stay healthy": {
			Input: func() Input {
				s := candidateOver(unsteady(healthy("canary-1", "new", 30*minute)), healthy("eu-1", "old", hour))
				s.Rollout.Waves[0].SoakTime.Duration = hour
				return s
			}(),
		},
		"prove nothing by being unhealthy at times, as before": {
			Input: candidateOver(unsteady(interrupted(unhealthy("canary-1", "new", 2*minute))), healthy("canary-2", "new", minute), healthy("eu-1", "old", hour)),
		},
		"prove nothing either where a restart of the operator forgot for how long they were healthy": {
			Input: func() Input {
				i := unsteady(unhealthy("canary-1", "new", 2*minute))
				i.Observed.Interruptions = 0
				return candidateOver(i, healthy("canary-2", "new", minute), healthy("eu-1", "old", hour))
			}(),
		},
		"are not waited for beyond a bound between two interruptions": {
			Input:  candidateOver(unsteady(interrupted(healthy("canary-1", "new", 10*minute))), healthy("canary-2", "new", hour), healthy("eu-1", "old", hour)).soaking(20 * minute),
			assign: assignTo("new", "eu-1"),
		},
		"are not waited for beyond a bound when they are unhealthy at times, as before": {
			Input:  candidateOver(unsteady(interrupted(unhealthy("canary-1", "new", 10*minute))), healthy("canary-2", "new", hour), healthy("eu-1", "old", hour)),
			assign: assignTo("new", "eu-1"),
		},
	})
}

func TestDecide_HealthUnknown(t *testing.T) {
	silent := healthy("canary-1", "old", hour)
	silent.TriedAt, silent.SeenAt = noon(), ago(2*minute)
	d := Decide(candidateOver(silent, healthy("canary-2", "old", hour)))
	assert.Equal(t, assignTo("new", "canary-2"), d.Assign, "the one that tells is the first")
	d = Decide(candidateOver(silent))
	assert.Equal(t, map[string]Before{"canary-1": WasUnhealthy}, d.Before, "what nobody has seen proves nothing")
}

func TestDecide_Before(t *testing.T) {
	for sentence, test := range map[string]struct {
		of   Installation
		want Before
	}{
		"healthy":                    {healthy("eu-1", "former", hour), WasHealthy},
		"healthy for a moment":       {healthy("eu-1", "former", 0), WasHealthy},
		"healthy again for a while":  {interrupted(healthy("eu-1", "former", 30*minute)), WasHealthy},
		"healthy again for a moment": {interrupted(healthy("eu-1", "old", 29*minute)), WasUnsteady},
		"unhealthy":                  {unhealthy("eu-1", "old", hour), WasUnhealthy},
		"healthy with what could not be installed once more": {withFailure(healthy("eu-1", "old", hour), "a Secret is gone"), WasHealthy},
		"without what it was to have":                        {withFailure(assigned("eu-1", "old", hour, ""), "a Secret is missing"), WasRefused},
		"without what was never good":                        {withFailure(assigned("eu-1", "former", hour, ""), "no number"), WasUnhealthy},
		"not healthy yet for too long":                       {started("eu-1", "old", hour), WasUnhealthy},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, map[string]Before{"eu-1": test.want}, Decide(candidateOver(test.of)).Before)
		})
	}
	back := candidateOver(withBefore(WasHealthy, unhealthy("eu-1", "new", hour)), wasUnhealthy(unhealthy("eu-2", "new", hour))).withBadNewest()
	assert.Equal(t, map[string]Before{"eu-1": WasHealthy, "eu-2": WasUnhealthy}, Decide(back).Before, "who was ill by a revision only is as it was before it")
	assert.Equal(t, WasUnsteady, Decide(candidateOver(wasUnhealthy(healthy("eu-1", "old", 29*minute)))).Before["eu-1"], "who was ill before what it has is not well at once")
	assert.Equal(t, WasUnsteady, Decide(candidateOver(withBefore(WasUnsteady, healthy("eu-1", "old", 29*minute)))).Before["eu-1"], "nor who was so now and then")
	superseded := withBefore(WasHealthy, interrupted(healthy("eu-1", "former", minute)))
	assert.Equal(t, WasHealthy, Decide(candidateOver(superseded)).Before["eu-1"], "interruptions by what was never good are not those of the seed")
	again := withBefore(WasUnsteady, unhealthy("eu-1", "new", hour))
	assert.Equal(t, WasUnsteady, Decide(candidateOver(again).withBadNewest()).Before["eu-1"], "who was ill by a revision only is as it was before it")
	assert.Equal(t, WasNew, Decide(candidateOver(newInstallation("eu-1"))).Before["eu-1"])
	assert.Equal(t, WasLate, Decide(candidateOver(newInstallation("eu-1"), healthy("eu-2", "new", minute))).Before["eu-1"])
	anew := Decide(candidateOver(withBefore(WasHealthy, started("eu-1", "new", hour))).triedAgain())
	assert.Equal(t, WasHealthy, anew.Before["eu-1"], "what is tried once more proves what it proved")
}

func TestDecide_LastGoodNotInstallable(t *testing.T) {
	const why = "a Secret is gone"
	broken := []Installation{withFailure(healthy("canary-1", "old", hour), why), withFailure(healthy("canary-2", "old", hour), why), withFailure(healthy("eu-1", "old", hour), why)}
	d := Decide(candidateOver(broken...))
	assert.Equal(t, assignTo("new", "canary-1"), d.Assign, "one after the other: they still work")
	assert.Equal(t, map[string]Before{"canary-1": WasHealthy}, d.Before, "and can show what the candidate is like")
	runDecideTests(t, map[string]decideTest{
		"what has been installed already is no proof": {
			Input: candidateOver(withFailure(healthy("canary-1", "new", hour), why), healthy("eu-1", "old", hour)),
		},
	})
}

func TestDecide_SeedUnreachableAtRetry(t *testing.T) {
	dead := withBefore(WasHealthy, lost(healthy("canary-1", "new", hour), hour))
	s := candidateOver(dead, withBefore(WasHealthy, healthy("canary-2", "new", hour)), healthy("eu-1", "old", hour)).triedAgain()
	d := Decide(s)
	assert.Equal(t, map[string]Before{"canary-1": WasUnreachable, "canary-2": WasHealthy}, d.Before)
	assert.False(t, d.Bad)
	trial := s.NewestSince
	away := func(i Installation) Installation { i.Trial = trial; return withBefore(WasUnreachable, i) }
	with := func(i Installation) Installation { i.Trial = trial; return i }
	hidden := away(unreachable(healthy("canary-1", "new", hour)))
	hidden.Observed = Observed{Total: hour, Hidden: hour}
	back := away(lost(started("canary-1", "new", minute), 10*minute))
	runDecideTests(t, map[string]decideTest{
		"are passed over": {
			Input: candidateOver(hidden, with(healthy("canary-2", "new", hour)), healthy("eu-1", "old", hour)).attemptedSince(trial), assign: assignTo("new", "eu-1"),
		},
		"fail when they came back and are lost again": {
			Input:  candidateOver(back, with(healthy("canary-2", "new", hour)), healthy("eu-1", "old", hour)).attemptedSince(trial),
			assign: assignTo("old", "canary-1", "canary-2"), bad: true, reason: "wave canary: seed canary-1 cannot be reached any more since it got revision new, for 10m0s",
		},
	})
}

func TestDecide_MaxFailures(t *testing.T) {
	four := func(failed ...Installation) []Installation {
		return joinInstallations(healthyInstallations("new", "canary-1", "canary-2", "canary-3"), joinInstallations(failed, healthy("eu-1", "old", hour))...)
	}
	late := func(seed string) Installation { return started(seed, "new", 10*minute) }
	runDecideTests(t, map[string]decideTest{
		"one may fail":           {Input: candidateOver(four(late("canary-4"))...).failuresAllowed("1"), assign: assignTo("new", "eu-1")},
		"a quarter may fail":     {Input: candidateOver(four(late("canary-4"))...).failuresAllowed("25%"), assign: assignTo("new", "eu-1")},
		"none of a share of one": {Input: candidateOver(late("canary-4"), healthy("eu-1", "old", hour)).failuresAllowed("90%"), assign: assignTo("old", "canary-4"), bad: true, reason: "wave canary: seed canary-4 is not healthy 10m0s after it got revision new"},
		"two are too many": {
			Input:  candidateOver(four(late("canary-4"), late("canary-5"))...).failuresAllowed("1"),
			assign: assignTo("old", "canary-1", "canary-2", "canary-3", "canary-4", "canary-5"), bad: true,
			reason: "wave canary: seed canary-4 is not healthy 10m0s after it got revision new (2 of 5 have failed, and 1 may)",
		},
		"all are too many": {
			Input:  candidateOver(late("canary-4"), healthy("eu-1", "old", hour)).failuresAllowed("1"),
			assign: assignTo("old", "canary-4"), bad: true, reason: "wave canary: seed canary-4 is not healthy 10m0s after it got revision new",
		},
	})
}

func TestDecide_SupersededCandidates(t *testing.T) {
	runDecideTests(t, map[string]decideTest{
		"are taken from who is ill with them, in every wave": {
			Input: candidateOver(unhealthy("canary-1", "former", minute), unhealthy("eu-1", "former", minute), healthy("eu-2", "former", hour)), assign: assignTo("old", "canary-1", "eu-1"),
		},
		"are taken from who cannot have them": {Input: candidateOver(failing("eu-1", "former", "no"), healthy("canary-1", "new", 0)), assign: assignTo("old", "eu-1")},
		"are taken from who is lost":          {Input: candidateOver(lost(healthy("eu-1", "former", hour), 10*minute), healthy("canary-1", "new", 0)), assign: assignTo("old", "eu-1")},
		"are taken while paused from who has had its time": {
			Input: candidateOver(started("eu-1", "former", 10*minute), started("eu-2", "former", minute)).paused(), assign: assignTo("old", "eu-1"),
		},
		"stay while paused with who was ill before": {Input: candidateOver(wasUnhealthy(started("eu-1", "former", 10*minute))).paused()},
		"wait for their wave where nothing is rolled back": {
			Input: candidateOver(healthy("canary-1", "new", 0), unhealthy("eu-1", "former", minute)).withoutRollback(),
		},
		"wait for their wave where nothing was ever good": {
			Input: candidateOver(healthy("canary-1", "new", 0), unhealthy("eu-1", "former", minute)).withoutLastGood(),
		},
		"get the candidate with their wave where nothing is rolled back": {
			Input: candidateOver(healthy("canary-1", "new", hour), unhealthy("eu-1", "former", minute)).withoutRollback(), assign: assignTo("new", "eu-1"),
		},
		"stay where a seed that was lost is well again": {Input: func() Input {
			i := healthy("eu-1", "former", hour)
			i.Observed.Hidden = 11 * minute
			return candidateOver(healthy("canary-1", "new", 0), i)
		}()},
		"stay where they were good once": {Input: func() Input {
			s := candidateOver(healthy("canary-1", "new", 0), unhealthy("eu-1", "former", hour))
			s.Good = []string{"former", "old"}
			return s
		}()},
		"stay for a moment of being ill": {Input: candidateOver(healthy("canary-1", "new", 0), unhealthy("eu-1", "former", 59*time.Second))},
	})
}

func TestDecide_Flapping(t *testing.T) {
	falter := func(i Installation, times int, total time.Duration) Installation {
		i.Observed.Interruptions, i.Observed.UnhealthyTotal = times, total
		return i
	}
	runDecideTests(t, map[string]decideTest{
		"a seed may become unhealthy some times": {Input: candidateOver(falter(healthy("canary-1", "new", 4*minute), 5, 2*minute))},
		"but not once more": {
			Input:  candidateOver(falter(healthy("canary-1", "new", 4*minute), 6, 2*minute)),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 has become unhealthy with revision new 6 times",
		},
		"nor for too long in all": {
			Input:  candidateOver(falter(healthy("canary-1", "new", 4*minute), 2, 10*minute)),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 was unhealthy with revision new for 10m0s in all",
		},
		"who was so before proves nothing": {Input: candidateOver(wasUnhealthy(falter(healthy("canary-1", "new", 4*minute), 6, hour)), healthy("canary-2", "new", minute))},
		"a short loss keeps the deadline": {
			Input:  candidateOver(started("canary-1", "new", 10*minute)).watchedFor(time.Second),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 is not healthy 10m0s after it got revision new",
		},
	})
}

func TestDecide_Newcomers(t *testing.T) {
	trial := ago(hour)
	with := func(was Before, i Installation) Installation { i.Trial = trial; return withBefore(was, i) }
	runDecideTests(t, map[string]decideTest{
		"get what their wave has": {
			Input: candidateOver(newInstallation("canary-1"), with(WasHealthy, healthy("canary-2", "new", minute)), healthy("eu-1", "old", hour)).attemptedSince(trial), assign: assignTo("new", "canary-1"),
		},
		"get what was good while their wave does not have it": {
			Input: candidateOver(newInstallation("eu-1"), with(WasHealthy, healthy("canary-2", "new", minute)), healthy("eu-2", "old", hour)).attemptedSince(trial), assign: assignTo("old", "eu-1"),
		},
		"get what was good while their wave is not healthy with it": {
			Input: candidateOver(newInstallation("canary-1"), with(WasHealthy, unhealthy("canary-2", "new", time.Second))).attemptedSince(trial), assign: assignTo("old", "canary-1"),
		},
		"restart no soak": {
			Input:  candidateOver(with(WasLate, started("canary-1", "new", minute)), with(WasHealthy, healthy("canary-2", "new", 5*minute)), healthy("eu-1", "old", hour)).attemptedSince(trial),
			assign: assignTo("new", "eu-1"),
		},
		"prove nothing when it cannot be installed there": {
			Input:  candidateOver(with(WasLate, failing("canary-1", "new", "no number")), with(WasHealthy, healthy("canary-2", "new", 5*minute)), healthy("eu-1", "old", hour)).attemptedSince(trial),
			assign: assignTo("new", "eu-1"),
		},
		"restart no soak with what was good": {
			Input:  candidateOver(with(WasNew, started("canary-1", "old", minute)), with(WasHealthy, healthy("canary-2", "new", 5*minute)), healthy("eu-1", "old", hour)).attemptedSince(trial),
			assign: assignTo("new", "eu-1"),
		},
		"prove nothing": {
			Input:  candidateOver(with(WasLate, started("canary-1", "new", hour)), with(WasHealthy, healthy("canary-2", "new", 5*minute)), healthy("eu-1", "old", hour)).attemptedSince(trial),
			assign: assignTo("new", "eu-1"),
		},
		"are the wave where there are no others": {
			Input: candidateOver(with(WasNew, healthy("canary-1", "old", minute)), healthy("eu-1", "old", hour)).attemptedSince(trial), assign: assignTo("new", "canary-1"),
		},
		"fail when they are lost where nothing was ever good": {
			Input: candidateOver(with(WasNew, lostNew(started("eu-1", "new", minute))), with(WasNew, healthy("eu-2", "new", hour))).attemptedSince(trial).withoutLastGood(),
			bad:   true, reason: "wave rest: seed eu-1 cannot be reached any more since it got revision new, for 10m0s",
		},
		"do not fail when they were never reached": {
			Input: candidateOver(with(WasNew, lostNew(newInstallation("eu-1"))), with(WasNew, healthy("eu-2", "new", hour))).attemptedSince(trial).withoutLastGood(), good: true,
		},
		"prove what they are new with where nothing was ever good": {
			Input: candidateOver(with(WasNew, started("eu-1", "new", hour)), with(WasNew, healthy("eu-2", "new", hour))).attemptedSince(trial).withoutLastGood(),
			bad:   true, reason: "wave rest: seed eu-1 is not healthy 10m0s after it got revision new",
		},
	})
}

// lostNew was to get the candidate as its first revision, and has not been reached for ten minutes.
func lostNew(i Installation) Installation {
	i.Assigned, i.Applied = "new", ""
	return lost(i, 10*minute)
}

func TestDecide_EmptyWavesAndDueAt(t *testing.T) {
	since := ago(3 * hour)
	of := func(i Installation) Installation { i.Trial = since; return i }
	progress := Decide(candidateOver(of(started("canary-1", "new", minute)), healthy("eu-1", "old", hour)).attemptedSince(since)).Progress
	assert.Equal(t, []string{"early"}, progress.Empty, "a typo in a label is told; that nobody is left over is not")
	assert.Equal(t, noon().Add(14*minute), progress.DueAt, "after the last assignment: to become healthy, and to soak")
	assert.Equal(t, ago(50*minute), Decide(candidateOver(of(unreachable(healthy("canary-1", "old", hour))), healthy("eu-1", "old", hour)).attemptedSince(ago(hour))).Progress.DueAt, "one that waits for nobody is late")
	assert.Zero(t, Decide(candidateOver(healthy("canary-1", "old", hour)).paused()).Progress.DueAt, "an admin has paused it")
	assert.Zero(t, Decide(candidateOver(healthy("canary-1", "old", hour)).withBadNewest()).Progress.DueAt, "there is an alert on that")
	unproven := Decide(candidateOver(wasUnhealthy(started("eu-1", "new", hour)))).Progress
	assert.Equal(t, Waiting, unproven.State)
	assert.Equal(t, "0 of 1 installation has revision new, no seed has been healthy with it for long enough, so that nothing is proven", unproven.Message)
	one := Decide(candidateOver(healthy("canary-1", "new", minute), wasUnhealthy(started("canary-2", "new", hour)))).Progress
	assert.Equal(t, "wave canary: 1 of 2 installations has revision new, soaking until 12:04:00 UTC, seed canary-2 not healthy, as before it", one.Message)
}

func TestObserved_SteadyAfter(t *testing.T) {
	interrupted := Observed{}.After(minute, Healthy, Unhealthy).After(minute, Unhealthy, Healthy)
	o := interrupted.After(SteadyAfter-time.Second, Healthy, Healthy)
	assert.Equal(t, 1, o.Interruptions)
	assert.Equal(t, minute, o.UnhealthyTotal)
	o = o.After(time.Second, Healthy, Unhealthy)
	assert.Equal(t, 1, o.Interruptions, "the one that begins now")
	assert.Zero(t, o.UnhealthyTotal)
}

func TestObserved_After(t *testing.T) {
	o := Observed{}.
		After(2*minute, Progressing, Progressing).After(minute, Progressing, Healthy).
		After(4*minute, Healthy, Unhealthy).After(minute, Unhealthy, Hidden).After(8*minute, Hidden, Unhealthy).After(minute, Unhealthy, Healthy).
		After(2*minute, Healthy, Hidden).After(minute, Hidden, Healthy).After(minute, Healthy, Healthy)
	assert.Equal(t, Observed{
		Total: 21 * minute, Progressing: 3 * minute, Healthy: 3 * minute, UnhealthyTotal: 2 * minute, Interruptions: 1, Hidden: 7 * minute,
	}, o)
}
