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

// The reasons are those of Gardener's own library. gardenlet copies them to the Shoot's conditions.
const (
	reasonHealthy     = "HealthCheckSuccessful"
	reasonUnhealthy   = "HealthCheckUnsuccessful"
	reasonProgressing = "HealthCheckProgressing"
	reasonUnknown     = gardencorev1beta1.ConditionCheckError
)

// unknownGrace is how long checks may fail before a condition that was True becomes Unknown, which gardenlet considers as bad
// as False. gardenlet has the same threshold for most conditions.
const unknownGrace = time.Minute

var errNoFinding = errors.New("the check returned no result for it")

// conditionsAfter returns the object's conditions after a check. Those of other types stay as and where they are.
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

// conditionAfter returns the condition for a finding, without type and times. before is nil if there is none.
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

// unknownCondition returns the condition after a check that failed, without type and times.
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

// inGrace reports whether a problem is recent enough to be reported as Progressing. It is as old as the condition is
// Progressing, however many problems there were in that time; a condition that is already False or Unknown gets no grace.
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
