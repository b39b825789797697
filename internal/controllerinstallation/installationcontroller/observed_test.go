package installationcontroller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

// noon is when the tests are.
const noon = "2026-01-01T12:00:00Z"

func clockAt(moment string) clock.Clock {
	at, err := time.Parse(time.RFC3339, moment)
	if err != nil {
		panic(err)
	}
	return clocktesting.NewFakeClock(at)
}

func at(moment string) metav1.Time {
	return metav1.NewTime(clockAt("2026-01-01T" + moment + "Z").Now())
}

func newInstallation() *gardencorev1beta1.ControllerInstallation {
	return &gardencorev1beta1.ControllerInstallation{
		ObjectMeta: metav1.ObjectMeta{Name: "network-abcde"},
		Spec: gardencorev1beta1.ControllerInstallationSpec{
			SeedRef: &corev1.ObjectReference{Name: "seed"}, DeploymentRef: &corev1.ObjectReference{Name: "network"},
		},
	}
}

// newAssignedInstallation returns an installation that was assigned the candidate r2 and has it.
func newAssignedInstallation(t *testing.T) *gardencorev1beta1.ControllerInstallation {
	t.Helper()
	installation, applied := newInstallation(), at("11:30:00")
	status := installationv1alpha1.NewControllerInstallationStatus()
	status.Revision, status.AppliedAt, status.Phase = "r2", &applied, installationv1alpha1.PhaseProgressing
	installation.Annotations = map[string]string{
		installationv1alpha1.AnnotationRevision: "r2", installationv1alpha1.AnnotationRevisionSince: "2026-01-01T11:00:00Z",
		installationv1alpha1.AnnotationRevisionTrial: "2026-01-01T11:00:00Z", installationv1alpha1.AnnotationRevisionBefore: "Healthy",
	}
	var err error
	installation.Status.ProviderStatus, err = installationv1alpha1.Encode(status)
	require.NoError(t, err)
	return installation
}

func condition(conditionType, status string) []gardencorev1beta1.Condition {
	return []gardencorev1beta1.Condition{{
		Type: gardencorev1beta1.ConditionType(conditionType), Status: gardencorev1beta1.ConditionStatus(status),
		LastTransitionTime: at("11:00:00"), LastUpdateTime: at("11:00:00"),
	}}
}

func TestReconciliation_RevisionHistory(t *testing.T) {
	rec := newReconciliation(newInstallation(), operatorOfGarden, clockAt(noon))
	healthy := func(revision string) *workload.Observation {
		return &workload.Observation{Exists: true, Revision: revision}
	}
	unhealthy := func(revision string) *workload.Observation {
		return &workload.Observation{Exists: true, Revision: revision, Healthy: errors.New("no pods")}
	}

	rec.recordApplied("r1", 2)
	rec.recordHealth(unhealthy("r1"))
	assert.Equal(t, installationv1alpha1.PhaseProgressing, rec.status.Phase, "it never was well")
	rec.recordHealth(healthy("r1"))
	assert.Equal(t, installationv1alpha1.PhaseHealthy, rec.status.Phase)
	rec.recordApplied("r1", 2)
	assert.Empty(t, rec.status.History, "it is the same revision")
	rec.recordHealth(unhealthy("r1"))
	assert.Equal(t, installationv1alpha1.PhaseUnhealthy, rec.status.Phase)
	assert.NotNil(t, rec.status.UnhealthySince)

	rec.recordApplied("r2", 2)
	rec.recordHealth(healthy("r1"))
	assert.Equal(t, installationv1alpha1.PhaseProgressing, rec.status.Phase, "what is seen is still about the revision before")
	assert.Nil(t, rec.status.HealthySince)
	rec.recordHealth(healthy("r2"))
	rec.recordApplied("r3", 2)
	rec.recordApplied("r4", 2)
	noon := at("12:00:00")
	assert.Empty(t, cmp.Diff([]installationv1alpha1.HistoryEntry{
		{Revision: "r3", AppliedAt: &noon, EndedAt: &noon, Outcome: installationv1alpha1.PhaseProgressing},
		{Revision: "r2", AppliedAt: &noon, EndedAt: &noon, Outcome: installationv1alpha1.PhaseHealthy},
	}, rec.status.History), "the oldest is forgotten")
}

