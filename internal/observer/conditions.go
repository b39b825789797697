package observer

import (
	"cmp"
	"strings"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// Reasons of conditions.
const (
	reasonHealthy   = "ObservationHealthy"
	reasonUnhealthy = "ObservationUnhealthy"
	reasonFailed    = "ObservationFailed"
)

// asOfInterval is how old the time in an unchanged message may become before it is written again.
const asOfInterval = time.Hour

const asOfPrefix = "As of "

// outcome is what is known of one observation of an object after an attempt: a finding, or an error that has happened often enough to be reported. Both nil
// means that the condition stays.
type outcome struct {
	finding *Finding
	failure error
	// doesNotApply means that the object has no such condition.
	doesNotApply bool
}

// conditionsAfter returns the conditions of an object. Those of types that are not in observations stay as and where they are; those of observations without
// an outcome are removed.
func conditionsAfter(
	known []gardencorev1beta1.Condition, observations []Observation, outcomes map[string]outcome, asOf, now time.Time,
) []gardencorev1beta1.Condition {
	next := known
	for _, observation := range observations {
		before := v1beta1helper.GetCondition(known, observation.Condition)
		o, wanted := outcomes[observation.Name]
		switch {
		case !wanted || o.doesNotApply:
			next = v1beta1helper.RemoveConditions(next, observation.Condition)
		case o.finding != nil || o.failure != nil:
			after := o.condition(asOf)
			after.Type = observation.Condition
			next = v1beta1helper.MergeConditions(next, timed(before, after, now))
		}
	}
	return next
}

// condition returns the condition without type and times.
func (o outcome) condition(asOf time.Time) gardencorev1beta1.Condition {
	after := gardencorev1beta1.Condition{Status: gardencorev1beta1.ConditionUnknown, Reason: reasonFailed}
	var message string
	switch {
	case o.failure != nil:
		message = "It cannot be observed: " + o.failure.Error()
	case o.finding.Healthy:
		after.Status, after.Reason = gardencorev1beta1.ConditionTrue, reasonHealthy
		message = cmp.Or(o.finding.Message, "Everything is as it should be.")
	default:
		after.Status, after.Reason = gardencorev1beta1.ConditionFalse, reasonUnhealthy
		message = cmp.Or(o.finding.Message, "Something is not as it should be.")
	}
	after.Message = truncate.Text(asOfPrefix+asOf.UTC().Format(time.RFC3339)+": "+message, truncate.MaxStatus)
	return after
}

// timed gives a condition its times by Gardener's rules: the transition is the last change of the status, the update the last change of anything. A
// condition that differs in the time of its message only is not changed until that time is old.
func timed(before *gardencorev1beta1.Condition, after gardencorev1beta1.Condition, now time.Time) gardencorev1beta1.Condition {
	after.LastTransitionTime, after.LastUpdateTime = metav1.NewTime(now), metav1.NewTime(now)
	if before == nil || before.Status != after.Status {
		return after
	}
	after.LastTransitionTime = before.LastTransitionTime
	if before.Reason == after.Reason && withoutAsOf(before.Message) == withoutAsOf(after.Message) && now.Sub(before.LastUpdateTime.Time) < asOfInterval {
		return *before
	}
	return after
}

// withoutAsOf returns a message without the time that it begins with.
func withoutAsOf(message string) string {
	rest, found := strings.CutPrefix(message, asOfPrefix)
	if !found {
		return message
	}
	_, text, _ := strings.Cut(rest, ": ")
	return text
}
