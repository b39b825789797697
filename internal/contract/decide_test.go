package contract

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

const testFinalizer = "extensions.gardener.cloud/infrastructure"

func testContract() Contract[*extensionsv1alpha1.Infrastructure] {
	return Contract[*extensionsv1alpha1.Infrastructure]{Finalizer: testFinalizer}
}

// objectState describes an Infrastructure in the few facts that decisions depend on.
type objectState struct {
	annotation    string
	requestedAt   string
	last          gardencorev1beta1.LastOperationType
	state         gardencorev1beta1.LastOperationState
	lastAt        string
	deleting      bool
	noFinalizer   bool
	savedState    bool
	newGeneration bool
	uid           string
}

func (s objectState) object(t *testing.T) *extensionsv1alpha1.Infrastructure {
	t.Helper()
	o := &extensionsv1alpha1.Infrastructure{ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{}, Generation: 1, UID: types.UID(s.uid),
	}}
	if s.annotation != "" {
		o.Annotations[v1beta1constants.GardenerOperation] = s.annotation
	}
	if s.requestedAt != "" {
		o.Annotations[v1beta1constants.GardenerTimestamp] = s.requestedAt
	}
	if !s.noFinalizer {
		o.Finalizers = []string{testFinalizer}
	}
	if s.deleting {
		o.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	}
	if s.savedState {
		o.Status.State = &runtime.RawExtension{Raw: []byte(`{}`)}
	}
	if s.newGeneration {
		o.Generation = 2
	}
	o.Status.ObservedGeneration = 1
	if s.last != "" {
		o.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: s.last, State: s.state}
	}
	if s.lastAt != "" {
		at, err := time.Parse(time.RFC3339, s.lastAt)
		assert.NoError(t, err)
		o.Status.LastOperation.LastUpdateTime = metav1.NewTime(at)
	}
	return o
}

const (
	reconcileAnnotation = "reconcile"
	succeeded           = gardencorev1beta1.LastOperationStateSucceeded
	failedOnce          = gardencorev1beta1.LastOperationStateError
	processing          = gardencorev1beta1.LastOperationStateProcessing
	opCreate            = gardencorev1beta1.LastOperationTypeCreate
	opReconcile         = gardencorev1beta1.LastOperationTypeReconcile
	opDelete            = gardencorev1beta1.LastOperationTypeDelete
	opMigrate           = gardencorev1beta1.LastOperationTypeMigrate
	opRestore           = gardencorev1beta1.LastOperationTypeRestore
)

func TestPending(t *testing.T) {
	for sentence, tc := range map[string]struct {
		objectState
		want bool
	}{
		"a new object is pending without an annotation":                         {objectState{noFinalizer: true}, true},
		"a succeeded object without an operation annotation is not pending":     {objectState{last: opReconcile, state: succeeded}, false},
		"a changed spec alone does not make it pending":                         {objectState{last: opReconcile, state: succeeded, newGeneration: true}, false},
		"the operation annotation reconcile makes it pending":                   {objectState{annotation: reconcileAnnotation, last: opReconcile, state: succeeded}, true},
		"the operation annotation restore makes it pending":                     {objectState{annotation: "restore", last: opReconcile, state: succeeded}, true},
		"the operation annotation restore makes a migrated object pending, too": {objectState{annotation: "restore", last: opMigrate, state: succeeded}, true},
		"the operation annotation migrate makes it pending":                     {objectState{annotation: "migrate", last: opReconcile, state: succeeded}, true},
		"wait-for-state keeps a new object waiting":                             {objectState{annotation: "wait-for-state", noFinalizer: true}, false},
		"wait-for-state keeps a failed object waiting":                          {objectState{annotation: "wait-for-state", last: opRestore, state: failedOnce}, false},
		"an unknown operation is ignored":                                       {objectState{annotation: "dance", last: opReconcile, state: succeeded}, false},
		"a failed operation is pending":                                         {objectState{last: opReconcile, state: failedOnce}, true},
		"an interrupted operation is pending":                                   {objectState{last: opCreate, state: processing}, true},
		"a migrated object is skipped":                                          {objectState{last: opMigrate, state: succeeded}, false},
		"a migrated object is skipped even with the annotation reconcile":       {objectState{annotation: reconcileAnnotation, last: opMigrate, state: succeeded}, false},
		"a failed migration is pending without its annotation":                  {objectState{last: opMigrate, state: failedOnce}, true},
		"deletion is pending with the finalizer":                                {objectState{deleting: true, last: opReconcile, state: succeeded}, true},
		"deletion wins over wait-for-state":                                     {objectState{deleting: true, annotation: "wait-for-state"}, true},
		"deletion without the finalizer is skipped":                             {objectState{deleting: true, noFinalizer: true}, false},
		"a deletion that succeeded is pending until the finalizer is gone":      {objectState{deleting: true, last: opDelete, state: succeeded}, true},
		"a timestamp of a later second than the last operation is a request":    {objectState{last: opReconcile, state: succeeded, lastAt: "2026-01-01T10:00:00Z", requestedAt: "2026-01-01T10:00:01.2Z"}, true},
		"a timestamp within the second of the last operation is fulfilled":      {objectState{last: opReconcile, state: succeeded, lastAt: "2026-01-01T10:00:01Z", requestedAt: "2026-01-01T10:00:01.9Z"}, false},
		"a timestamp before the last operation is fulfilled":                    {objectState{last: opReconcile, state: succeeded, lastAt: "2026-01-01T10:00:05Z", requestedAt: "2026-01-01T10:00:01Z"}, false},
		"a timestamp that is invalid is ignored":                                {objectState{last: opReconcile, state: succeeded, lastAt: "2026-01-01T10:00:05Z", requestedAt: "yesterday"}, false},
		"a later timestamp does not enqueue a migrated object":                  {objectState{last: opMigrate, state: succeeded, lastAt: "2026-01-01T10:00:00Z", requestedAt: "2026-01-01T11:00:00Z"}, false},
		"a later timestamp does not enqueue an object that waits for its state": {objectState{annotation: "wait-for-state", last: opReconcile, state: succeeded, lastAt: "2026-01-01T10:00:00Z", requestedAt: "2026-01-01T11:00:00Z"}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, tc.want, Pending(tc.object(t), testFinalizer, false))
		})
	}
	t.Run("a changed spec makes it pending when the operation annotation is ignored", func(t *testing.T) {
		changed := objectState{last: opReconcile, state: succeeded, newGeneration: true}
		assert.True(t, Pending(changed.object(t), testFinalizer, true))
	})
}