func TestWriteCareConditions(t *testing.T) {
	const installed = "Installed"
	for sentence, tt := range map[string]struct {
		gardenlet bool
		said      []gardencorev1beta1.Condition
		changed   string // the ManagedResource
		writes    bool
	}{
		"there is no gardenlet":                                    {false, nil, "11:59:59", true},
		"there is none, and what stands there is right":            {false, condition(installed, "True"), "11:00:00", true},
		"a gardenlet has not said anything yet":                    {true, nil, "11:59:00", false},
		"a gardenlet has never said anything":                      {true, nil, "11:54:59", true},
		"a gardenlet says the same, however long ago":              {true, condition(installed, "True"), "11:00:00", false},
		"a gardenlet is about to see it":                           {true, condition(installed, "False"), "11:56:00", false},
		"a gardenlet does not see what has been there for a while": {true, condition(installed, "False"), "11:54:00", true},
		"a gardenlet has changed its mind after the ManagedResource": {true, []gardencorev1beta1.Condition{{
			Type: installed, Status: "False", LastUpdateTime: at("11:58:00"),
		}}, "11:00:00", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			installation := newInstallation()
			installation.Status.Conditions = tt.said
			rec := newReconciliation(installation, operatorOfGarden, clockAt(noon))
			rec.seed = &gardencorev1beta1.Seed{}
			if tt.gardenlet {
				rec.seed.Status.Conditions = condition(string(gardencorev1beta1.GardenletReady), "Unknown")
			}
			rec.writeCareConditions(&workload.Observation{Exists: true, ChangedAt: at(tt.changed).Time})
			writes := slices.ContainsFunc(rec.conditions, func(c gardencorev1beta1.Condition) bool { return c.Type == installed })
			assert.Equal(t, tt.writes, writes)
		})
	}
}

func TestCareConditions(t *testing.T) {
	reports := careConditions(&workload.Observation{Exists: true, Healthy: errors.New("no pods"), Progressing: errors.New("one to go")})
	assert.Equal(t, []careCondition{
		{"Installed", "True", "InstallationSuccessful", "The controller was successfully installed in the seed cluster."},
		{"Healthy", "False", "ControllerNotHealthy", "no pods"},
		{"Progressing", "True", "ControllerNotRolledOut", "one to go"},
	}, reports)
}

func TestSetInvalid_SameProblem(t *testing.T) {
	installation := newInstallation()
	invalidValue := problem.New(problem.ValuesInvalid, "values.replicas: give a number")
	rec := newReconciliation(installation, operatorOfGarden, clockAt(noon))
	rec.setInvalid(invalidValue)
	var err error
	installation.Status.ProviderStatus, err = installationv1alpha1.Encode(rec.status)
	require.NoError(t, err)
	installation.Status.Conditions = rec.conditions

	later := newReconciliation(installation, operatorOfGarden, clockAt("2026-01-01T13:00:00Z"))
	later.setInvalid(invalidValue)
	assert.Empty(t, cmp.Diff(rec.status.LastError.Since.UTC(), later.status.LastError.Since.UTC()))
	assert.Equal(t, rec.conditions, later.conditions)
}

func TestReconciliation_RecordError(t *testing.T) {
	rec := newReconciliation(newInstallation(), operatorOfGarden, clockAt(noon))
	rec.recordError(context.DeadlineExceeded)
	assert.Equal(t, "OperationFailed", rec.status.LastError.Reason)
	require.Len(t, rec.conditions, 1)
	assert.EqualValues(t, "Unknown", rec.conditions[0].Status, "nobody can know yet")

	installation := newInstallation()
	installation.Status.Conditions = condition("Valid", "True")
	rec = newReconciliation(installation, operatorOfGarden, clockAt(noon))
	rec.recordError(context.DeadlineExceeded)
	assert.Empty(t, rec.conditions, "what was valid stays valid while nobody can look")

	rec = newReconciliation(installation, operatorOfGarden, clockAt(noon))
	rec.recordError(problem.New(problem.ValuesInvalid, "values.replicas: give a number"))
	require.Len(t, rec.conditions, 1)
	assert.EqualValues(t, "False", rec.conditions[0].Status)
	assert.Equal(t, problem.ValuesInvalid, rec.conditions[0].Reason)
}
