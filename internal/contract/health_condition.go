package contract

import (
	"cmp"
	"errors"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// The reasons are those of Gardener's own library, which gardenlet makes reasons of the Shoot's conditions of.
const (
	reasonHealthy     = "HealthCheckSuccessful"
	reasonUnhealthy   = "HealthCheckUnsuccessful"
	reasonProgressing = "HealthCheckProgressing"
	reasonUnknown     = gardencorev1beta1.ConditionCheckError
)

// unknownGrace is how long looks may fail before a condition that was True becomes Unknown, which gardenlet takes for as bad
// as False. It is what gardenlet itself grants to most conditions.
const unknownGrace = time.Minute

var errNoFinding = errors.New("nothing was found out about it")

// conditionsAfter returns the object's conditions after a look. Those of foreign types stay as and where they are.
func (h Health[O]) conditionsAfter(
	known []gardencorev1beta1.Condition, findings Findings, failure error, now time.Time,
) []gardencorev1beta1.Condition {
	if failure == nil {
		failure = errNoFinding
	}
	next := v1beta1helper.RemoveConditions(known, h.Retired...)
	for _, conditionType := range h.Types {
		before := v1beta1helper.GetCondition(known, conditionType)
		var after gardencorev1beta1.Condition
		if finding, found := findings[conditionType]; found {
			after = finding.conditionAfter(before, now)
		} else {
			after = unknownCondition(before, failure, now)
		}
		after.Type = conditionType
		next = v1beta1helper.MergeConditions(next, timed(before, after, now))
	}
	return next
}

// conditionAfter returns what the finding makes of a condition, without type and times. before is nil when there is none.
func (f Finding) conditionAfter(before *gardencorev1beta1.Condition, now time.Time) gardencorev1beta1.Condition {
	if f.Healthy {
		return gardencorev1beta1.Condition{
			Status: gardencorev1beta1.ConditionTrue, Reason: reasonHealthy,
			Message: truncate.Text(cmp.Or(f.Message, "All health checks were successful."), truncate.MaxStatus),
		}
	}
	after := gardencorev1beta1.Condition{
		Status: gardencorev1beta1.ConditionFalse, Reason: reasonUnhealthy,
		Message: truncate.Text(cmp.Or(f.Message, "A health check failed."), truncate.MaxStatus), Codes: f.Codes,
	}
	if inGrace(before, f.Grace, now) {
		after.Status, after.Reason = gardencorev1beta1.ConditionProgressing, reasonProgressing
	}
	return after
}

// unknownCondition returns what becomes of a condition when nobody can tell, without type and times.
func unknownCondition(before *gardencorev1beta1.Condition, failure error, now time.Time) gardencorev1beta1.Condition {
	after := gardencorev1beta1.Condition{
		Status: gardencorev1beta1.ConditionUnknown, Reason: reasonUnknown,
		Message: truncate.Text("The health could not be checked: "+failure.Error(), truncate.MaxStatus), Codes: Codes(failure),
	}
	if inGrace(before, unknownGrace, now) {
		after.Status = gardencorev1beta1.ConditionProgressing
	}
	return after
}

// inGrace reports whether trouble is young enough to be called Progressing. It is as old as the condition is Progressing,
// however many kinds of trouble there were in that time; a condition that is False or Unknown already gets no second grace.
func inGrace(before *gardencorev1beta1.Condition, grace time.Duration, now time.Time) bool {
	switch {
	case grace <= 0:
		return false
	case before == nil || before.Status == gardencorev1beta1.ConditionTrue:
		return true
	default:
		return before.Status == gardencorev1beta1.ConditionProgressing && now.Sub(before.LastTransitionTime.Time) <= grace
	}
}

// timed gives a condition its times by Gardener's rules: the transition is the last change of the status, the update the
// last change of anything. What has not changed keeps both, so that it need not be written.
func timed(before *gardencorev1beta1.Condition, after gardencorev1beta1.Condition, now time.Time) gardencorev1beta1.Condition {
	after.LastTransitionTime, after.LastUpdateTime = metav1.NewTime(now), metav1.NewTime(now)
	if before == nil || before.Status != after.Status {
		return after
	}
	after.LastTransitionTime = before.LastTransitionTime
	if before.Reason == after.Reason && before.Message == after.Message && equality.Semantic.DeepEqual(before.Codes, after.Codes) {
		after.LastUpdateTime = before.LastUpdateTime
	}
	return after
}
