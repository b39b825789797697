package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
)

// decideTest is what a table expects of a decision.
type decideTest struct {
	Input

	assign    map[string]string
	good, bad bool
	reason    string
	check     []string
}

func runDecideTests(t *testing.T, tests map[string]decideTest) {
	t.Helper()
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			d := Decide(test.Input)
			assert.Empty(t, cmp.Diff(test.assign, d.Assign, cmpopts.EquateEmpty()), "assigned")
			assert.Equal(t, test.good, d.Good, "good")
			assert.Equal(t, test.bad, d.Bad, "bad")
			assert.Equal(t, test.reason, d.Reason)
			assert.Empty(t, cmp.Diff(test.check, d.Check, cmpopts.EquateEmpty()), "to be looked at")
		})
	}
}

func assignTo(revision string, seeds ...string) map[string]string {
	assign := map[string]string{}
	for _, seed := range seeds {
		assign[seed] = revision
	}
	return assign
}

func TestDecide_NewInstallation(t *testing.T) {
	runDecideTests(t, map[string]decideTest{
		"with what was good last, while a candidate is on its way": {
			Input: candidateOver(newInstallation("canary-1"), newInstallation("eu-1"), newInstallation("eu-2")), assign: assignTo("old", "canary-1", "eu-1", "eu-2"),
		},
		"while the rollout is paused":         {Input: candidateOver(newInstallation("eu-1")).paused(), assign: assignTo("old", "eu-1")},
		"while the newest is bad":             {Input: candidateOver(newInstallation("eu-1")).withBadNewest(), assign: assignTo("old", "eu-1")},
		"although nothing is ever taken back": {Input: candidateOver(newInstallation("eu-1")).withBadNewest().withoutRollback(), assign: assignTo("old", "eu-1")},
		"with the newest when it is good":     {Input: candidateOver(newInstallation("eu-1")).withGoodNewest(), assign: assignTo("new", "eu-1")},
		"although its seed is unreachable":    {Input: candidateOver(unreachable(newInstallation("eu-1"))), assign: assignTo("old", "eu-1")},
		"with the newest when none was ever good, whatever its wave": {
			Input: candidateOver(newInstallation("eu-1"), newInstallation("eu-2")).withoutLastGood().paused(), assign: assignTo("new", "eu-1", "eu-2"),
		},
		"even with a bad one when there is no other":  {Input: candidateOver(newInstallation("eu-1")).withoutLastGood().withBadNewest(), assign: assignTo("new", "eu-1")},
		"when the deployment asks for nothing usable": {Input: candidateOver(newInstallation("eu-1")).withoutNewest(), assign: assignTo("old", "eu-1")},
		"but not when there is nothing at all":        {Input: candidateOver(newInstallation("eu-1")).withoutNewest().withoutLastGood()},
		"with what was good last, even if nobody has time to become healthy with it": {
			Input: candidateOver(newInstallation("eu-1")).deadline(0), assign: assignTo("old", "eu-1"),
		},
		"with what has just become good": {
			Input: candidateOver(healthy("eu-1", "new", 5*minute), unreachable(newInstallation("eu-2"))), assign: assignTo("new", "eu-2"), good: true,
		},
	})
}

func TestDecide_RollBack(t *testing.T) {
	many := []Installation{
		healthy("canary-1", "new", hour), started("canary-2", "new", minute), unreachable(healthy("eu-1", "new", hour)), healthy("eu-2", "old", hour),
	}
	runDecideTests(t, map[string]decideTest{
		"everywhere, in one go":             {Input: candidateOver(many...).withBadNewest(), assign: assignTo("old", "canary-1", "canary-2", "eu-1")},
		"while paused":                      {Input: candidateOver(many...).withBadNewest().paused(), assign: assignTo("old", "canary-1", "canary-2", "eu-1")},
		"unless the admin does not want it": {Input: candidateOver(many...).withBadNewest().withoutRollback()},
		"unless nothing was ever good":      {Input: candidateOver(many...).withBadNewest().withoutLastGood()},
		"when the deployment asks for nothing usable": {
			Input: candidateOver(many...).withBad("new").withoutNewest(), assign: assignTo("old", "canary-1", "canary-2", "eu-1"),
		},
		"also an earlier one, before the newest comes": {
			Input:  candidateOver(healthy("canary-1", "worse", hour), healthy("eu-1", "worse", hour)).withBad("worse"),
			assign: assignTo("old", "canary-1", "eu-1"),
		},
	})
}

