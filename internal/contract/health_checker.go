package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/internal/queue"
)

// conflictPause is the delay before the next check of an object that changed during a check.
const conflictPause = 200 * time.Millisecond

// checkTimeout bounds one check, which makes a few requests to the API server.
const checkTimeout = 15 * time.Second

// healthChecker checks the objects of one contract, each by one check at a time.
type healthChecker[O Object] struct {
	health   Health[O]
	clock    clock.PassiveClock
	interval time.Duration
	// objects is the cache that the controller's events come from. The cache and the events agree, so that an object that a
	// check skips is certain to get another event.
	objects client.Reader
	watched client.Reader
	reader  client.Reader
	client  client.Client
}

// maxIntervals is the longest time between two checks, in intervals. What an unchanged object is still checked for depends on the time only, or on
// objects that are not watched.
const maxIntervals = 10

// Reconcile checks the object once, and again after a while.
func (l *healthChecker[O]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	log := logf.FromContext(ctx)
	object := l.health.New()
	if err := l.objects.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !isProvisioned(object) {
		log.V(1).Info("Skipping the health check while an operation is pending")
		return reconcile.Result{}, nil
	}
	findings, failure := l.check(ctx, object)
	if interrupted(ctx) {
		return reconcile.Result{}, nil
	}
	conditions, err := l.write(ctx, object, findings, failure)
	switch {
	case apierrors.IsConflict(err):
		log.V(1).Info("The object changed during its health check, requeueing")
		return reconcile.Result{RequeueAfter: min(conflictPause, l.interval)}, nil
	case client.IgnoreNotFound(err) != nil:
		return reconcile.Result{}, err
	}
	pause := queue.AfterTurn(object.GetUID(), l.clock.Now(), l.interval)
	if failure == nil {
		pause += l.furtherIntervals(conditions)
	}
	return reconcile.Result{RequeueAfter: pause}, nil
}

// furtherIntervals grow with the time for which no condition has changed its status. A condition that is Progressing becomes False by time alone.
func (l *healthChecker[O]) furtherIntervals(conditions []gardencorev1beta1.Condition) time.Duration {
	unchanged := (maxIntervals - 1) * l.interval
	for _, conditionType := range l.health.Types {
		condition := v1beta1helper.GetCondition(conditions, conditionType)
		if condition == nil {
			continue
		}
		if condition.Status == gardencorev1beta1.ConditionProgressing {
			return 0
		}
		unchanged = min(unchanged, l.clock.Since(condition.LastTransitionTime.Time)-l.interval)
	}
	return max(unchanged, 0).Truncate(l.interval)
}

// check calls the Check with a deadline and recovers its panics.
func (l *healthChecker[O]) check(ctx context.Context, object O) (findings Findings, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	defer func() {
		if recovered := recover(); recovered != nil {
			contained := &panicError{value: recovered, stack: debug.Stack()}
			logf.FromContext(ctx).Error(contained, "Panic contained", "stack", string(contained.stack))
			findings, err = nil, contained
		}
	}()
	return l.health.Check(ctx, CheckInput[O]{Object: clone(object), Watched: l.watched, Reader: l.reader, Now: l.clock.Now()})
}

// write patches the object's conditions if anything has changed, and returns them. For the API server, the list of conditions is one value, parts of which
// others write: it is written only over the version of the object that was checked. That also
// prevents a slow check from changing an object that was deleted or migrated meanwhile.
func (l *healthChecker[O]) write(ctx context.Context, object O, findings Findings, failure error) ([]gardencorev1beta1.Condition, error) {
	known := object.GetExtensionStatus().GetConditions()
	next := l.health.conditionsAfter(known, findings, failure, l.clock.Now())
	log := logf.FromContext(ctx)
	if equality.Semantic.DeepEqual(known, next) {
		log.V(1).Info("Health unchanged")
		return next, nil
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := PatchConditions(ctx, l.client, object, next); err != nil {
		return nil, err
	}
	for _, condition := range next {
		before := v1beta1helper.GetCondition(known, condition.Type)
		if before == nil || before.Status != condition.Status {
			log.Info("Health changed", "condition", condition.Type, "status", condition.Status, "message", condition.Message)
		}
	}
	return next, nil
}

// PatchConditions replaces all conditions of one version of an object. It fails with a conflict if the API server has another version.
func PatchConditions(ctx context.Context, c client.Client, object Object, conditions []gardencorev1beta1.Condition) error {
	kind, err := c.GroupVersionKindFor(object)
	if err != nil {
		return fmt.Errorf("finding the kind of %T: %w", object, err)
	}
	if len(conditions) == 0 {
		conditions = nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]string{"resourceVersion": object.GetResourceVersion()},
		"status":   map[string]any{"conditions": conditions},
	})
	if err != nil {
		return fmt.Errorf("computing the patch of conditions: %w", err)
	}
	if err := c.Status().Patch(ctx, metadataOf(kind, object), client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("writing conditions: %w", err)
	}
	return nil
}

