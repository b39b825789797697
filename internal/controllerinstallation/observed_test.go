package controllerinstallation

import (
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

func condition(conditionType, status string) []gardencorev1beta1.Condition {
	return []gardencorev1beta1.Condition{{
		Type: gardencorev1beta1.ConditionType(conditionType), Status: gardencorev1beta1.ConditionStatus(status),
		LastTransitionTime: at("11:00:00"), LastUpdateTime: at("11:00:00"),
	}}
}

func TestTheLifeOfARevision(t *testing.T) {
	p := newPass(newInstallation(), operatorOfGarden, clockAt(noon))
	well := func(revision string) *workload.Observation {
		return &workload.Observation{Exists: true, Revision: revision}
	}
	ill := func(revision string) *workload.Observation {
		return &workload.Observation{Exists: true, Revision: revision, Healthy: errors.New("no pods")}
	}

	p.applied("r1", 2)
	p.observed(ill("r1"))
	assert.Equal(t, installationv1alpha1.PhaseProgressing, p.status.Phase, "it never was well")
	p.observed(well("r1"))
	assert.Equal(t, installationv1alpha1.PhaseHealthy, p.status.Phase)
	p.applied("r1", 2)
	assert.Empty(t, p.status.History, "it is the same revision")
	p.observed(ill("r1"))
	assert.Equal(t, installationv1alpha1.PhaseUnhealthy, p.status.Phase)
	assert.NotNil(t, p.status.UnhealthySince)

	p.applied("r2", 2)
	p.observed(well("r1"))
	assert.Equal(t, installationv1alpha1.PhaseProgressing, p.status.Phase, "what is seen is still about the revision before")
	assert.Nil(t, p.status.HealthySince)
	p.observed(well("r2"))
	p.applied("r3", 2)
	p.applied("r4", 2)
	noon := at("12:00:00")
	assert.Empty(t, cmp.Diff([]installationv1alpha1.HistoryEntry{
		{Revision: "r3", AppliedAt: &noon, EndedAt: &noon, Outcome: installationv1alpha1.PhaseProgressing},
		{Revision: "r2", AppliedAt: &noon, EndedAt: &noon, Outcome: installationv1alpha1.PhaseHealthy},
	}, p.status.History), "the oldest is forgotten")
}

func TestWhoWritesGardenletsConditions(t *testing.T) {
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
			p := newPass(installation, operatorOfGarden, clockAt(noon))
			p.seed = &gardencorev1beta1.Seed{}
			if tt.gardenlet {
				p.seed.Status.Conditions = condition(string(gardencorev1beta1.GardenletReady), "Unknown")
			}
			p.careInstead(&workload.Observation{Exists: true, ChangedAt: at(tt.changed).Time})
			writes := slices.ContainsFunc(p.conditions, func(c gardencorev1beta1.Condition) bool { return c.Type == installed })
			assert.Equal(t, tt.writes, writes)
		})
	}
}

func TestCareReports(t *testing.T) {
	reports := careReport(&workload.Observation{Exists: true, Healthy: errors.New("no pods"), Progressing: errors.New("one to go")})
	assert.Equal(t, []reported{
		{"Installed", "True", "InstallationSuccessful", "The controller was successfully installed in the seed cluster."},
		{"Healthy", "False", "ControllerNotHealthy", "no pods"},
		{"Progressing", "True", "ControllerNotRolledOut", "one to go"},
	}, reports)
}

func TestAMistakeThatStaysIsWrittenOnce(t *testing.T) {
	installation := newInstallation()
	mistake := problem.New(problem.ValuesInvalid, "values.replicas: give a number")
	p := newPass(installation, operatorOfGarden, clockAt(noon))
	p.invalid(mistake)
	var err error
	installation.Status.ProviderStatus, err = installationv1alpha1.Encode(p.status)
	require.NoError(t, err)
	installation.Status.Conditions = p.conditions

	later := newPass(installation, operatorOfGarden, clockAt("2026-01-01T13:00:00Z"))
	later.invalid(mistake)
	assert.Empty(t, cmp.Diff(p.status.LastError.Since.UTC(), later.status.LastError.Since.UTC()))
	assert.Equal(t, p.conditions, later.conditions)
}
