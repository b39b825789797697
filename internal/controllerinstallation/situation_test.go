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

// servedWith is an installation that was assigned r2 and looked at, with what the change makes of it.
func servedWith(t *testing.T, change func(*installationv1alpha1.ControllerInstallationStatus)) (served, *watch) {
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
	w := newWatch()
	w.seen(installation.Name, at("11:45:00").Time, nil)
	return newServed(installation, &gardencorev1beta1.Seed{}, w), w
}

func known() []revision.Info {
	return []revision.Info{
		{Name: "r2", Number: 2, Verdict: revision.Candidate, Since: at("11:00:00").Time},
		{Name: "r1", Number: 1, Verdict: revision.Good},
	}
}

func situation(s served) rollout.Situation {
	config := installationv1alpha1.NewControllerDeploymentConfig()
	installationv1alpha1.Default(config)
	infos := known()
	return situationOf(at("12:00:00").Time, config, &infos[0], infos, []served{s})
}

func TestWhatARolloutKnowsOfAnInstallation(t *testing.T) {
	const assignment = "r2 2026-01-01T11:00:00Z 2026-01-01T11:00:00Z"
	refused := func(w *watch, name, assignment, began string) {
		w.seen(name, at(began).Time, &refusal{assignment: assignment, message: "no number"})
	}
	for sentence, tt := range map[string]struct {
		look        func(w *watch, installation string)
		failed      string
		unreachable bool
		watched     metav1.Time
		tried, seen metav1.Time
	}{
		"nobody has looked at it yet": {look: (*watch).forget},
		"it was seen": {
			look:    func(w *watch, name string) { w.seen(name, at("11:58:00").Time, nil) },
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"its seed is away": {look: func(w *watch, name string) { w.lost(name, at("11:58:00").Time) }, unreachable: true, tried: at("11:58:00")},
		"its seed is back": {
			look:    func(w *watch, name string) { w.lost(name, at("11:57:00").Time); w.seen(name, at("11:58:00").Time, nil) },
			watched: at("11:58:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"a look has failed": {
			look:    func(w *watch, name string) { w.failed(name, at("11:58:00").Time) },
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:45:00"),
		},
		"it is seen after looks that failed for long": {
			look: func(w *watch, name string) {
				w.failed(name, at("11:58:00").Time)
				w.seen(name, at("11:59:00").Time, nil)
			},
			watched: at("11:59:00"), tried: at("11:59:00"), seen: at("11:59:00"),
		},
		"the first look has failed": {
			look:    func(w *watch, name string) { w.forget(name); w.failed(name, at("11:58:00").Time) },
			watched: at("11:58:00"), tried: at("11:58:00"),
		},
		"the revision cannot be rendered for it": {
			look:   func(w *watch, name string) { refused(w, name, assignment, "11:58:00") },
			failed: "no number", watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"another revision could not be rendered for it": {
			look: func(w *watch, name string) {
				refused(w, name, "r0 2026-01-01T11:00:00Z 2026-01-01T11:00:00Z", "11:58:00")
			},
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"it could not be rendered before it was to be tried once more": {
			look: func(w *watch, name string) {
				refused(w, name, "r2 2026-01-01T11:00:00Z 2026-01-01T10:00:00Z", "11:58:00")
			},
			watched: at("11:45:00"), tried: at("11:58:00"), seen: at("11:58:00"),
		},
		"it could be rendered since": {
			look: func(w *watch, name string) {
				refused(w, name, assignment, "11:58:00")
				w.seen(name, at("11:59:00").Time, nil)
			},
			watched: at("11:45:00"), tried: at("11:59:00"), seen: at("11:59:00"),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, w := servedWith(t, nil)
			tt.look(w, s.installation.Name)
			state := situation(newServed(s.installation, s.seed, w)).Installations[0]
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

func TestARolloutIsWokenByNews(t *testing.T) {
	const name = "one"
	now := at("12:00:00").Time
	for sentence, tt := range map[string]struct {
		before func(*watch)
		look   func(*watch) bool
		isNews bool
	}{
		"the first look":                   {nil, func(w *watch) bool { return w.seen(name, now, nil) }, true},
		"the first look, when it fails":    {nil, func(w *watch) bool { return w.failed(name, now) }, true},
		"a seed that cannot be reached":    {nil, func(w *watch) bool { return w.lost(name, now) }, true},
		"a seed that somebody waits for":   {func(w *watch) { w.lost(name, now); w.ask(name) }, func(w *watch) bool { return w.lost(name, now) }, true},
		"a seed that still cannot be":      {func(w *watch) { w.lost(name, now) }, func(w *watch) bool { return w.lost(name, now) }, false},
		"a seed that is back":              {func(w *watch) { w.lost(name, now) }, func(w *watch) bool { return w.seen(name, now, nil) }, true},
		"one more look":                    {func(w *watch) { w.seen(name, now, nil) }, func(w *watch) bool { return w.seen(name, now, nil) }, false},
		"one more look that fails":         {func(w *watch) { w.seen(name, now, nil) }, func(w *watch) bool { return w.failed(name, now) }, false},
		"one that somebody waits for":      {func(w *watch) { w.seen(name, now, nil); w.ask(name) }, func(w *watch) bool { return w.seen(name, now, nil) }, true},
		"the one after that":               {func(w *watch) { w.ask(name); w.seen(name, now, nil) }, func(w *watch) bool { return w.seen(name, now, nil) }, false},
		"one that is waited for and fails": {func(w *watch) { w.failed(name, now); w.ask(name) }, func(w *watch) bool { return w.failed(name, now) }, true},
		"a revision that cannot be had": {
			func(w *watch) { w.seen(name, now, &refusal{}) }, func(w *watch) bool { return w.seen(name, now, &refusal{}) }, true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWatch()
			if tt.before != nil {
				tt.before(w)
			}
			assert.Equal(t, tt.isNews, tt.look(w))
		})
	}
}

func TestALookIsAskedForOnce(t *testing.T) {
	w := newWatch()
	assert.True(t, w.ask("one"))
	assert.False(t, w.ask("one"), "whoever looks in vain tries again anyway")
	w.seen("one", at("12:00:00").Time, nil)
	assert.True(t, w.ask("one"))
}

func TestRevisionsThatAreGone(t *testing.T) {
	s, _ := servedWith(t, nil)
	infos := known()[1:]
	config := installationv1alpha1.NewControllerDeploymentConfig()
	installationv1alpha1.Default(config)
	assert.Empty(t, situationOf(at("12:00:00").Time, config, nil, infos, []served{s}).Installations[0].Assigned, "it is given one that there is")
}

func TestAConfigThatNobodyUnderstandsChangesNothing(t *testing.T) {
	s, _ := servedWith(t, nil)
	unknown := situationOf(at("12:00:00").Time, nil, nil, known(), []served{s})
	assert.True(t, unknown.Rollout.Paused)
	assert.Equal(t, installationv1alpha1.RollbackNever, unknown.Rollout.Rollback)
	assert.Empty(t, unknown.Newest)
	assert.Equal(t, "r1", unknown.LastGood, "new installations have something to be served with")

	s.installation.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	assert.Empty(t, situationOf(at("12:00:00").Time, nil, nil, known(), []served{s}).Installations)
}
