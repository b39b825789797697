package rolloutcontroller

import (
	"testing"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
)

// newTestTarget is an installation that was assigned r2 and looked at, with what the change makes of it.
func newTestTarget(t *testing.T, change func(*installationv1alpha1.ControllerInstallationStatus)) (target, *state.Store) {
	t.Helper()
	applied := at("11:30:00")
	status := installationv1alpha1.NewControllerInstallationStatus()
	status.Revision, status.AppliedAt, status.Phase = "r2", &applied, installationv1alpha1.PhaseProgressing
	if change != nil {
		change(status)
	}
	installation := &gardencorev1beta1.ControllerInstallation{
		ObjectMeta: metav1.ObjectMeta{Name: "network-abcde"},
		Spec: gardencorev1beta1.ControllerInstallationSpec{
			SeedRef: &corev1.ObjectReference{Name: "seed"}, DeploymentRef: &corev1.ObjectReference{Name: "network"},
		},
	}
	installation.Annotations = map[string]string{
		installationv1alpha1.AnnotationRevision: "r2", installationv1alpha1.AnnotationRevisionSince: "2026-01-01T11:00:00Z",
		installationv1alpha1.AnnotationRevisionTrial: "2026-01-01T11:00:00Z", installationv1alpha1.AnnotationRevisionBefore: "Healthy",
	}
	var err error
	installation.Status.ProviderStatus, err = installationv1alpha1.Encode(status)
	require.NoError(t, err)
	store := state.New()
	store.RecordSeen(installation, at("11:45:00").Time, nil)
	return newTarget(installation, &gardencorev1beta1.Seed{}, store), store
}

func knownRevisions() []revision.Info {
	return []revision.Info{
		{Name: "r2", Number: 2, Result: revision.Candidate, Since: at("11:00:00").Time},
		{Name: "r1", Number: 1, Result: revision.Good},
	}
}

func newTestInput(s target) rollout.Input {
	config := installationv1alpha1.NewControllerDeploymentConfig()
	installationv1alpha1.Default(config)
	infos := knownRevisions()
	return rolloutInput(at("12:00:00").Time, config, &infos[0], infos, []target{s})
}

