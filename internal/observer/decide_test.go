package observer

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func operation(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) *gardencorev1beta1.LastOperation {
	return &gardencorev1beta1.LastOperation{Type: kind, State: state, LastUpdateTime: metav1.NewTime(at("10:00:00"))}
}

func TestWhyNotObservable(t *testing.T) {
	const (
		reconcile = gardencorev1beta1.LastOperationTypeReconcile
		succeeded = gardencorev1beta1.LastOperationStateSucceeded
	)
	for sentence, test := range map[string]struct {
		change func(*extensionsv1alpha1.Infrastructure)
		want   string
	}{
		"observes what is reconciled": {func(*extensionsv1alpha1.Infrastructure) {}, ""},
		"is quiet before the first":   {func(o *extensionsv1alpha1.Infrastructure) { o.Status.LastOperation = nil }, "the object was never reconciled"},
		"is quiet while one is wanted": {func(o *extensionsv1alpha1.Infrastructure) {
			o.Annotations = map[string]string{v1beta1constants.GardenerOperation: "reconcile"}
		}, "an operation is requested"},
		"is quiet while one runs": {func(o *extensionsv1alpha1.Infrastructure) {
			o.Status.LastOperation = operation(reconcile, gardencorev1beta1.LastOperationStateProcessing)
		}, "the primary controller works on the object"},
		"is quiet while one is retried": {func(o *extensionsv1alpha1.Infrastructure) {
			o.Status.LastOperation = operation(reconcile, gardencorev1beta1.LastOperationStateError)
		}, "the primary controller works on the object"},
		"is quiet after a migration": {func(o *extensionsv1alpha1.Infrastructure) {
			o.Status.LastOperation = operation(gardencorev1beta1.LastOperationTypeMigrate, succeeded)
		}, "the object is being migrated or deleted"},
		"is quiet during a deletion": {func(o *extensionsv1alpha1.Infrastructure) { o.DeletionTimestamp = &metav1.Time{Time: at("11:00:00")} }, "the object is being deleted"},
	} {
		t.Run(sentence, func(t *testing.T) {
			object := &extensionsv1alpha1.Infrastructure{}
			object.Status.LastOperation = operation(reconcile, succeeded)
			test.change(object)
			assert.Equal(t, test.want, whyNotObservable(object))
		})
	}
}

func TestWhyShootNotObserved(t *testing.T) {
	for sentence, test := range map[string]struct {
		shoot *gardencorev1beta1.Shoot
		want  string
	}{
		"observes a shoot":         {&gardencorev1beta1.Shoot{}, ""},
		"needs a shoot":            {nil, "the Cluster resource lacks the shoot"},
		"is quiet in hibernation":  {&gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{Hibernation: &gardencorev1beta1.Hibernation{Enabled: new(true)}}}, "the shoot is hibernated"},
		"is quiet until it is up":  {&gardencorev1beta1.Shoot{Status: gardencorev1beta1.ShootStatus{IsHibernated: true}}, "the shoot is hibernated"},
		"is quiet after a failure": {&gardencorev1beta1.Shoot{Status: gardencorev1beta1.ShootStatus{LastOperation: operation(gardencorev1beta1.LastOperationTypeReconcile, gardencorev1beta1.LastOperationStateFailed)}}, "the shoot has failed"},
		"is quiet in a migration":  {&gardencorev1beta1.Shoot{Status: gardencorev1beta1.ShootStatus{LastOperation: operation(gardencorev1beta1.LastOperationTypeMigrate, gardencorev1beta1.LastOperationStateProcessing)}}, "the shoot is being migrated"},
		"is quiet in a deletion":   {&gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: at("11:00:00")}}}, "the shoot is being deleted"},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, whyShootNotObserved(test.shoot)) })
	}
}

func TestLastSuccess_NotBeforeSuccess(t *testing.T) {
	object := &extensionsv1alpha1.Infrastructure{}
	assert.Zero(t, lastSuccess(object))
	object.Status.LastOperation = operation(gardencorev1beta1.LastOperationTypeReconcile, gardencorev1beta1.LastOperationStateSucceeded)
	assert.Equal(t, at("10:00:00").Add(time.Second), lastSuccess(object), "10:00:00.9 is written as 10:00:00")
}
