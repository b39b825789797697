package installationcontroller

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

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

// TestRecordGateObservation_Persisted checks that the status has what was observed where that matters, and is not written for it otherwise.
func TestRecordGateObservation_Persisted(t *testing.T) {
	installation := newAssignedInstallation(t)
	r := &reconciler{Options: Options{State: state.New()}}
	observation := func(began string, isOnTrial bool, healthy bool) *installationv1alpha1.GateObservation {
		rec := newReconciliation(installation, "", clockAt("2026-01-01T"+began+"Z"))
		rec.assignment = &assignment{revision: "r2", isOnTrial: isOnTrial}
		if healthy {
			rec.recordHealth(&workload.Observation{Exists: true, Revision: "r2"})
		}
		r.recordGateObservation(rec, nil)
		var err error
		installation.Status.ProviderStatus, err = installationv1alpha1.Encode(rec.status)
		require.NoError(t, err)
		return rec.status.Gate
	}
	first := observation("12:00:00", true, false)
	assert.Equal(t, "r2 2026-01-01T11:00:00Z 2026-01-01T11:00:00Z", first.Assignment)
	assert.Equal(t, first, observation("12:00:30", true, false), "not each look is written")
	assert.Equal(t, 90*time.Second, observation("12:01:30", true, false).Progressing.Duration)
	assert.Equal(t, 90*time.Second, observation("12:03:00", false, false).Progressing.Duration, "it is not evaluated")
	assert.Equal(t, 4*time.Minute, observation("12:04:00", false, true).Progressing.Duration, "with whatever else is written")

	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	require.NoError(t, err)
	assert.Equal(t, 4*time.Minute, state.DecodeObserved(status, state.AssignmentKey(installation.Annotations)).Progressing, "another process goes on from there")
}
