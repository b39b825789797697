package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
)

// decided is what a table expects of a decision.
type decided struct {
	Situation

	assign    map[string]string
	good, bad bool
	reason    string
	look      []string
}

func checkDecisions(t *testing.T, tests map[string]decided) {
	t.Helper()
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			d := Decide(test.Situation)
			assert.Empty(t, cmp.Diff(test.assign, d.Assign, cmpopts.EquateEmpty()), "assigned")
			assert.Equal(t, test.good, d.Good, "good")
			assert.Equal(t, test.bad, d.Bad, "bad")
			assert.Equal(t, test.reason, d.Reason)
			assert.Empty(t, cmp.Diff(test.look, d.Look, cmpopts.EquateEmpty()), "to be looked at")
		})
	}
}

func give(revision string, seeds ...string) map[string]string {
	assign := map[string]string{}
	for _, seed := range seeds {
		assign[seed] = revision
	}
	return assign
}

func TestANewInstallationIsServedAtOnce(t *testing.T) {
	checkDecisions(t, map[string]decided{
		"with what was good last, while a candidate is on its way": {
			Situation: candidateOver(fresh("canary-1"), fresh("eu-1"), fresh("eu-2")), assign: give("old", "canary-1", "eu-1", "eu-2"),
		},
		"while the rollout is paused":         {Situation: candidateOver(fresh("eu-1")).paused(), assign: give("old", "eu-1")},
		"while the newest is bad":             {Situation: candidateOver(fresh("eu-1")).withBadNewest(), assign: give("old", "eu-1")},
		"although nothing is ever taken back": {Situation: candidateOver(fresh("eu-1")).withBadNewest().withoutRollback(), assign: give("old", "eu-1")},
		"with the newest when it is good":     {Situation: candidateOver(fresh("eu-1")).withGoodNewest(), assign: give("new", "eu-1")},
		"although its seed is unreachable":    {Situation: candidateOver(unreachable(fresh("eu-1"))), assign: give("old", "eu-1")},
		"with the newest when none was ever good, whatever its wave": {
			Situation: candidateOver(fresh("eu-1"), fresh("eu-2")).withoutLastGood().paused(), assign: give("new", "eu-1", "eu-2"),
		},
		"even with a bad one when there is no other":  {Situation: candidateOver(fresh("eu-1")).withoutLastGood().withBadNewest(), assign: give("new", "eu-1")},
		"when the deployment asks for nothing usable": {Situation: candidateOver(fresh("eu-1")).withoutNewest(), assign: give("old", "eu-1")},
		"but not when there is nothing at all":        {Situation: candidateOver(fresh("eu-1")).withoutNewest().withoutLastGood()},
		"with what was good last, even if nobody has time to become healthy with it": {
			Situation: candidateOver(fresh("eu-1")).deadline(0), assign: give("old", "eu-1"),
		},
		"with what has just become good": {
			Situation: candidateOver(healthy("eu-1", "new", 5*minute), unreachable(fresh("eu-2"))), assign: give("new", "eu-2"), good: true,
		},
	})
}

func TestABadRevisionIsTakenBackAtOnce(t *testing.T) {
	many := []Installation{
		healthy("canary-1", "new", hour), started("canary-2", "new", minute), unreachable(healthy("eu-1", "new", hour)), healthy("eu-2", "old", hour),
	}
	checkDecisions(t, map[string]decided{
		"everywhere, in one go":             {Situation: candidateOver(many...).withBadNewest(), assign: give("old", "canary-1", "canary-2", "eu-1")},
		"while paused":                      {Situation: candidateOver(many...).withBadNewest().paused(), assign: give("old", "canary-1", "canary-2", "eu-1")},
		"unless the admin does not want it": {Situation: candidateOver(many...).withBadNewest().withoutRollback()},
		"unless nothing was ever good":      {Situation: candidateOver(many...).withBadNewest().withoutLastGood()},
		"when the deployment asks for nothing usable": {
			Situation: candidateOver(many...).withBad("new").withoutNewest(), assign: give("old", "canary-1", "canary-2", "eu-1"),
		},
		"also an earlier one, before the newest comes": {
			Situation: candidateOver(healthy("canary-1", "worse", hour), healthy("eu-1", "worse", hour)).withBad("worse"),
			assign:    give("old", "canary-1", "eu-1"),
		},
	})
}

