package rollouts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// rules are what a rollout must keep to.
type rules struct {
	waveOf map[string]string // of a seed
	soak   time.Duration
}

func (env *environment) rules(soak time.Duration) rules {
	r := rules{waveOf: map[string]string{}, soak: soak}
	for _, s := range env.sites {
		r.waveOf[s.seed] = s.wave
	}
	return r
}

// logAssignments logs the order in which a revision was given.
func logAssignments(t *testing.T, assignments []assignment, revision string) {
	t.Helper()
	var entries []string
	for _, a := range assignments {
		if a.assigned == revision {
			entries = append(entries, fmt.Sprintf("%s %.0f", a.seed, a.assignedAt.Sub(assignments[0].assignedAt).Seconds()))
		}
	}
	t.Logf("given, with seconds: %s", strings.Join(entries, ", "))
}

// violations says which rules were broken when a revision came to installations that had another one.
func (r rules) violations(assignments []assignment, revision string) []string {
	var found []string
	for _, a := range assignments {
		if a.assigned != revision || a.before == "" {
			continue // new installations wait for nobody
		}
		changing := 0
		for seed, other := range a.others {
			switch wave := r.waveOf[seed]; {
			case wave == r.waveOf[a.seed]:
				if !other.settled() {
					changing++
				}
			case r.isBefore(wave, r.waveOf[a.seed]) && other.phase != installationv1alpha1.PhaseUnreachable:
				if missing := r.missing(other, revision, a.assignedAt); missing != "" {
					found = append(found, fmt.Sprintf("%s was given %s although %s", a.seed, revision, missing))
				}
			}
		}
		if most := maxUnavailable()[r.waveOf[a.seed]]; changing > most {
			found = append(found, fmt.Sprintf("when %s was given %s, %d of its wave were changing or unhealthy, and %d may be", a.seed, revision, changing, most))
		}
	}
	return found
}

// isBefore reports whether a wave comes before another one.
func (r rules) isBefore(wave, other string) bool {
	for _, w := range waves() {
		if w == wave || w == other {
			return w == wave && wave != other
		}
	}
	return false
}

// missing says what kept an installation of an earlier wave from having been healthy for long enough at a moment. Times are cut to the second.
func (r rules) missing(s observation, revision string, at time.Time) string {
	switch {
	case s.assigned != revision || s.has != revision:
		return fmt.Sprintf("%s was to have %s and had %s", s.seed, s.assigned, s.has)
	case s.healthySince.IsZero():
		return s.seed + " was not healthy"
	case at.Sub(s.healthySince) < r.soak-time.Second:
		return fmt.Sprintf("%s had been healthy for %s only", s.seed, at.Sub(s.healthySince))
	}
	return ""
}

// The rules find what is against them.
func TestRules(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	r := rules{waveOf: map[string]string{"canary-01": canary, "canary-02": canary, "early-01": early, "rest-01": late}, soak: soak}
	old := func(seed string) observation {
		return observation{installation: seed, seed: seed, assigned: "old", assignedAt: at(0), has: "old", healthySince: at(1)}
	}
	given := func(seed string, second int) observation {
		s := old(seed)
		s.assigned, s.assignedAt = "new", at(second)
		return s
	}
	healthy := func(seed string, assigned, second int) observation {
		s := given(seed, assigned)
		s.has, s.healthySince = "new", at(second)
		return s
	}
	unhealthy := func(seed string, assigned int) observation {
		s := healthy(seed, assigned, 0)
		s.healthySince = time.Time{}
		return s
	}
	before := []observation{old("canary-01"), old("canary-02"), old("early-01"), old("rest-01")}
	for sentence, tt := range map[string]struct {
		sights []observation
		broken string
	}{
		"one after the other, wave by wave": {sights: []observation{
			given("canary-01", 10), healthy("canary-01", 10, 11), given("canary-02", 11), healthy("canary-02", 11, 12),
			given("early-01", 14), healthy("early-01", 14, 15), given("rest-01", 17), healthy("rest-01", 17, 18),
		}},
		"a new installation waits for nobody": {sights: []observation{
			{seed: "rest-01", gone: true}, {seed: "rest-01"}, given("rest-01", 10),
		}},
		"two at a time where one may be changing": {
			sights: []observation{given("canary-01", 10), given("canary-02", 10)},
			broken: "when canary-02 was given new, 2 of its wave",
		},
		"the next one while one is sick": {
			sights: []observation{given("canary-01", 10), unhealthy("canary-01", 10), given("canary-02", 12)},
			broken: "when canary-02 was given new, 2 of its wave",
		},
		"the next wave before the first has been healthy for long enough": {
			sights: []observation{given("canary-01", 10), healthy("canary-01", 10, 11), given("canary-02", 11), healthy("canary-02", 11, 12), given("early-01", 12)},
			broken: "early-01 was given new although canary-02 had been healthy for 0s only",
		},
		"the next wave while one of the first is sick": {
			sights: []observation{
				given("canary-01", 10), healthy("canary-01", 10, 11), given("canary-02", 11), unhealthy("canary-02", 11), given("early-01", 20),
			},
			broken: "early-01 was given new although canary-02 was not healthy",
		},
		"the last wave without the second": {
			sights: []observation{
				given("canary-01", 10), healthy("canary-01", 10, 11), given("canary-02", 11), healthy("canary-02", 11, 12), given("rest-01", 20),
			},
			broken: "rest-01 was given new although early-01 was to have old",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			found := r.violations(assignmentsSince(append(before, tt.sights...), len(before)), "new")
			if tt.broken == "" {
				assert.Empty(t, found)
				return
			}
			if assert.NotEmpty(t, found) {
				assert.Contains(t, found[0], tt.broken)
			}
		})
	}
}
