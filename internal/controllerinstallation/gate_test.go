package controllerinstallation

import (
	"errors"
	"testing"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

func TestObservations_Observe(t *testing.T) {
	start := at("12:00:00").Time
	after := start.Add
	observation := func(o *observations, d time.Duration, health rollout.Health) rollout.Observed {
		return o.observe("one", "r2 now", after(d), health, rollout.Observed{})
	}
	t.Run("what lies between two looks counts", func(t *testing.T) {
		o := newObservations()
		observation(o, 0, rollout.Progressing)
		assert.Equal(t, rollout.Observed{Total: time.Minute, Progressing: time.Minute}, observation(o, time.Minute, rollout.Healthy))
		assert.Equal(t, rollout.Observed{Total: 90 * time.Second, Progressing: time.Minute, Healthy: 30 * time.Second}, observation(o, 90*time.Second, rollout.Healthy))
	})
	t.Run("a clock that jumps for a minute makes nobody late", func(t *testing.T) {
		o := newObservations()
		observation(o, 0, rollout.Progressing)
		assert.Equal(t, maxObservationInterval, observation(o, 2*time.Hour, rollout.Progressing).Progressing)
		assert.Equal(t, maxObservationInterval, observation(o, time.Minute, rollout.Progressing).Progressing, "and nothing is counted when it jumps back")
		assert.Equal(t, maxObservationInterval+time.Minute, observation(o, 2*time.Minute, rollout.Progressing).Progressing)
	})
	t.Run("another process goes on from what is kept", func(t *testing.T) {
		stored := rollout.Observed{Total: 8 * time.Minute, Progressing: 8 * time.Minute}
		o := newObservations()
		assert.Equal(t, stored, o.observe("one", "r2 now", after(time.Hour), rollout.Progressing, stored), "time in which nobody looked does not count")
		assert.Equal(t, 9*time.Minute, o.observe("one", "r2 now", after(time.Hour+time.Minute), rollout.Progressing, stored).Progressing)
	})
	t.Run("another assignment begins anew", func(t *testing.T) {
		o := newObservations()
		observation(o, 0, rollout.Progressing)
		assert.Zero(t, o.observe("one", "r3 now", after(time.Minute), rollout.Progressing, rollout.Observed{}))
	})
	t.Run("a lost seed counts while others answer", func(t *testing.T) {
		o := newObservations()
		observation(o, 0, rollout.Hidden)
		o.observe("two", "r1 now", after(time.Minute), rollout.Healthy, rollout.Observed{})
		assert.Equal(t, time.Minute, observation(o, time.Minute, rollout.Hidden).Hidden)
	})
	t.Run("a lost seed counts through short returns", func(t *testing.T) {
		o := newObservations()
		observation(o, 0, rollout.Hidden)
		o.observe("two", "r1 now", start, rollout.Healthy, rollout.Observed{})
		observation(o, 2*time.Minute, rollout.Healthy)
		observation(o, 3*time.Minute, rollout.Hidden)
		assert.Equal(t, 150*time.Second, observation(o, 4*time.Minute, rollout.Hidden).Hidden)
	})
	t.Run("no seed counts while none answers, since the operator may be cut off", func(t *testing.T) {
		o := newObservations()
		observation(o, 0, rollout.Healthy)
		for minutes := range 30 {
			observation(o, time.Duration(minutes)*time.Minute, rollout.Hidden)
		}
		assert.LessOrEqual(t, observation(o, 30*time.Minute, rollout.Hidden).Hidden, maxObservationInterval)
	})
}

func TestReconciliation_Health(t *testing.T) {
	now := at("11:00:00")
	progressing := func(*installationv1alpha1.ControllerInstallationStatus) {}
	healthy := func(s *installationv1alpha1.ControllerInstallationStatus) { s.HealthySince = &now }
	unhealthy := func(s *installationv1alpha1.ControllerInstallationStatus) { s.UnhealthySince = &now }
	other := func(s *installationv1alpha1.ControllerInstallationStatus) { s.Revision, s.HealthySince = "r1", &now }
	for sentence, tt := range map[string]struct {
		status func(*installationv1alpha1.ControllerInstallationStatus)
		err    error
		want   rollout.Health
	}{
		"it was not healthy yet":                        {progressing, nil, rollout.Progressing},
		"it is healthy":                                 {healthy, nil, rollout.Healthy},
		"it is not healthy any more":                    {unhealthy, nil, rollout.Unhealthy},
		"it is healthy with another revision":           {other, nil, rollout.Progressing},
		"it was healthy, and its seed is unreachable":   {healthy, &seeds.Unreachable{}, rollout.Hidden},
		"it was not, and its seed is unreachable":       {progressing, &seeds.Unreachable{}, rollout.Hidden},
		"it was healthy, and its seed answers errors":   {healthy, asSeedError(errors.New("etcd")), rollout.Hidden},
		"it was not healthy, and its seed answers them": {progressing, asSeedError(errors.New("etcd")), rollout.Hidden},
		"what it is to have cannot be rendered":         {other, problem.New(problem.ValuesInvalid, "no number"), rollout.Progressing},
	} {
		t.Run(sentence, func(t *testing.T) {
			rec := newReconciliation(newInstallation(), operatorOfGarden, clockAt(noon))
			rec.assignment, rec.status.Revision = &assignment{revision: "r2"}, "r2"
			tt.status(rec.status)
			isKnown, health := rec.health(tt.err)
			assert.True(t, isKnown)
			assert.Equal(t, tt.want, health)
		})
	}
	rec := newReconciliation(newInstallation(), operatorOfGarden, clockAt(noon))
	rec.assignment = &assignment{revision: "r2"}
	for sentence, err := range map[string]error{
		"the garden does not answer":          errors.New("etcd"),
		"there is no Seed":                    problem.New(problem.SeedNotFound, "there is none"),
		"nobody has given access to its seed": &seeds.Unreachable{NoAccess: true},
	} {
		isKnown, _ := rec.health(err)
		assert.False(t, isKnown, sentence)
	}
}

// What was observed is kept where it matters, and nothing is written for it otherwise.
func TestRecordGateObservation_Persisted(t *testing.T) {
	s, o := newTestTarget(t, nil)
	r := &installations{observations: o}
	observation := func(began string, isOnTrial bool, healthy bool) *installationv1alpha1.GateObservation {
		rec := newReconciliation(s.installation, "", clockAt("2026-01-01T"+began+"Z"))
		rec.assignment = &assignment{revision: "r2", isOnTrial: isOnTrial}
		if healthy {
			rec.recordHealth(&workload.Observation{Exists: true, Revision: "r2"})
		}
		r.recordGateObservation(rec, nil)
		var err error
		s.installation.Status.ProviderStatus, err = installationv1alpha1.Encode(rec.status)
		require.NoError(t, err)
		return rec.status.Gate
	}
	first := observation("12:00:00", true, false)
	assert.Equal(t, "r2 2026-01-01T11:00:00Z 2026-01-01T11:00:00Z", first.Assignment)
	assert.Equal(t, first, observation("12:00:30", true, false), "not each look is written")
	assert.Equal(t, 90*time.Second, observation("12:01:30", true, false).Progressing.Duration)
	assert.Equal(t, 90*time.Second, observation("12:03:00", false, false).Progressing.Duration, "nobody is judged by it")
	assert.Equal(t, 4*time.Minute, observation("12:04:00", false, true).Progressing.Duration, "with whatever else is written")

	again := newTarget(s.installation, s.seed, newObservations()).rolloutInstallation()
	assert.Equal(t, 4*time.Minute, again.Observed.Progressing, "another process goes on from there")
	assert.True(t, again.Healthy)
	s.installation.Annotations[installationv1alpha1.AnnotationRevisionTrial] = "2026-01-01T12:05:00Z"
	assert.Zero(t, newTarget(s.installation, s.seed, o).rolloutInstallation().Observed, "another attempt is another assignment")
}

// A seed that a candidate has cut off, as the operator sees it: one look after the other, with a restart in between.
func TestDecide_SeedUnreachableSinceCandidate(t *testing.T) {
	one, o := newTestTarget(t, func(s *installationv1alpha1.ControllerInstallationStatus) {
		since := at("11:40:00")
		s.HealthySince, s.Phase = &since, installationv1alpha1.PhaseHealthy
	})
	assignment := assignmentKey(one.installation.Annotations)
	decide := func(o *observations, now string) rollout.Decision {
		config := installationv1alpha1.NewControllerDeploymentConfig()
		installationv1alpha1.Default(config)
		config.Rollout.MaxFailures = new(intstr.FromInt32(0))
		infos := knownRevisions()
		return rollout.Decide(rolloutInput(at(now).Time, config, &infos[0], infos, []target{newTarget(one.installation, one.seed, o)}))
	}
	o.observe(one.installation.Name, assignment, at("11:50:00").Time, rollout.Healthy, rollout.Observed{})
	lose := func(o *observations, from string, minutes int, stored rollout.Observed) (observed rollout.Observed) {
		for minute := range minutes + 1 {
			began := at(from).Add(time.Duration(minute) * time.Minute)
			o.observe("another", "r1 now", began, rollout.Healthy, rollout.Observed{})
			observed = o.observe(one.installation.Name, assignment, began, rollout.Hidden, stored)
			o.recordUnreachable(one.installation.Name, began)
		}
		return observed
	}
	stored := lose(o, "11:51:00", 8, rollout.Observed{})
	d := decide(o, "11:59:00")
	assert.False(t, d.Good || d.Bad, "its time is not up")
	assert.Equal(t, "wave rest: 0 of 1 installation has revision r2, no seed of it can be reached", d.Progress.Message, "what was seen before is not news")

	another := newObservations()
	lose(another, "13:00:00", 2, stored)
	d = decide(another, "13:02:00")
	assert.True(t, d.Bad)
	assert.Equal(t, "wave rest: seed "+one.installation.Spec.SeedRef.Name+" cannot be reached any more since it got revision r2, for 10m0s", d.Reason)
	assert.Equal(t, map[string]string{one.installation.Name: "r1"}, d.Assign)
}

func TestReportEmptyWaves_Once(t *testing.T) {
	recorder := events.NewFakeRecorder(3)
	r := &rollouts{states: newStateStore(), events: recorder}
	deployment := &gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "trellis"}}
	for _, emptyWaves := range [][]string{nil, {"canary"}, {"canary"}, nil, {"canary", "early"}} {
		state := deploymentState{empty: emptyWaves}
		r.reportEmptyWaves(deployment, state)
		r.states.put(deployment.Name, state)
	}
	close(recorder.Events)
	var reported []string
	for event := range recorder.Events {
		reported = append(reported, event)
	}
	require.Len(t, reported, 2)
	assert.Contains(t, reported[0], "Warning WaveEmpty No seed that has an installation belongs to these waves of the rollout, so nothing is proven there: canary;")
	assert.Contains(t, reported[1], "canary, early;")
}