func TestACandidateFails(t *testing.T) {
	checkDecisions(t, map[string]decided{
		"when it cannot be installed": {
			Situation: candidateOver(refusing("canary-1", "new", "values.replicas: too many"), healthy("eu-1", "old", hour)),
			assign:    give("old", "canary-1"), bad: true, reason: "wave canary: revision new cannot be installed on seed canary-1: values.replicas: too many",
		},
		"when it is not healthy in time": {
			Situation: candidateOver(started("canary-1", "new", 10*minute)),
			assign:    give("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 is not healthy 10m0s after it got revision new",
		},
		"but not before somebody has looked when the time was over": {
			Situation: candidateOver(seen(started("canary-1", "new", 11*minute), 2*minute, 2*minute)), look: []string{"canary-1"},
		},
		"when looking has failed until the time was over": {
			Situation: candidateOver(hiddenFor(started("canary-1", "new", minute), 10*minute)),
			assign:    give("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 does not tell any more how it is since it got revision new, for 10m0s",
		},
		"but not before the time is over": {Situation: candidateOver(started("canary-1", "new", 10*minute-time.Second))},
		"when it does not get applied in time": {
			Situation: candidateOver(assigned("canary-1", "new", 10*minute, "old")),
			assign:    give("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 is not healthy 10m0s after it got revision new",
		},
		"when it has been unhealthy for too long": {
			Situation: candidateOver(unhealthy("canary-1", "new", minute)),
			assign:    give("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 is no longer healthy with revision new, for 1m0s now",
		},
		"but not when it is unhealthy for a moment": {Situation: candidateOver(unhealthy("canary-1", "new", minute-time.Second))},
		"but not where nobody can look":             {Situation: candidateOver(unreachable(unhealthy("canary-1", "new", hour)))},
		"but not before it is tried once more, but is observed anew": {
			Situation: candidateOver(started("canary-1", "new", hour), unhealthy("canary-2", "new", hour)).triedAgain(), assign: give("new", "canary-1", "canary-2"),
		},
		"but not by what ails the revision before it": {Situation: candidateOver(assigned("canary-1", "new", minute, "old"), unhealthy("canary-2", "old", 5*time.Second))},
		"in a wave that had passed, while another is at work": {
			Situation: candidateOver(unhealthy("canary-1", "new", minute), healthy("canary-2", "new", hour), started("early-1", "new", minute), healthy("early-2", "old", hour)),
			assign:    give("old", "canary-1", "canary-2", "early-1"),
			bad:       true, reason: "wave canary: seed canary-1 is no longer healthy with revision new, for 1m0s now",
		},
		"and stays everywhere when nothing is taken back": {
			Situation: candidateOver(unhealthy("canary-1", "new", minute), healthy("canary-2", "old", hour)).withoutRollback(),
			bad:       true, reason: "wave canary: seed canary-1 is no longer healthy with revision new, for 1m0s now",
		},
		"and stays everywhere when nothing was ever good": {
			Situation: candidateOver(started("eu-1", "new", hour), healthy("eu-2", "new", hour)).withoutLastGood(),
			bad:       true, reason: "wave rest: seed eu-1 is not healthy 10m0s after it got revision new",
		},
		"while paused": {
			Situation: candidateOver(unhealthy("canary-1", "new", minute)).paused(),
			assign:    give("old", "canary-1"), bad: true, reason: "wave canary: seed canary-1 is no longer healthy with revision new, for 1m0s now",
		},
		"for the first wave, and in it for the first seed": {
			Situation: candidateOver(unhealthy("eu-1", "new", hour), unhealthy("canary-2", "new", hour), unhealthy("canary-1", "new", hour)),
			assign:    give("old", "canary-1", "canary-2", "eu-1"),
			bad:       true, reason: "wave canary: seed canary-1 is no longer healthy with revision new, for 1m0s now",
		},
		"but what was found good does not": {Situation: candidateOver(unhealthy("canary-1", "new", hour), refusing("eu-1", "new", "no")).withGoodNewest()},
	})
}

func TestACandidateGoesWaveByWave(t *testing.T) {
	checkDecisions(t, map[string]decided{
		"beginning with the first one": {
			Situation: candidateOver(healthy("canary-1", "old", hour), healthy("early-1", "old", hour), healthy("eu-1", "old", hour)), assign: give("new", "canary-1"),
		},
		"or with the first that anybody belongs to": {
			Situation: candidateOver(healthy("early-1", "old", hour), healthy("eu-1", "old", hour)), assign: give("new", "early-1"),
		},
		"waiting for what changes": {Situation: candidateOver(started("canary-1", "new", minute), healthy("early-1", "old", hour))},
		"waiting while it soaks":   {Situation: candidateOver(healthy("canary-1", "new", 5*minute-time.Second), healthy("early-1", "old", hour))},
		"going on when it has soaked": {
			Situation: candidateOver(healthy("canary-1", "new", 5*minute), healthy("early-1", "old", hour)), assign: give("new", "early-1"),
		},
		"waiting for who was healthy last": {
			Situation: candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "new", 4*minute), healthy("early-1", "old", hour)),
		},
		"going on without who cannot be reached": {
			Situation: candidateOver(healthy("canary-1", "new", hour), unreachable(healthy("canary-2", "old", hour)), healthy("early-1", "old", hour)),
			assign:    give("new", "early-1"),
		},
		"but not without who has not been looked at yet": {
			Situation: candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "new", hour), healthy("early-1", "old", hour)).unseen("canary-2"),
		},
		"but not before somebody has looked when it had soaked": {
			Situation: candidateOver(seen(healthy("canary-1", "new", 6*minute), 2*minute, 2*minute), healthy("early-1", "old", hour)),
			look:      []string{"canary-1"},
		},
		"but not while looking fails": {
			Situation: candidateOver(seen(healthy("canary-1", "new", hour), 0, minute+time.Second), healthy("early-1", "old", hour)),
			look:      []string{"canary-1"},
		},
		"although looking has failed for a moment": {
			Situation: candidateOver(seen(healthy("canary-1", "new", hour), 0, minute), healthy("early-1", "old", hour)), assign: give("new", "early-1"),
		},
		"giving nothing to who has not been looked at yet": {
			Situation: candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "old", hour)).unseen("canary-2"),
		},
		"waiting when nobody of a wave can be reached": {
			Situation: candidateOver(unreachable(healthy("canary-1", "old", hour)), unreachable(healthy("canary-2", "new", hour)), healthy("early-1", "old", hour)),
		},
		"going back to a wave that somebody has come back to": {
			Situation: candidateOver(healthy("canary-1", "new", hour), healthy("canary-2", "old", hour), healthy("early-1", "new", hour), healthy("early-2", "old", hour)),
			assign:    give("new", "canary-2"),
		},
		"held back by a passed wave that is not healthy any more": {
			Situation: candidateOver(unhealthy("canary-1", "new", 10*time.Second), healthy("early-1", "new", hour), healthy("early-2", "old", hour)),
		},
		"held back by a passed wave that has only just become healthy again": {
			Situation: candidateOver(healthy("canary-1", "new", 10*time.Second), healthy("early-1", "new", hour), healthy("early-2", "old", hour)),
		},
		"trusting nothing that was healthy before anybody looked": {
			Situation: candidateOver(healthy("canary-1", "new", hour), healthy("early-1", "old", hour)).watchedFor(59 * time.Second),
		},
		"trusting it again after a while": {
			Situation: candidateOver(healthy("canary-1", "new", hour), healthy("early-1", "old", hour)).watchedFor(minute), assign: give("new", "early-1"),
		},
		"unless it is paused": {Situation: candidateOver(healthy("canary-1", "old", hour), unhealthy("canary-2", "old", hour)).paused()},
		"leaving who is new the time to become healthy with what was good": {
			Situation: candidateOver(started("canary-1", "old", 9*minute), healthy("eu-1", "old", hour)),
		},
		"over what it has superseded": {
			Situation: candidateOver(healthy("canary-1", "former", hour), healthy("early-1", "former", hour), healthy("eu-1", "old", hour)), assign: give("new", "canary-1"),
		},
		"but what was good comes back at once over a superseded one that does not start": {
			Situation: candidateOver(started("canary-1", "former", minute), started("early-1", "former", minute)), assign: give("old", "canary-1", "early-1"),
		},
		"over a bad one that was not taken back": {
			Situation: candidateOver(unhealthy("canary-1", "worse", hour), healthy("canary-2", "worse", hour), unhealthy("early-1", "worse", hour)).withBad("worse").withoutRollback(),
			assign:    give("new", "canary-1"),
		},
		"over a bad one where nothing was ever good": {
			Situation: candidateOver(unhealthy("eu-1", "worse", hour), healthy("eu-2", "worse", hour)).withBad("worse").withoutLastGood(), assign: give("new", "eu-1"),
		},
	})
}