func TestDecide(t *testing.T) {
	shoot := func(change func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
		s := &gardencorev1beta1.Shoot{}
		change(s)
		return s
	}
	healthy := shoot(func(*gardencorev1beta1.Shoot) {})
	failed := shoot(func(s *gardencorev1beta1.Shoot) {
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateFailed}
	})
	forced := shoot(func(s *gardencorev1beta1.Shoot) {
		s.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	})
	for sentence, tc := range map[string]struct {
		objectState
		shoot     *gardencorev1beta1.Shoot
		action    action
		operation gardencorev1beta1.LastOperationType
	}{
		"a new object is created":                                               {objectState{}, healthy, actionReconcile, opCreate},
		"a failed creation is still a creation":                                 {objectState{last: opCreate, state: failedOnce}, healthy, actionReconcile, opCreate},
		"a created object is reconciled":                                        {objectState{annotation: reconcileAnnotation, last: opCreate, state: succeeded}, healthy, actionReconcile, opReconcile},
		"a restore is a reconcile under its own name":                           {objectState{annotation: "restore", savedState: true}, healthy, actionReconcile, opRestore},
		"a failed restore is resumed as a restore":                              {objectState{last: opRestore, state: failedOnce}, healthy, actionReconcile, opRestore},
		"the annotation migrate migrates":                                       {objectState{annotation: "migrate", last: opReconcile, state: succeeded}, healthy, actionMigrate, opMigrate},
		"the annotation migrate wins over deletion":                             {objectState{annotation: "migrate", deleting: true}, healthy, actionMigrate, opMigrate},
		"deletion deletes":                                                      {objectState{deleting: true, last: opReconcile, state: succeeded}, healthy, actionDelete, opDelete},
		"deletion of a shoot that is to be force-deleted is forced":             {objectState{deleting: true, last: opReconcile, state: succeeded}, forced, actionForceDelete, opDelete},
		"a shoot that is to be force-deleted is reconciled until it is deleted": {objectState{annotation: reconcileAnnotation, last: opReconcile, state: succeeded}, forced, actionReconcile, opReconcile},
		"an object of a failed shoot is skipped":                                {objectState{annotation: reconcileAnnotation, last: opReconcile, state: succeeded}, failed, actionNone, ""},
		"deletion in a failed shoot is skipped":                                 {objectState{deleting: true, last: opReconcile, state: succeeded}, failed, actionNone, ""},
		"deletion of a migrated object only removes the finalizer":              {objectState{deleting: true, last: opMigrate, state: succeeded}, healthy, actionMigrate, opMigrate},
		"a Cluster without a shoot is no obstacle":                              {objectState{annotation: reconcileAnnotation, last: opReconcile, state: succeeded}, nil, actionReconcile, opReconcile},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := decide(tc.object(t), tc.shoot)
			assert.Equal(t, tc.action, got.action)
			assert.Equal(t, tc.operation, got.operation)
			assert.Equal(t, tc.action == actionNone, got.reason != "", "a reason is given exactly when nothing is done")
		})
	}
}

