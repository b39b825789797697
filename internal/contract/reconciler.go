package contract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/internal/cloud"
)

const (
	// prepareTimeout bounds what happens before the Actuator is called: a few requests to the API server.
	prepareTimeout = 30 * time.Second
	// writeTimeout bounds one status write.
	writeTimeout = 5 * time.Second
	// concludeTimeout bounds the writes after a reconciliation. They continue during the shutdown, and are shorter, together
	// with a running status write, than its grace period.
	concludeTimeout = 15 * time.Second
)

// reconciler reconciles the objects of one contract.
type reconciler[O Object] struct {
	contract    Contract[O]
	kind        schema.GroupVersionKind
	options     Options
	client      client.Client
	reader      client.Reader
	events      events.EventRecorder
	metrics     *metrics
	rateLimiter *rateLimiter
	tracker     *controllerTracker
}

// Reconcile reconciles the object if it is pending or its follow-up is due.
func (r *reconciler[O]) Reconcile(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
	r.tracker.begin(request)
	defer func() { r.tracker.end(request, result, err) }()
	run, requeueAfter, err := r.prepare(ctx, request)
	switch {
	case errors.Is(err, errOperationChanged) || apierrors.IsConflict(err):
		logf.FromContext(ctx).V(1).Info("The object changed while its operation was being accepted, requeueing")
		return reconcile.Result{RequeueAfter: r.options.Retry.Base}, nil
	case err != nil:
		return reconcile.Result{}, err
	case run == nil:
		return reconcile.Result{RequeueAfter: requeueAfter}, nil
	}
	r.tracker.accepted(request, run.decision.operation, run.recorder.activity)
	switch err := run.execute(ctx); {
	case errors.Is(err, ErrSuperseded):
		return reconcile.Result{RequeueAfter: r.options.Retry.Base}, nil
	case err != nil:
		r.rateLimiter.setMinDelay(request, retryAfter(err))
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: r.contract.FollowUp.checkInterval(run.writer.known)}, nil
}

// prepare reads the object, decides, and accepts the operation. It returns no run if there is nothing to do, or not yet: then
// it returns after what time to check again.
func (r *reconciler[O]) prepare(ctx context.Context, request reconcile.Request) (*run[O], time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	log := logf.FromContext(ctx)
	object := r.contract.New()
	if err := r.reader.Get(ctx, request.NamespacedName, object); err != nil {
		return nil, 0, client.IgnoreNotFound(err)
	}
	if pending, requeueAfter, err := r.pending(ctx, object); !pending || err != nil {
		log.V(1).Info("Nothing to reconcile")
		return nil, requeueAfter, err
	}
	cluster, err := ReadCluster(ctx, r.reader, request.Namespace)
	if err != nil {
		return nil, 0, r.failWithoutCluster(ctx, object, err)
	}
	d := decide(object, cluster.Shoot)
	if d.action == actionNone {
		log.Info("Skipping reconciliation", "reason", d.reason)
		return nil, r.contract.FollowUp.checkInterval(object), nil
	}
	run := r.newRun(log.WithValues("operation", d.operation), object, cluster, d)
	if err := run.accept(ctx); err != nil {
		return nil, 0, fmt.Errorf("accepting the operation: %w", err)
	}
	return run, 0, nil
}

// pending reports whether the object must be reconciled, by request or for its follow-up, and if the follow-up is not due
// yet, when to check again.
func (r *reconciler[O]) pending(ctx context.Context, object O) (bool, time.Duration, error) {
	if Pending(object, r.contract.Finalizer, r.options.IgnoreOperationAnnotation) {
		return true, 0, nil
	}
	followUp := r.contract.FollowUp
	if !followUp.isWaiting(object) {
		return false, 0, nil
	}
	due, err := followUp.Due(ctx, r.reader, object)
	if err != nil {
		return false, 0, fmt.Errorf("checking whether the follow-up of %s is due: %w", r.contract.Name, err)
	}
	return due, followUp.Interval, nil
}

// failWithoutCluster reports a missing or invalid Cluster in the status, and transient errors of the API server in the log
// only.
func (r *reconciler[O]) failWithoutCluster(ctx context.Context, object O, cause error) error {
	if !apierrors.IsNotFound(cause) && !errors.Is(cause, errInvalidCluster) {
		return cause
	}
	return r.newRun(logf.FromContext(ctx), object, &Cluster{}, decide(object, nil)).fail(ctx, cause)
}

// run is one reconciliation in progress.
type run[O Object] struct {
	*reconciler[O]
	decision decision
	log      logr.Logger
	started  time.Time
	rec      *Reconciliation[O]
	initial  O
	writer   *statusWriter[O]
	recorder *stateRecorder[O]
}

func (r *reconciler[O]) newRun(log logr.Logger, object O, cluster *Cluster, d decision) *run[O] {
	writer := &statusWriter[O]{client: r.client, reader: r.reader, empty: r.contract.New, kind: r.kind, known: object}
	t := newStateRecorder(log, r.options.Clock, writer, d, r.contract.Stateless)
	x := &run[O]{
		reconciler: r, decision: d, log: log, started: r.options.Clock.Now(), initial: object, writer: writer, recorder: t,
		rec: &Reconciliation[O]{
			Object: clone(object), Cluster: cluster, Operation: d.operation,
			FirstAttempt: firstAttempt(object, d.operation, cluster.Shoot), Log: log, Client: r.client, StateRecorder: t,
		},
	}
	x.rec.publish = func(ctx context.Context) error {
		_, err := writer.write(ctx, x.withOutput)
		return err
	}
	return x
}

// execute calls the Actuator and concludes the reconciliation.
func (x *run[O]) execute(ctx context.Context) error {
	x.rec.Object = clone(x.writer.known)
	bounded, cancel := context.WithTimeoutCause(ctx, x.contract.Timeout,
		fmt.Errorf("the operation took longer than %s", x.contract.Timeout))
	defer cancel()
	err := x.recorder.runWithBackgroundWrites(bounded, func() error { return x.callActuator(bounded) })
	switch {
	case err != nil && interrupted(ctx):
		return x.interrupt(ctx, "interrupted by the end of the process, to be resumed")
	case errors.Is(err, ErrSuperseded):
		return cmp.Or(x.interrupt(ctx, "interrupted by a newer operation"), ErrSuperseded)
	case err != nil:
		return x.fail(ctx, err)
	default:
		return x.succeed(ctx)
	}
}

// callActuator calls the Actuator's method and recovers its panics.
func (x *run[O]) callActuator(ctx context.Context) (err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			err = &panicError{value: recovered, stack: debug.Stack()}
		}
		if contained, ok := errors.AsType[*panicError](err); ok {
			x.log.Error(contained, "Panic contained", "stack", string(contained.stack))
		}
	}()
	actuator := x.contract.Actuator
	switch x.decision.action {
	case actionReconcile:
		return actuator.Reconcile(ctx, x.rec)
	case actionDelete:
		return actuator.Delete(ctx, x.rec)
	case actionForceDelete:
		return actuator.ForceDelete(ctx, x.rec)
	case actionMigrate:
		return actuator.Migrate(ctx, x.rec)
	case actionNone:
	}
	return cloud.Errorf(cloud.Unknown, "unknown action: %d", x.decision.action)
}

// withOutput returns the status as the Actuator has made it so far, on top of known.
func (x *run[O]) withOutput(known O) O {
	return x.recorder.withState(outputOf(known, x.rec.Object, x.contract.Stateless))
}
