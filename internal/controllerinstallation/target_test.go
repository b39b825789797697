package controllerinstallation

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
)

// newTestTarget is an installation that was assigned r2 and looked at, with what the change makes of it.
func newTestTarget(t *testing.T, change func(*installationv1alpha1.ControllerInstallationStatus)) (target, *observations) {
	t.Helper()
	applied := at("11:30:00")
	status := installationv1alpha1.NewControllerInstallationStatus()
	status.Revision, status.AppliedAt, status.Phase = "r2", &applied, installationv1alpha1.PhaseProgressing
	if change != nil {
		change(status)
	}
	installation := newInstallation()
	installation.Annotations = map[string]string{
		installationv1alpha1.AnnotationRevision: "r2", installationv1alpha1.AnnotationRevisionSince: "2026-01-01T11:00:00Z",
		installationv1alpha1.AnnotationRevisionTrial: "2026-01-01T11:00:00Z", installationv1alpha1.AnnotationRevisionBefore: "Healthy",
	}
	var err error
	installation.Status.ProviderStatus, err = installationv1alpha1.Encode(status)
	require.NoError(t, err)
	o := newObservations()
	o.recordSeen(installation.Name, at("11:45:00").Time, nil)
	return newTarget(installation, &gardencorev1beta1.Seed{}, o), o
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
	refused := func(o *observations, name, assignment, began string) {
		o.recordSeen(name, at(began).Time, &installFailure{assignment: assignment, message: "no number"})
	}
	for sentence, tt := range map[string]struct {
		observe     func(o *observations, installation string)
		failed      string
		unreachable bool
		watched     metav1.Time
		tried, seen metav1.Time
	}{
		"nobody has looked at it yet": {observe: (*observations).forget},
		"it was seen": {
			observe: func(o *observations, name string) { o.recordSeen(name, at("11:58:00").Time, nil) },
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"its seed is away": {observe: func(o *observations, name string) { o.recordUnreachable(name, at("11:58:00").Time) }, unreachable: true, tried: at("11:58:00")},
		"its seed is back": {
			observe: func(o *observations, name string) {
				o.recordUnreachable(name, at("11:57:00").Time)
				o.recordSeen(name, at("11:58:00").Time, nil)
			},
			watched: at("11:58:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"a look has failed": {
			observe: func(o *observations, name string) { o.recordFailed(name, at("11:58:00").Time) },
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:45:00"),
		},
		"it is seen after looks that failed for long": {
			observe: func(o *observations, name string) {
				o.recordFailed(name, at("11:58:00").Time)
				o.recordSeen(name, at("11:59:00").Time, nil)
			},
			watched: at("11:59:00"), tried: at("11:59:00"), seen: at("11:59:00"),
		},
		"the first look has failed": {
			observe: func(o *observations, name string) { o.forget(name); o.recordFailed(name, at("11:58:00").Time) },
			watched: at("11:58:00"), tried: at("11:58:00"),
		},
		"the revision cannot be rendered for it": {
			observe: func(o *observations, name string) { refused(o, name, assignment, "11:58:00") },
			failed:  "no number", watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"another revision could not be rendered for it": {
			observe: func(o *observations, name string) {
				refused(o, name, "r0 2026-01-01T11:00:00Z 2026-01-01T11:00:00Z", "11:58:00")
			},
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"it could not be rendered before it was to be tried once more": {
			observe: func(o *observations, name string) {
				refused(o, name, "r2 2026-01-01T11:00:00Z 2026-01-01T10:00:00Z", "11:58:00")
			},
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"it could be rendered since": {
			observe: func(o *observations, name string) {
				refused(o, name, assignment, "11:58:00")
				o.recordSeen(name, at("11:59:00").Time, nil)
			},
			watched: at("11:45:00"), tried: at("11:59:00"), seen: at("11:59:00"),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, o := newTestTarget(t, nil)
			tt.observe(o, s.installation.Name)
			state := newTestInput(newTarget(s.installation, s.seed, o)).Installations[0]
			assert.Equal(t, tt.failed, state.Failed)
			assert.Equal(t, tt.unreachable, state.Unreachable)
			assert.Equal(t, []time.Time{tt.watched.Time, tt.tried.Time, tt.seen.Time}, []time.Time{state.WatchedSince, state.TriedAt, state.SeenAt})
			assert.Equal(t, "r2", state.Assigned)
			assert.Equal(t, at("11:00:00").Time, state.AssignedAt)
			assert.Equal(t, at("11:00:00").Time, state.Trial)
			assert.Equal(t, rollout.WasHealthy, state.Before)
		})
	}
}

func TestObservations_NotifiesRollout(t *testing.T) {
	const name = "one"
	now := at("12:00:00").Time
	for sentence, tt := range map[string]struct {
		before  func(*observations)
		observe func(*observations) bool
		isNews  bool
	}{
		"the first look":                   {nil, func(o *observations) bool { return o.recordSeen(name, now, nil) }, true},
		"the first look, when it fails":    {nil, func(o *observations) bool { return o.recordFailed(name, now) }, true},
		"a seed that cannot be reached":    {nil, func(o *observations) bool { return o.recordUnreachable(name, now) }, true},
		"a seed that somebody waits for":   {func(o *observations) { o.recordUnreachable(name, now); o.requestCheck(name) }, func(o *observations) bool { return o.recordUnreachable(name, now) }, true},
		"a seed that still cannot be":      {func(o *observations) { o.recordUnreachable(name, now) }, func(o *observations) bool { return o.recordUnreachable(name, now) }, false},
		"a seed that is back":              {func(o *observations) { o.recordUnreachable(name, now) }, func(o *observations) bool { return o.recordSeen(name, now, nil) }, true},
		"one more look":                    {func(o *observations) { o.recordSeen(name, now, nil) }, func(o *observations) bool { return o.recordSeen(name, now, nil) }, false},
		"one more look that fails":         {func(o *observations) { o.recordSeen(name, now, nil) }, func(o *observations) bool { return o.recordFailed(name, now) }, false},
		"one that somebody waits for":      {func(o *observations) { o.recordSeen(name, now, nil); o.requestCheck(name) }, func(o *observations) bool { return o.recordSeen(name, now, nil) }, true},
		"the one after that":               {func(o *observations) { o.requestCheck(name); o.recordSeen(name, now, nil) }, func(o *observations) bool { return o.recordSeen(name, now, nil) }, false},
		"one that is waited for and fails": {func(o *observations) { o.recordFailed(name, now); o.requestCheck(name) }, func(o *observations) bool { return o.recordFailed(name, now) }, true},
		"a revision that cannot be had": {
			func(o *observations) { o.recordSeen(name, now, &installFailure{}) }, func(o *observations) bool { return o.recordSeen(name, now, &installFailure{}) }, true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newObservations()
			if tt.before != nil {
				tt.before(o)
			}
			assert.Equal(t, tt.isNews, tt.observe(o))
		})
	}
}

func TestObservations_RequestCheckOnce(t *testing.T) {
	o := newObservations()
	assert.True(t, o.requestCheck("one"))
	assert.False(t, o.requestCheck("one"), "whoever looks in vain tries again anyway")
	o.recordSeen("one", at("12:00:00").Time, nil)
	assert.True(t, o.requestCheck("one"))
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