func TestFirstAttempt(t *testing.T) {
	shootIn := func(operation gardencorev1beta1.LastOperationType) *gardencorev1beta1.Shoot {
		return &gardencorev1beta1.Shoot{Status: gardencorev1beta1.ShootStatus{LastOperation: &gardencorev1beta1.LastOperation{Type: operation}}}
	}
	for sentence, tc := range map[string]struct {
		objectState
		operation gardencorev1beta1.LastOperationType
		shoot     *gardencorev1beta1.Shoot
		want      bool
	}{
		"a new object of a new shoot":                               {objectState{}, opCreate, shootIn(opCreate), true},
		"a new object of an existing shoot":                         {objectState{}, opCreate, shootIn(opReconcile), false},
		"a new object of a shoot without a last operation":          {objectState{}, opCreate, &gardencorev1beta1.Shoot{}, false},
		"a new object without a shoot":                              {objectState{}, opCreate, nil, false},
		"a restored object, even when its state was lost":           {objectState{}, opRestore, shootIn(opCreate), false},
		"an object whose reconciliation was interrupted":            {objectState{last: opCreate, state: processing}, opCreate, shootIn(opCreate), false},
		"an object without a last operation but with a saved state": {objectState{savedState: true}, opCreate, shootIn(opCreate), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, tc.want, firstAttempt(tc.object(t), tc.operation, tc.shoot))
		})
	}
}

func TestOperationPredicate(t *testing.T) {
	idle := objectState{last: opReconcile, state: succeeded, lastAt: "2026-01-01T10:00:00Z", requestedAt: "2026-01-01T09:00:00Z"}
	with := func(change func(*objectState)) objectState {
		changed := idle
		change(&changed)
		return changed
	}
	for sentence, tc := range map[string]struct {
		before, after objectState
		want          bool
	}{
		"a new operation annotation is enqueued":                                                            {idle, with(func(s *objectState) { s.annotation = reconcileAnnotation }), true},
		"the controller's own failed status enqueues nothing":                                               {idle, with(func(s *objectState) { s.state = failedOnce }), false},
		"the controller's own progress enqueues nothing":                                                    {idle, with(func(s *objectState) { s.state = processing }), false},
		"an unchanged operation annotation enqueues nothing":                                                {with(func(s *objectState) { s.annotation = reconcileAnnotation }), with(func(s *objectState) { s.annotation = reconcileAnnotation; s.state = failedOnce }), false},
		"the same operation annotation with a new timestamp is enqueued":                                    {with(func(s *objectState) { s.annotation = reconcileAnnotation }), with(func(s *objectState) { s.annotation = reconcileAnnotation; s.requestedAt = "2026-01-01T11:00:00Z" }), true},
		"a timestamp without an operation annotation, as with a confirmation of deletion, enqueues nothing": {idle, with(func(s *objectState) { s.requestedAt = "2026-01-01T11:00:00Z" }), false},
		"a removed operation annotation enqueues nothing":                                                   {with(func(s *objectState) { s.annotation = reconcileAnnotation }), idle, false},
		"wait-for-state that turns into restore is enqueued":                                                {with(func(s *objectState) { s.annotation = "wait-for-state" }), with(func(s *objectState) { s.annotation = "restore" }), true},
		"the beginning of a deletion is enqueued":                                                           {idle, with(func(s *objectState) { s.deleting = true }), true},
		"a status written during deletion enqueues nothing":                                                 {with(func(s *objectState) { s.deleting = true }), with(func(s *objectState) { s.deleting = true; s.state = failedOnce }), false},
		"a deletion that is requested again is enqueued":                                                    {with(func(s *objectState) { s.deleting = true }), with(func(s *objectState) { s.deleting = true; s.requestedAt = "2026-01-01T11:00:00Z" }), true},
		"another object with the same name is enqueued":                                                     {idle, with(func(s *objectState) { s.state = failedOnce; s.uid = "other" }), true},
		"a changed spec enqueues nothing":                                                                   {idle, with(func(s *objectState) { s.newGeneration = true }), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := operationPredicate(testContract(), false).Update(event.UpdateEvent{ObjectOld: tc.before.object(t), ObjectNew: tc.after.object(t)})
			assert.Equal(t, tc.want, got)
		})
	}
	t.Run("a changed spec is enqueued when the operation annotation is ignored", func(t *testing.T) {
		changed := with(func(s *objectState) { s.newGeneration = true })
		assert.True(t, operationPredicate(testContract(), true).Update(event.UpdateEvent{ObjectOld: idle.object(t), ObjectNew: changed.object(t)}))
	})
	t.Run("after a start only what is pending is enqueued", func(t *testing.T) {
		unfinished := with(func(s *objectState) { s.state = failedOnce })
		assert.False(t, operationPredicate(testContract(), false).Create(event.CreateEvent{Object: idle.object(t)}))
		assert.True(t, operationPredicate(testContract(), false).Create(event.CreateEvent{Object: unfinished.object(t)}))
	})
}
