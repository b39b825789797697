package observer

import (
	"errors"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	inSync gardencorev1beta1.ConditionType = "InSync"
	enough gardencorev1beta1.ConditionType = "Enough"
)

func observations() []Observation {
	return []Observation{{Name: "drift", Condition: inSync}, {Name: "quota", Condition: enough}}
}

func at(clock string) time.Time {
	t, err := time.Parse(time.TimeOnly, clock)
	if err != nil {
		panic(err)
	}
	return t.AddDate(2026, 0, 0).UTC()
}

func conditionAt(conditionType gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus, reason, message string, transition, update time.Time) gardencorev1beta1.Condition {
	return gardencorev1beta1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(transition), LastUpdateTime: metav1.NewTime(update),
	}
}

func TestConditionsAfter(t *testing.T) {
	now := at("12:00:00")
	asOf := at("11:59:00")
	primary := conditionAt("ControlPlaneHealthy", gardencorev1beta1.ConditionTrue, "HealthCheckSuccessful", "All is well.", at("01:00:00"), at("01:00:00"))
	drifted := conditionAt(inSync, gardencorev1beta1.ConditionFalse, reasonUnhealthy, "As of 2026-01-01T11:40:00Z: the MTU differs", at("09:00:00"), at("11:40:00"))
	healthy := outcome{finding: &Finding{Healthy: true, Message: "nothing differs"}}
	unhealthy := outcome{finding: &Finding{Message: "the MTU differs"}}
	asOfText := "As of " + asOf.Format(time.RFC3339) + ": "
	for sentence, test := range map[string]struct {
		known    []gardencorev1beta1.Condition
		outcomes map[string]outcome
		want     []gardencorev1beta1.Condition
	}{
		"writes the first findings": {
			outcomes: map[string]outcome{"drift": healthy, "quota": unhealthy},
			want: []gardencorev1beta1.Condition{
				conditionAt(inSync, gardencorev1beta1.ConditionTrue, reasonHealthy, asOfText+"nothing differs", now, now),
				conditionAt(enough, gardencorev1beta1.ConditionFalse, reasonUnhealthy, asOfText+"the MTU differs", now, now),
			},
		},
		"leaves conditions of others": {
			known:    []gardencorev1beta1.Condition{primary},
			outcomes: map[string]outcome{"drift": {}, "quota": {}},
			want:     []gardencorev1beta1.Condition{primary},
		},
		"changes nothing when only the time of the reads is another one": {
			known:    []gardencorev1beta1.Condition{drifted, primary},
			outcomes: map[string]outcome{"drift": unhealthy, "quota": {}},
			want:     []gardencorev1beta1.Condition{drifted, primary},
		},
		"removes the condition of an observation that is switched off": {
			known:    []gardencorev1beta1.Condition{primary, drifted},
			outcomes: map[string]outcome{"quota": {}},
			want:     []gardencorev1beta1.Condition{primary},
		},
		"removes the condition of an observation that does not apply": {
			known:    []gardencorev1beta1.Condition{drifted},
			outcomes: map[string]outcome{"drift": {doesNotApply: true}, "quota": {}},
			want:     nil,
		},
		"keeps a condition after a failure that is not reported yet": {
			known:    []gardencorev1beta1.Condition{drifted},
			outcomes: map[string]outcome{"drift": {}, "quota": {}},
			want:     []gardencorev1beta1.Condition{drifted},
		},
		"reports a failure": {
			known:    []gardencorev1beta1.Condition{drifted},
			outcomes: map[string]outcome{"drift": {failure: errors.New("the cloud is unavailable")}, "quota": {}},
			want: []gardencorev1beta1.Condition{conditionAt(inSync, gardencorev1beta1.ConditionUnknown, reasonFailed,
				asOfText+"It cannot be observed: the cloud is unavailable", now, now)},
		},
		"keeps the transition when only the message changes": {
			known:    []gardencorev1beta1.Condition{drifted},
			outcomes: map[string]outcome{"drift": {finding: &Finding{Message: "the name differs"}}, "quota": {}},
			want:     []gardencorev1beta1.Condition{conditionAt(inSync, gardencorev1beta1.ConditionFalse, reasonUnhealthy, asOfText+"the name differs", at("09:00:00"), now)},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := conditionsAfter(test.known, observations(), test.outcomes, asOf, now)
			assert.Empty(t, cmp.Diff(test.want, got, cmp.Transformer("empty", func(in []gardencorev1beta1.Condition) []gardencorev1beta1.Condition {
				return append([]gardencorev1beta1.Condition{}, in...)
			})))
		})
	}
}

func TestConditionsAfter_RenewsTime(t *testing.T) {
	outcomes := map[string]outcome{"drift": {finding: &Finding{Healthy: true}}, "quota": {}}
	start := at("08:00:00")
	conditions := conditionsAfter(nil, observations(), outcomes, start, start)
	writes := 0
	for minutes := 10; minutes <= 24*60; minutes += 10 {
		now := start.Add(time.Duration(minutes) * time.Minute)
		next := conditionsAfter(conditions, observations(), outcomes, now, now)
		if cmp.Diff(conditions, next) != "" {
			writes++
		}
		conditions = next
		written, err := time.Parse(time.RFC3339, v1beta1helper.GetCondition(conditions, inSync).Message[len(asOfPrefix):len(asOfPrefix)+20])
		require.NoError(t, err)
		require.LessOrEqual(t, now.Sub(written), asOfInterval)
	}
	assert.Equal(t, 24, writes, "one write in an hour")
	assert.Equal(t, start, v1beta1helper.GetCondition(conditions, inSync).LastTransitionTime.UTC())
}