func TestRolloutInput_Installation(t *testing.T) {
	const assignment = "r2 2026-01-01T11:00:00Z 2026-01-01T11:00:00Z"
	refused := func(store *state.Store, one *gardencorev1beta1.ControllerInstallation, assignment, began string) {
		store.RecordSeen(one, at(began).Time, &state.InstallFailure{Assignment: assignment, Message: "no number"})
	}
	for name, tt := range map[string]struct {
		observe     func(*state.Store, *gardencorev1beta1.ControllerInstallation)
		failed      string
		unreachable bool
		watched     metav1.Time
		tried, seen metav1.Time
	}{
		"before the first check": {observe: func(store *state.Store, one *gardencorev1beta1.ControllerInstallation) {
			store.ForgetInstallation(one.Name)
		}},
		"after a check": {
			observe: func(store *state.Store, one *gardencorev1beta1.ControllerInstallation) {
				store.RecordSeen(one, at("11:58:00").Time, nil)
			},
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"while its seed is unreachable": {observe: func(store *state.Store, one *gardencorev1beta1.ControllerInstallation) {
			store.RecordUnreachable(one, at("11:58:00").Time)
		}, unreachable: true, tried: at("11:58:00")},
		"after its seed is reachable again": {
			observe: func(store *state.Store, one *gardencorev1beta1.ControllerInstallation) {
				store.RecordUnreachable(one, at("11:57:00").Time)
				store.RecordSeen(one, at("11:58:00").Time, nil)
			},
			watched: at("11:58:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"after a failed check": {
			observe: func(store *state.Store, one *gardencorev1beta1.ControllerInstallation) {
				store.RecordFailed(one, at("11:58:00").Time)
			},
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:45:00"),
		},
		"after a check that follows failed ones": {
			observe: func(store *state.Store, one *gardencorev1beta1.ControllerInstallation) {
				store.RecordFailed(one, at("11:58:00").Time)
				store.RecordSeen(one, at("11:59:00").Time, nil)
			},
			watched: at("11:59:00"), tried: at("11:59:00"), seen: at("11:59:00"),
		},
		"after a first check that failed": {
			observe: func(store *state.Store, one *gardencorev1beta1.ControllerInstallation) {
				store.ForgetInstallation(one.Name)
				store.RecordFailed(one, at("11:58:00").Time)
			},
			watched: at("11:58:00"), tried: at("11:58:00"),
		},
		"when the revision cannot be rendered for it": {
			observe: func(store *state.Store, one *gardencorev1beta1.ControllerInstallation) {
				refused(store, one, assignment, "11:58:00")
			},
			failed: "no number", watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"when another revision could not be rendered for it": {
			observe: func(store *state.Store, one *gardencorev1beta1.ControllerInstallation) {
				refused(store, one, "r0 2026-01-01T11:00:00Z 2026-01-01T11:00:00Z", "11:58:00")
			},
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"when it could not be rendered before the retry": {
			observe: func(store *state.Store, one *gardencorev1beta1.ControllerInstallation) {
				refused(store, one, "r2 2026-01-01T11:00:00Z 2026-01-01T10:00:00Z", "11:58:00")
			},
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"when it has been rendered since": {
			observe: func(store *state.Store, one *gardencorev1beta1.ControllerInstallation) {
				refused(store, one, assignment, "11:58:00")
				store.RecordSeen(one, at("11:59:00").Time, nil)
			},
			watched: at("11:45:00"), tried: at("11:59:00"), seen: at("11:59:00"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, store := newTestTarget(t, nil)
			tt.observe(store, s.installation)
			got := newTestInput(newTarget(s.installation, s.seed, store)).Installations[0]
			assert.Equal(t, tt.failed, got.Failed)
			assert.Equal(t, tt.unreachable, got.Unreachable)
			assert.Equal(t, []time.Time{tt.watched.Time, tt.tried.Time, tt.seen.Time}, []time.Time{got.WatchedSince, got.TriedAt, got.SeenAt})
			assert.Equal(t, "r2", got.Assigned)
			assert.Equal(t, at("11:00:00").Time, got.AssignedAt)
			assert.Equal(t, at("11:00:00").Time, got.Trial)
			assert.Equal(t, rollout.WasHealthy, got.Before)
		})
	}
}

func TestRolloutInput_RevisionRemoved(t *testing.T) {
	s, _ := newTestTarget(t, nil)
	infos := knownRevisions()[1:]
	config := installationv1alpha1.NewControllerDeploymentConfig()
	installationv1alpha1.Default(config)
	assert.Empty(t, rolloutInput(at("12:00:00").Time, config, nil, infos, []target{s}).Installations[0].Assigned, "it is given one that there is")
}

func TestRolloutInput_InvalidConfig(t *testing.T) {
	s, _ := newTestTarget(t, nil)
	unknown := rolloutInput(at("12:00:00").Time, nil, nil, knownRevisions(), []target{s})
	assert.True(t, unknown.Rollout.Paused)
	assert.Equal(t, installationv1alpha1.RollbackNever, unknown.Rollout.Rollback)
	assert.Empty(t, unknown.Newest)
	assert.Equal(t, "r1", unknown.LastGood, "new installations have something to be served with")

	s.installation.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	assert.Empty(t, rolloutInput(at("12:00:00").Time, nil, nil, knownRevisions(), []target{s}).Installations)
}

func TestRolloutInput_ObservedByAnotherProcess(t *testing.T) {
	const assignment = "r2 2026-01-01T11:00:00Z 2026-01-01T11:00:00Z"
	observed := rollout.Observed{Total: 4 * time.Minute, Progressing: 4 * time.Minute}
	one, _ := newTestTarget(t, func(status *installationv1alpha1.ControllerInstallationStatus) {
		status.Gate = state.EncodeObserved(observed, assignment)
	})
	assert.Equal(t, observed, newTarget(one.installation, one.seed, state.New()).rolloutInstallation().Observed)
	one.installation.Annotations[installationv1alpha1.AnnotationRevisionTrial] = "2026-01-01T12:05:00Z"
	assert.Zero(t, newTarget(one.installation, one.seed, state.New()).rolloutInstallation().Observed, "another attempt is another assignment")
}

// TestDecide_SeedUnreachableSinceCandidate observes a seed that a candidate has cut off, with a restart of the operator in between.
func TestDecide_SeedUnreachableSinceCandidate(t *testing.T) {
	one, store := newTestTarget(t, func(s *installationv1alpha1.ControllerInstallationStatus) {
		since := at("11:40:00")
		s.HealthySince, s.Phase = &since, installationv1alpha1.PhaseHealthy
	})
	assignment := state.AssignmentKey(one.installation.Annotations)
	decide := func(store *state.Store, now string) rollout.Decision {
		config := installationv1alpha1.NewControllerDeploymentConfig()
		installationv1alpha1.Default(config)
		config.Rollout.MaxFailures = new(intstr.FromInt32(0))
		infos := knownRevisions()
		return rollout.Decide(rolloutInput(at(now).Time, config, &infos[0], infos, []target{newTarget(one.installation, one.seed, store)}))
	}
	store.Observe(one.installation.Name, assignment, at("11:50:00").Time, rollout.Healthy, rollout.Observed{})
	lose := func(store *state.Store, from string, minutes int, stored rollout.Observed) (observed rollout.Observed) {
		for minute := range minutes + 1 {
			began := at(from).Add(time.Duration(minute) * time.Minute)
			store.Observe("another", "r1 now", began, rollout.Healthy, rollout.Observed{})
			observed = store.Observe(one.installation.Name, assignment, began, rollout.Hidden, stored)
			store.RecordUnreachable(one.installation, began)
		}
		return observed
	}
	stored := lose(store, "11:51:00", 8, rollout.Observed{})
	d := decide(store, "11:59:00")
	assert.False(t, d.Good || d.Bad, "its time is not up")
	assert.Equal(t, "wave rest: 0 of 1 installation has revision r2, no seed of it can be reached", d.Progress.Message, "what was seen before is not news")

	another := state.New()
	lose(another, "13:00:00", 2, stored)
	d = decide(another, "13:02:00")
	assert.True(t, d.Bad)
	assert.Equal(t, "wave rest: seed "+one.installation.Spec.SeedRef.Name+" cannot be reached any more since it got revision r2, for 10m0s", d.Reason)
	assert.Equal(t, map[string]string{one.installation.Name: "r1"}, d.Assign)
}

func TestReportEmptyWaves_Once(t *testing.T) {
	recorder := events.NewFakeRecorder(3)
	r := &reconciler{Options: Options{State: state.New(), Events: recorder}}
	deployment := &gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "trellis"}}
	for _, emptyWaves := range [][]string{nil, {"canary"}, {"canary"}, nil, {"canary", "early"}} {
		current := state.Deployment{EmptyWaves: emptyWaves}
		r.reportEmptyWaves(deployment, current)
		r.State.PublishDeployment(deployment.Name, current, nil)
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

func at(clock string) metav1.Time {
	moment, err := time.Parse(time.RFC3339, "2026-01-01T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return metav1.NewTime(moment)
}
