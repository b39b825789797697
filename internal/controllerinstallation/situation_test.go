package controllerinstallation

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
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
	}
	var err error
	installation.Status.ProviderStatus, err = installationv1alpha1.Encode(status)
	require.NoError(t, err)
	w := newWatch()
	w.seen(installation.Name, at("11:45:00").Time)
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
	failedSince := func(reason string) func(*installationv1alpha1.ControllerInstallationStatus) {
		return func(status *installationv1alpha1.ControllerInstallationStatus) {
			status.Revision, status.TargetRevision, status.Phase = "r1", "r2", installationv1alpha1.PhaseFailed
			status.LastError = &installationv1alpha1.LastError{Reason: reason, Message: "no number", Since: at("11:10:00")}
		}
	}
	for sentence, tt := range map[string]struct {
		change      func(*installationv1alpha1.ControllerInstallationStatus)
		failed      string
		unreachable bool
	}{
		"it has got what it was assigned":               {nil, "", false},
		"the revision cannot be rendered for it":        {failedSince(problem.ValuesInvalid), "no number", false},
		"what is wrong with it is no revision's matter": {failedSince(problem.NameTooLong), "", true},
		"its seed is away": {func(status *installationv1alpha1.ControllerInstallationStatus) {
			status.Phase = installationv1alpha1.PhaseUnreachable
		}, "", true},
		"another revision could not be rendered for it": {func(status *installationv1alpha1.ControllerInstallationStatus) {
			failedSince(problem.ValuesInvalid)(status)
			status.TargetRevision = "r0"
		}, "", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, _ := servedWith(t, tt.change)
			state := situation(s).Installations[0]
			assert.Equal(t, tt.failed, state.Failed)
			assert.Equal(t, tt.unreachable, state.Unreachable)
			assert.Equal(t, "r2", state.Assigned)
			assert.Equal(t, at("11:00:00").Time, state.AssignedAt)
			assert.Equal(t, at("11:30:00").Time, state.AppliedAt)
			assert.Equal(t, at("11:45:00").Time, state.WatchedSince)
		})
	}
}

func TestNobodyIsJudgedByWhatWasSeenBeforeABreak(t *testing.T) {
	s, w := servedWith(t, nil)
	name := s.installation.Name
	look := func() rollout.Installation { return situation(newServed(s.installation, s.seed, w)).Installations[0] }
	assert.False(t, w.lost(name), "that it is gone is told by its status")
	assert.True(t, look().Unreachable, "nobody has seen it since")
	assert.False(t, look().Unseen, "but somebody has tried")
	assert.True(t, w.seen(name, at("11:58:00").Time), "the first look wakes the rollout")
	assert.False(t, w.seen(name, at("11:59:00").Time))
	assert.False(t, look().Unreachable)
	assert.Equal(t, at("11:58:00").Time, look().WatchedSince)
	assert.False(t, w.failed(name))
	assert.Equal(t, at("11:58:00").Time, look().WatchedSince, "one look that says nothing is no break")
}

func TestNobodyIsPassedOverBeforeAFirstLook(t *testing.T) {
	for sentence, firstLook := range map[string]func(*watch, string) (isNews bool){
		"that succeeds":                    func(w *watch, name string) bool { return w.seen(name, at("11:58:00").Time) },
		"that finds the seed unreachable":  (*watch).lost,
		"that fails for some other reason": (*watch).failed,
	} {
		t.Run(sentence, func(t *testing.T) {
			s, w := servedWith(t, nil)
			name := s.installation.Name
			w.forget(name)
			look := func() rollout.Installation { return situation(newServed(s.installation, s.seed, w)).Installations[0] }
			assert.True(t, look().Unseen)
			assert.True(t, look().Unreachable)
			assert.True(t, firstLook(w, name), "the first look wakes the rollout")
			assert.False(t, look().Unseen)
			assert.False(t, firstLook(w, name))
		})
	}
}

func TestARevisionThatIsTriedOnceMoreHasFailedOnlyWhenItFailsOnceMore(t *testing.T) {
	s, w := servedWith(t, func(status *installationv1alpha1.ControllerInstallationStatus) {
		status.Revision, status.TargetRevision, status.Phase = "r1", "r2", installationv1alpha1.PhaseFailed
		status.LastError = &installationv1alpha1.LastError{Reason: problem.ValuesInvalid, Message: "no number", Since: at("11:10:00")}
	})
	infos := known()
	infos[0].Since = at("11:50:00").Time
	config := installationv1alpha1.NewControllerDeploymentConfig()
	installationv1alpha1.Default(config)
	state := func() rollout.Installation {
		s = newServed(s.installation, s.seed, w)
		return situationOf(at("12:00:00").Time, config, &infos[0], infos, []served{s}).Installations[0]
	}
	assert.Empty(t, state().Failed, "it was looked at last before it was to be tried again")
	w.seen(s.installation.Name, at("11:50:01").Time)
	assert.Equal(t, "no number", state().Failed)
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