func TestVanishedSeeds(t *testing.T) {
	s, _ := newTestTarget(t, nil)
	infos := knownRevisions()
	assert.Empty(t, vanishedSeeds(&infos[0], []target{s}), "it stays")
	s.installation.DeletionTimestamp = &metav1.Time{Time: at("11:59:00").Time}
	assert.Equal(t, []string{"seed"}, vanishedSeeds(&infos[0], []target{s}))
	assert.Empty(t, vanishedSeeds(&infos[1], []target{s}), "it does not have that revision")
	s.status.HealthySince = &metav1.Time{Time: at("11:50:00").Time}
	assert.Empty(t, vanishedSeeds(&infos[0], []target{s}), "it was healthy with it")
	s.status.HealthySince = nil
	for _, before := range []rollout.Before{rollout.WasUnhealthy, rollout.WasRefused, rollout.WasUnreachable} {
		s.installation.Annotations[installationv1alpha1.AnnotationRevisionBefore] = string(before)
		assert.Empty(t, vanishedSeeds(&infos[0], []target{s}), "it proves nothing")
	}

	message := vanishedSeedsMessage("", []string{"a"})
	assert.Equal(t, "seed a was not healthy with it when its installation was deleted", message)
	assert.Empty(t, vanishedSeedsMessage(message, []string{"a"}), "it is said once")
	infos[0].Message = message
	note := noteOf(newTestInput(s), rollout.Decision{Progress: rollout.Progress{Empty: []string{"canary"}}}, &infos[0])
	assert.Equal(t, "No seed that has an installation belongs to these waves of the rollout, so nothing is proven there: canary; see their seedSelector. "+
		"Revision r2: seed a was not healthy with it when its installation was deleted.", note)
}