func TestDecide_CandidateFails(t *testing.T) {
	runDecideTests(t, map[string]decideTest{
		"when it cannot be installed": {
			Input:  candidateOver(failing("canary-1", "new", "values.replicas: too many"), healthy("eu-1", "old", hour)),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: revision new cannot be installed on seed canary-1: values.replicas: too many",
		},
		"when it is not healthy in time": {
			Input:  candidateOver(started("canary-1", "new", 10*minute)),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 is not healthy 10m0s after it got revision new",
		},
		"but not before somebody has looked when the time was over": {
			Input: candidateOver(checkedAt(started("canary-1", "new", 11*minute), 2*minute, 2*minute)), check: []string{"canary-1"},
		},
		"when looking has failed until the time was over": {
			Input:  candidateOver(hiddenFor(started("canary-1", "new", minute), 10*minute)),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 does not tell any more how it is since it got revision new, for 10m0s",
		},
		"but not before the time is over": {Input: candidateOver(started("canary-1", "new", 10*minute-time.Second))},
		"when it does not get applied in time": {
			Input:  candidateOver(assigned("canary-1", "new", 10*minute, "old")),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 is not healthy 10m0s after it got revision new",
		},
		"when it has been unhealthy for too long": {
			Input:  candidateOver(unhealthy("canary-1", "new", minute)),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 is no longer healthy with revision new, for 1m0s now",
		},
		"but not when it is unhealthy for a moment": {Input: candidateOver(unhealthy("canary-1", "new", minute-time.Second))},
		"but not where nobody can look":             {Input: candidateOver(unreachable(unhealthy("canary-1", "new", hour)))},
		"but not before it is tried once more, but is observed anew": {
			Input: candidateOver(started("canary-1", "new", hour), unhealthy("canary-2", "new", hour)).triedAgain(), assign: assignTo("new", "canary-1", "canary-2"),
		},
		"but not by what ails the revision before it": {Input: candidateOver(assigned("canary-1", "new", minute, "old"), unhealthy("canary-2", "old", 5*time.Second))},
		"in a wave that had passed, while another is at work": {
			Input:  candidateOver(unhealthy("canary-1", "new", minute), healthy("canary-2", "new", hour), started("early-1", "new", minute), healthy("early-2", "old", hour)),
			assign: assignTo("old", "canary-1", "canary-2", "early-1"),
			bad:    true, reason: "wave canary: seed canary-1 is no longer healthy with revision new, for 1m0s now",
		},
		"and stays everywhere when nothing is taken back": {
			Input: candidateOver(unhealthy("canary-1", "new", minute), healthy("canary-2", "old", hour)).withoutRollback(),
			bad:   true, reason: "wave canary: seed canary-1 is no longer healthy with revision new, for 1m0s now",
		},
		"and stays everywhere when nothing was ever good": {
			Input: candidateOver(started("eu-1", "new", hour), healthy("eu-2", "new", hour)).withoutLastGood(),
			bad:   true, reason: "wave rest: seed eu-1 is not healthy 10m0s after it got revision new",
		},
		"while paused": {
			Input:  candidateOver(unhealthy("canary-1", "new", minute)).paused(),
			assign: assignTo("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 is no longer healthy with revision new, for 1m0s now",
		},
		"for the first wave, and in it for the first seed": {
			Input:  candidateOver(unhealthy("eu-1", "new", hour), unhealthy("canary-2", "new", hour), unhealthy("canary-1", "new", hour)),
			assign: assignTo("old", "canary-1", "canary-2", "eu-1"),
			bad:    true, reason: "wave canary: seed canary-1 is no longer healthy with revision new, for 1m0s now",
		},
		"but what was found good does not": {Input: candidateOver(unhealthy("canary-1", "new", hour), failing("eu-1", "new", "no")).withGoodNewest()},
	})
}

func TestDecide_WaveByWave(t *testing.T) {
	runDecideTests(t, map[string]decideTest{
		"beginning with the first one": {
			Input: candidateOver(healthy("canary-1", "old", hour), healthy("early-1", "old", hour), healthy("eu-1", "old", hour)), assign: assignTo("new", "canary-1"),
		},
		"or with the first that anybody belongs to": {
			Input: candidateOver(healthy("early-1", "old", hour), healthy("eu-1", "old", hour)), assign: assignTo("new", "early-1"),
		},
		"waiting for what changes": {Input: candidateOver(started("canary-1", "new", minute), healthy("early-1", "old", hour))},
		"waiting while it soaks":   {Input: candidateOver(healthy("canary-1", "new", 5*minute-time.Second), healthy("early-1", "old", hour))},
		"going on when it has soaked": {
			Input: candidateOver(healthy("canary-1", "new", 5*minute), healthy("early-1", "old", hour)), assign: assignTo("new", "early-1"),
		},
		"waiting for who was healthy last": {
			Input: candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "new", 4*minute), healthy("early-1", "old", hour)),
		},
		"going on without who cannot be reached": {
			Input:  candidateOver(healthy("canary-1", "new", hour), unreachable(healthy("canary-2", "old", hour)), healthy("early-1", "old", hour)),
			assign: assignTo("new", "early-1"),
		},
		"but not without who has not been looked at yet": {
			Input: candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "new", hour), healthy("early-1", "old", hour)).unchecked("canary-2"),
		},
		"but not before somebody has looked when it had soaked": {
			Input: candidateOver(checkedAt(healthy("canary-1", "new", 6*minute), 2*minute, 2*minute), healthy("early-1", "old", hour)),
			check: []string{"canary-1"},
		},
		"but not while looking fails": {
			Input: candidateOver(checkedAt(healthy("canary-1", "new", hour), 0, minute+time.Second), healthy("early-1", "old", hour)),
			check: []string{"canary-1"},
		},
		"although looking has failed for a moment": {
			Input: candidateOver(checkedAt(healthy("canary-1", "new", hour), 0, minute), healthy("early-1", "old", hour)), assign: assignTo("new", "early-1"),
		},
		"giving nothing to who has not been looked at yet": {
			Input: candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "old", hour)).unchecked("canary-2"),
		},
		"waiting when nobody of a wave can be reached": {
			Input: candidateOver(unreachable(healthy("canary-1", "old", hour)), unreachable(healthy("canary-2", "new", hour)), healthy("early-1", "old", hour)),
		},
		"going back to a wave that somebody has come back to": {
			Input:  candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "old", hour), healthy("early-1", "new", hour), healthy("early-2", "old", hour)),
			assign: assignTo("new", "canary-2"),
		},
		"held back by a passed wave that is not healthy any more": {
			Input: candidateOver(unhealthy("canary-1", "new", 10*time.Second), healthy("early-1", "new", hour), healthy("early-2", "old", hour)),
		},
		"held back by a passed wave that has only just become healthy again": {
			Input: candidateOver(healthy("canary-1", "new", 10*time.Second), healthy("early-1", "new", hour), healthy("early-2", "old", hour)),
		},
		"trusting nothing that was healthy before anybody looked": {
			Input: candidateOver(healthy("canary-1", "new", hour), healthy("early-1", "old", hour)).watchedFor(59 * time.Second),
		},
		"trusting it again after a while": {
			Input: candidateOver(healthy("canary-1", "new", hour), healthy("early-1", "old", hour)).watchedFor(minute), assign: assignTo("new", "early-1"),
		},
		"unless it is paused": {Input: candidateOver(healthy("canary-1", "old", hour), unhealthy("canary-2", "old", hour)).paused()},
		"leaving who is new the time to become healthy with what was good": {
			Input: candidateOver(started("canary-1", "old", 9*minute), healthy("eu-1", "old", hour)),
		},
		"over what it has superseded": {
			Input: candidateOver(healthy("canary-1", "former", hour), healthy("early-1", "former", hour), healthy("eu-1", "old", hour)), assign: assignTo("new", "canary-1"),
		},
		"but what was good comes back at once over a superseded one that does not start": {
			Input: candidateOver(started("canary-1", "former", minute), started("early-1", "former", minute)), assign: assignTo("old", "canary-1", "early-1"),
		},
		"over a bad one that was not taken back": {
			Input:  candidateOver(unhealthy("canary-1", "worse", hour), healthy("canary-2", "worse", hour), unhealthy("early-1", "worse", hour)).withBad("worse").withoutRollback(),
			assign: assignTo("new", "canary-1"),
		},
		"over a bad one where nothing was ever good": {
			Input: candidateOver(unhealthy("eu-1", "worse", hour), healthy("eu-2", "worse", hour)).withBad("worse").withoutLastGood(), assign: assignTo("new", "eu-1"),
		},
	})
}
