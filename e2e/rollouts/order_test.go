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

func (w *world) rules(soak time.Duration) rules {
	r := rules{waveOf: map[string]string{}, soak: soak}
	for _, s := range w.sites {
		r.waveOf[s.seed] = s.wave
	}
	return r
}

// tell logs the order in which a revision was given.
func tell(t *testing.T, assignments []assignment, revision string) {
	t.Helper()
	var order []string
	for _, a := range assignments {
		if a.assigned == revision {
			order = append(order, fmt.Sprintf("%s %.0f", a.seed, a.assignedAt.Sub(assignments[0].assignedAt).Seconds()))
		}
	}
	t.Logf("given, with seconds: %s", strings.Join(order, ", "))
}

// broken says which rules were broken when a revision came to installations that had another one.
func (r rules) broken(assignments []assignment, revision string) []string {
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
		if most := mostUnavailable()[r.waveOf[a.seed]]; changing > most {
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
func (r rules) missing(s sight, revision string, at time.Time) string {
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
func TestRulesAreRules(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	r := rules{waveOf: map[string]string{"canary-01": canary, "canary-02": canary, "early-01": early, "rest-01": late}, soak: soak}
	old := func(seed string) sight {
		return sight{installation: seed, seed: seed, assigned: "old", assignedAt: at(0), has: "old", healthySince: at(1)}
	}
	given := func(seed string, second int) sight {
		s := old(seed)
		s.assigned, s.assignedAt = "new", at(second)
		return s
	}
	healthy := func(seed string, assigned, second int) sight {
		s := given(seed, assigned)
		s.has, s.healthySince = "new", at(second)
		return s
	}
	sick := func(seed string, assigned int) sight {
		s := healthy(seed, assigned, 0)
		s.healthySince = time.Time{}
		return s
	}
	before := []sight{old("canary-01"), old("canary-02"), old("early-01"), old("rest-01")}
	for sentence, tt := range map[string]struct {
		sights []sight
		broken string
	}{
		"one after the other, wave by wave": {sights: []sight{
			given("canary-01", 10), healthy("canary-01", 10, 11), given("canary-02", 11), healthy("canary-02", 11, 12),
			given("early-01", 14), healthy("early-01", 14, 15), given("rest-01", 17), healthy("rest-01", 17, 18),
		}},
		"a new installation waits for nobody": {sights: []sight{
			{seed: "rest-01", gone: true}, {seed: "rest-01"}, given("rest-01", 10),
		}},
		"two at a time where one may be changing": {
			sights: []sight{given("canary-01", 10), given("canary-02", 10)},
			broken: "when canary-02 was given new, 2 of its wave",
		},
		"the next one while one is sick": {
			sights: []sight{given("canary-01", 10), sick("canary-01", 10), given("canary-02", 12)},
			broken: "when canary-02 was given new, 2 of its wave",
		},
		"the next wave before the first has been healthy for long enough": {
			sights: []sight{given("canary-01", 10), healthy("canary-01", 10, 11), given("canary-02", 11), healthy("canary-02", 11, 12), given("early-01", 12)},
			broken: "early-01 was given new although canary-02 had been healthy for 0s only",
		},
		"the next wave while one of the first is sick": {
			sights: []sight{
				given("canary-01", 10), healthy("canary-01", 10, 11), given("canary-02", 11), sick("canary-02", 11), given("early-01", 20),
			},
			broken: "early-01 was given new although canary-02 was not healthy",
		},
		"the last wave without the second": {
			sights: []sight{
				given("canary-01", 10), healthy("canary-01", 10, 11), given("canary-02", 11), healthy("canary-02", 11, 12), given("rest-01", 20),
			},
			broken: "rest-01 was given new although early-01 was to have old",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			found := r.broken(assignmentsSince(append(before, tt.sights...), len(before)), "new")
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