// eventHandler starts the checks of an object when it is first seen, when it becomes one that is to be checked, and after each operation. From
// then on each check schedules the next one.
func (l *healthChecker[O]) eventHandler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if provisioned(e.Object) {
				q.AddAfter(requestFor(e.Object), queue.UntilTurn(e.Object.GetUID(), l.clock.Now(), l.interval))
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			isReplaced := e.ObjectOld.GetUID() != e.ObjectNew.GetUID()
			switch {
			case !provisioned(e.ObjectNew):
			case isReplaced || !provisioned(e.ObjectOld):
				q.Add(requestFor(e.ObjectNew))
			case resultsDiffer(e.ObjectOld, e.ObjectNew, l.health.Types):
				q.AddAfter(requestFor(e.ObjectNew), min(changePause, l.interval))
			}
		},
	}
}

// resultsDiffer reports whether an operation has begun or ended, whether something has changed in the status that a check may read, or a condition that
// it writes.
func resultsDiffer(before, after client.Object, types []gardencorev1beta1.ConditionType) bool {
	oldObject, isOld := before.(Object)
	newObject, isNew := after.(Object)
	if !isOld || !isNew {
		return false
	}
	oldStatus, newStatus := oldObject.GetExtensionStatus(), newObject.GetExtensionStatus()
	return operationsDiffer(oldStatus.GetLastOperation(), newStatus.GetLastOperation()) ||
		!equality.Semantic.DeepEqual(oldStatus.GetLastError(), newStatus.GetLastError()) ||
		!equality.Semantic.DeepEqual(oldStatus.GetProviderStatus(), newStatus.GetProviderStatus()) ||
		!equality.Semantic.DeepEqual(oldStatus.GetState(), newStatus.GetState()) ||
		slices.ContainsFunc(types, func(conditionType gardencorev1beta1.ConditionType) bool {
			return !equality.Semantic.DeepEqual(
				v1beta1helper.GetCondition(oldStatus.GetConditions(), conditionType), v1beta1helper.GetCondition(newStatus.GetConditions(), conditionType))
		})
}

// operationsDiffer ignores the progress of an operation. One that has changed nothing is known by its time.
func operationsDiffer(before, after *gardencorev1beta1.LastOperation) bool {
	if before == nil || after == nil {
		return before != after
	}
	return before.State != after.State || after.State != gardencorev1beta1.LastOperationStateProcessing && !before.LastUpdateTime.Equal(&after.LastUpdateTime)
}

func requestFor(object client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}
}

func provisioned(object client.Object) bool {
	extension, ok := object.(Object)
	return ok && isProvisioned(extension)
}

// isProvisioned reports whether the object was reconciled on this seed and is not being deleted or migrated. Its health does
// not matter before, since gardenlet waits for it anyway, nor after.
func isProvisioned(object Object) bool {
	switch object.GetAnnotations()[v1beta1constants.GardenerOperation] {
	case v1beta1constants.GardenerOperationMigrate, v1beta1constants.GardenerOperationWaitForState, v1beta1constants.GardenerOperationRestore:
		return false
	}
	lastOperation := object.GetExtensionStatus().GetLastOperation()
	if lastOperation == nil || !object.GetDeletionTimestamp().IsZero() {
		return false
	}
	switch lastOperation.Type {
	case gardencorev1beta1.LastOperationTypeCreate, gardencorev1beta1.LastOperationTypeRestore:
		return lastOperation.State == gardencorev1beta1.LastOperationStateSucceeded
	case gardencorev1beta1.LastOperationTypeReconcile:
		return true
	default:
		return false
	}
}
