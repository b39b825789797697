package contract

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestFurtherIntervals(t *testing.T) {
	const one, other, foreign gardencorev1beta1.ConditionType = "One", "Other", "Foreign"
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	condition := func(kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus, age time.Duration) gardencorev1beta1.Condition {
		return gardencorev1beta1.Condition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(now.Add(-age))}
	}
	const healthy, failed, progressing = gardencorev1beta1.ConditionTrue, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ConditionProgressing
	for sentence, test := range map[string]struct {
		conditions []gardencorev1beta1.Condition
		want       time.Duration
	}{
		"none after a change":                           {[]gardencorev1beta1.Condition{condition(one, healthy, 0), condition(other, healthy, time.Hour)}, 0},
		"as many as have passed":                        {[]gardencorev1beta1.Condition{condition(one, failed, 100*time.Second), condition(other, healthy, time.Hour)}, time.Minute},
		"at most nine":                                  {[]gardencorev1beta1.Condition{condition(one, healthy, time.Hour), condition(other, failed, time.Hour)}, 270 * time.Second},
		"none while time alone decides":                 {[]gardencorev1beta1.Condition{condition(one, progressing, 4*time.Minute), condition(other, healthy, time.Hour)}, 0},
		"others' conditions do not count":               {[]gardencorev1beta1.Condition{condition(one, healthy, time.Hour), condition(other, healthy, time.Hour), condition(foreign, progressing, 0)}, 270 * time.Second},
		"at most nine, if a condition is not there yet": {nil, 270 * time.Second},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := &healthChecker[*extensionsv1alpha1.Infrastructure]{interval: 30 * time.Second, clock: clocktesting.NewFakePassiveClock(now)}
			l.health.Types = []gardencorev1beta1.ConditionType{one, other}
			assert.Equal(t, test.want, l.furtherIntervals(test.conditions))
		})
	}
}

func TestWatchFailure(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "managedresources"}, "", nil)
	clock := clocktesting.NewFakePassiveClock(time.Now())
	pass := func(duration time.Duration) { clock.SetTime(clock.Now().Add(duration)) }
	failure := &watchFailure{clock: clock}

	failure.begin(apierrors.NewTimeoutError("the connection was lost", 1))
	pass(time.Hour)
	assert.NoError(t, failure.check(), "the reflector recovers from it")

	failure.begin(forbidden)
	pass(unknownGrace)
	failure.begin(forbidden)
	assert.NoError(t, failure.check(), "memory may be outdated by so much")
	pass(time.Second)
	assert.ErrorIs(t, failure.check(), forbidden)

	failure.end()
	assert.NoError(t, failure.check())
}
