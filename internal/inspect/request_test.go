package inspect

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRequestOf(t *testing.T) {
	const operation, timestamp = "gardener.cloud/operation", "gardener.cloud/timestamp"
	at := func(d time.Duration) string { return before(d).Format(time.RFC3339Nano) }
	last := func(state gardencorev1beta1.LastOperationState, d time.Duration) *gardencorev1beta1.LastOperation {
		return &gardencorev1beta1.LastOperation{State: state, LastUpdateTime: metav1.NewTime(before(d))}
	}
	const succeeded, processing = gardencorev1beta1.LastOperationStateSucceeded, gardencorev1beta1.LastOperationStateProcessing
	for sentence, test := range map[string]struct {
		annotations map[string]string
		last        *gardencorev1beta1.LastOperation
		created     time.Duration
		deleted     time.Duration
		operation   string
		unserved    bool
		message     string
	}{
		"nothing is requested": {annotations: map[string]string{timestamp: at(time.Hour)}, last: last(succeeded, time.Minute)},
		"the result of the same second": {
			annotations: map[string]string{timestamp: testNow().Add(400 * time.Millisecond).Format(time.RFC3339Nano)}, last: last(succeeded, 0),
		},
		"a new object": {created: 5 * time.Second, operation: "create", message: "no controller has reported yet"},
		"an object that no controller ever saw": {
			created: time.Hour, operation: "create", unserved: true,
			message: "no controller has picked it up; check that one for Network of type example is installed and running",
		},
		"an annotation just set": {
			annotations: map[string]string{operation: "reconcile", timestamp: at(time.Second)}, last: last(succeeded, time.Hour), operation: "reconcile",
			message: "no controller has reported yet",
		},
		"an annotation that nobody removes": {
			annotations: map[string]string{operation: "migrate", timestamp: at(3 * time.Minute)}, last: last(succeeded, time.Hour), operation: "migrate", unserved: true,
			message: "no controller has picked it up; check that one for Network of type example is installed and running",
		},
		"an annotation without a time": {
			annotations: map[string]string{operation: "restore"}, last: last(succeeded, time.Hour), operation: "restore", unserved: true,
			message: "no controller has picked it up; check that one for Network of type example is installed and running",
		},
		"a controller is busy": {
			annotations: map[string]string{operation: "reconcile", timestamp: at(3 * time.Minute)}, last: last(processing, time.Minute), operation: "reconcile",
			message: "the controller works on the operation before",
		},
		"a controller stopped in between": {
			annotations: map[string]string{timestamp: at(3 * time.Minute)}, last: last(succeeded, time.Hour), operation: "reconcile", unserved: true,
			message: "a controller has picked it up and has not reported since",
		},
		"a deletion that nobody sees": {
			last: last(succeeded, time.Hour), deleted: 2 * time.Minute, operation: "delete", unserved: true,
			message: "no controller has picked it up; check that one for Network of type example is installed and running",
		},
		"a deletion with a report": {last: last(processing, time.Second), deleted: 2 * time.Minute},
		"a state to be restored": {
			annotations: map[string]string{operation: "wait-for-state"}, operation: "wait-for-state", message: "controllers wait until gardenlet has restored the state",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			object := &extensionObject{ObjectMeta: metav1.ObjectMeta{Annotations: test.annotations, CreationTimestamp: metav1.NewTime(before(test.created))}}
			object.Kind, object.Spec.Type, object.Status.LastOperation = "Network", "example", test.last
			if test.deleted > 0 {
				object.DeletionTimestamp = new(metav1.NewTime(before(test.deleted)))
			}
			got := requestOf(object, testNow())
			if test.operation == "" {
				assert.Nil(t, got)
				return
			}
			assert.Equal(t, test.operation, got.Operation)
			assert.Equal(t, test.unserved, got.Unserved)
			assert.Equal(t, test.message, got.Message)
		})
	}
}
