package rollout

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

const (
	minute = time.Minute
	hour   = time.Hour
)

func noon() time.Time { return time.Date(2031, time.May, 4, 12, 0, 0, 0, time.UTC) }

func ago(d time.Duration) time.Time { return noon().Add(-d) }

// threeWaves are canary, early and rest, with all defaults: 5m of soaking, 25%, a deadline of 10m and a tolerance of 1m.
func threeWaves() installationv1alpha1.Rollout {
	config := &installationv1alpha1.ControllerDeploymentConfig{Rollout: &installationv1alpha1.Rollout{}}
	for _, name := range []string{"canary", "early"} {
		config.Rollout.Waves = append(config.Rollout.Waves, installationv1alpha1.Wave{
			Name: name, SeedSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"wave": name}},
		})
	}
	installationv1alpha1.Default(config)
	return *config.Rollout
}

// candidateOver is a situation in which "new" is a candidate and "old" was found good last.
func candidateOver(installations ...Installation) Input {
	for k := range installations {
		if i := &installations[k]; i.TriedAt.IsZero() && i.Assigned != "" && !i.Unreachable {
			i.TriedAt, i.SeenAt = noon(), noon()
		}
	}
	return Input{Now: noon(), Newest: "new", LastGood: "old", Rollout: threeWaves(), Installations: installations}
}

func (s Input) paused() Input { s.Rollout.Paused = true; return s }

func (s Input) withoutRollback() Input {
	s.Rollout.Rollback = installationv1alpha1.RollbackNever
	return s
}

func (s Input) withoutLastGood() Input { s.LastGood = ""; return s }

func (s Input) withoutNewest() Input { s.Newest = ""; return s }

func (s Input) withGoodNewest() Input {
	s.NewestGood, s.LastGood = true, s.Newest
	return s
}

func (s Input) withBadNewest() Input {
	s.NewestBad, s.NewestReason = true, "wave canary: it broke"
	return s.withBad(s.Newest)
}

func (s Input) withBad(revisions ...string) Input {
	s.Bad = append(s.Bad, revisions...)
	return s
}

func (s Input) within(maxUnavailable string) Input {
	for k := range s.Rollout.Waves {
		s.Rollout.Waves[k].MaxUnavailable = new(intstr.Parse(maxUnavailable))
	}
	return s
}

func (s Input) watchedFor(d time.Duration) Input {
	for k := range s.Installations {
		s.Installations[k].WatchedSince = ago(d)
	}
	return s
}

// triedAgain has the candidate tried once more since some time ago, and its installations observed since.
func (s Input) triedAgain() Input { s.NewestSince = ago(minute); return s }

func (s Input) deadline(d time.Duration) Input {
	s.Rollout.HealthGate.Deadline.Duration = d
	return s
}

// newInstallation is an installation without a revision. The seed's wave is what its name begins with.
func newInstallation(seed string) Installation {
	wave, _, _ := strings.Cut(seed, "-")
	return Installation{Name: seed, Seed: seed, SeedLabels: labels.Set{"wave": wave}}
}

// assigned was assigned a revision some time ago, and has another one that it has been healthy with for an hour.
func assigned(seed, revision string, since time.Duration, applied string) Installation {
	i := newInstallation(seed)
	i.Assigned, i.AssignedAt = revision, ago(since)
	i.Applied = applied
	i.Healthy = applied == revision
	i.Observed = Observed{Total: since, Progressing: since}
	return i
}

// started got a revision some time ago and was not healthy yet.
func started(seed, revision string, since time.Duration) Installation {
	i := assigned(seed, revision, since, revision)
	i.Healthy = false
	return i
}

// healthy has been so for some time.
func healthy(seed, revision string, since time.Duration) Installation {
	i := started(seed, revision, since+minute)
	i.Healthy, i.Observed = true, Observed{Total: since + minute, Progressing: minute, Healthy: since}
	return i
}

// unhealthy was healthy until some time ago.
func unhealthy(seed, revision string, since time.Duration) Installation {
	i := started(seed, revision, since+minute)
	i.WasHealthy, i.Observed = true, Observed{Total: since + 2*minute, Progressing: minute, Unhealthy: since, UnhealthyTotal: since, Interruptions: 1}
	return i
}

// withBefore has an installation been so when it was assigned its revision.
func withBefore(was Before, i Installation) Installation { i.Before = was; return i }

// lost was there when it was assigned its revision, and cannot be reached since some time ago.
func lost(i Installation, since time.Duration) Installation {
	i.Unreachable, i.TriedAt, i.SeenAt = true, noon(), ago(since)
	i.Before = WasHealthy
	i.Observed.Hidden, i.Observed.Total = since, i.Observed.Total+since
	return i
}

// failing cannot have what it was assigned a minute ago.
func failing(seed, revision, why string) Installation {
	i := assigned(seed, revision, minute, "old")
	i.Failed = why
	return i
}

// withFailure has what it was assigned, which could not be installed once more.
func withFailure(i Installation, why string) Installation { i.Failed = why; return i }

// progressing has been observed for some time without becoming healthy.
func progressing(i Installation, d time.Duration) Installation {
	i.Observed = Observed{Total: d, Progressing: d}
	return i
}

func unreachable(i Installation) Installation { i.Unreachable = true; return i }

// checkedAt was looked at last some time ago, and for the last time with success.
func checkedAt(i Installation, tried, checkedAt time.Duration) Installation {
	i.TriedAt, i.SeenAt = ago(tried), ago(checkedAt)
	for _, observed := range []*time.Duration{&i.Observed.Healthy, &i.Observed.Progressing, &i.Observed.Unhealthy, &i.Observed.Total} {
		*observed = max(0, *observed-tried)
	}
	return i
}

// unchecked was looked at by nobody since the operator began.
func (s Input) unchecked(seeds ...string) Input {
	for k := range s.Installations {
		if i := &s.Installations[k]; slices.Contains(seeds, i.Seed) {
			i.TriedAt, i.SeenAt = time.Time{}, time.Time{}
		}
	}
	return s
}
