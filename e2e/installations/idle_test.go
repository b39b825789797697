package installations

import (
	"regexp"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// idleDuration is as long as twenty checks of gardenlet's care controller, and a hundred of the operator's.
const idleDuration = 2 * time.Minute

// testIdle checks that healthy installations are not written, except for the observed duration of a candidate, which the operator writes once a
// minute at most. gardenlet's conditions are made as old as in a landscape without changes.
func testIdle(t *testing.T, env *environment) {
	var installations []*gardencorev1beta1.ControllerInstallation
	for _, s := range env.sitesWithGardenlet() {
		for _, each := range trellis() {
			installation := env.inUse(t, s.name, each.name)
			env.assertStatus(t, s, installation)
			ageConditions(t, env.Client, installation, 10*time.Minute)
			installations = append(installations, installation)
		}
	}
	start := time.Now()
	time.Sleep(idleDuration)
	writes, err := env.InstallationWrites().WritesOf("")
	require.NoError(t, err)
	minutes := int(time.Since(start) / time.Minute)
	observation := regexp.MustCompile(`^\{("metadata":\{"resourceVersion":"\d+"\},)?"status":\{"providerStatus":\{"gate":\{[^{}]*\}\}\}\}$`)
	for _, before := range installations {
		byOperators, ofStatus, observations := 0, 0, 0
		for _, write := range writes {
			isOperators := strings.HasSuffix(write.User, ":"+account)
			if write.Name != before.Name || write.Time.Before(start) {
				continue
			}
			if isOperators && observation.Match(write.Body) {
				observations++
				continue
			}
			if isOperators {
				byOperators++
			}
			// gardenlet sends patches without changes. gardener-controller-manager writes the versions of referenced objects.
			if write.Resource == "controllerinstallations/status" && string(write.Body) != "{}" {
				ofStatus++
				t.Log(write)
			}
		}
		assert.Zero(t, byOperators, "%s: writes by operators", before.Name)
		assert.LessOrEqual(t, observations, minutes+1, "%s: writes of what was observed", before.Name)
		assert.LessOrEqual(t, ofStatus, 2, "%s: changes of the status", before.Name)
		after := before.DeepCopy()
		require.True(t, exists(t, env.Client, after))
		assert.Equal(t, before.Status.Conditions, after.Status.Conditions, "%s: no condition has changed, not even for a moment", before.Name)
		statusBefore, statusAfter := statusOf(t, before), statusOf(t, after)
		statusBefore.Gate, statusAfter.Gate = nil, nil
		assert.Equal(t, statusBefore, statusAfter, before.Name)
	}
}

// ageConditions makes conditions as old as after a while without changes.
func ageConditions(t *testing.T, c client.Client, installation *gardencorev1beta1.ControllerInstallation, by time.Duration) {
	t.Helper()
	long := metav1.NewTime(time.Now().Add(-by).Truncate(time.Second))
	before := installation.DeepCopy()
	for i := range installation.Status.Conditions {
		installation.Status.Conditions[i].LastUpdateTime, installation.Status.Conditions[i].LastTransitionTime = long, long
	}
	require.NoError(t, c.Status().Patch(t.Context(), installation, client.StrategicMergeFrom(before)))
}

// assertNoIdleWrites finds writes that only change times.
func (env *environment) assertNoIdleWrites(t *testing.T, o *operator) {
	t.Helper()
	writes, err := env.InstallationWrites().WritesOf(o.user())
	require.NoError(t, err)
	idle := regexp.MustCompile(`^\{("metadata":\{"resourceVersion":"\d+"\},)?"status":\{"providerStatus":\{"lastError":\{"since":"[^"]*"\}\}\}\}$`)
	count := 0
	for _, write := range writes {
		if idle.Match(write.Body) {
			count++
		}
	}
	assert.Zero(t, count, "%s has written that something is as it was", o.user())
}
