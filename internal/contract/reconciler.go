package contract

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// reconciler runs the passes of one contract.
type reconciler[O Object] struct {
	contract Contract[O]
	options  Options
	client   client.Client
	reader   client.Reader
	events   events.EventRecorder
	metrics  *metrics
}

// Reconcile runs a pass over the object if it is pending.
func (r *reconciler[O]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	log := logf.FromContext(ctx)
	object := r.contract.New()
	if err := r.reader.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !Pending(object, r.contract.Finalizer, r.options.IgnoreOperationAnnotation) {
		log.V(1).Info("Nothing to do")
		return reconcile.Result{}, nil
	}
	cluster, err := ReadCluster(ctx, r.reader, request.Namespace)
	if err != nil {
		return reconcile.Result{}, err
	}
	d := decide(object, cluster.Shoot)
	if d.deed == deedNone {
		log.Info("Leaving the object alone", "reason", d.reason)
		return reconcile.Result{}, nil
	}
	run := r.newRun(log.WithValues("operation", d.operation), object, cluster, d)
	if err := run.accept(ctx); err != nil {
		if errors.Is(err, errOrderChanged) || apierrors.IsConflict(err) {
			log.V(1).Info("The object changed while its order was being accepted, starting over")
			return reconcile.Result{RequeueAfter: r.options.Retry.Base}, nil
		}
		return reconcile.Result{}, fmt.Errorf("accepting the order: %w", err)
	}
	return run.execute(ctx)
}

// run is one pass under way.
type run[O Object] struct {
	*reconciler[O]
	decision decision
	log      logr.Logger
	started  time.Time
	pass     *Pass[O]
	found    O
	writer   *statusWriter[O]
	track    *track[O]
}

func (r *reconciler[O]) newRun(log logr.Logger, object O, cluster *Cluster, d decision) *run[O] {
	writer := &statusWriter[O]{client: r.client, known: object}
	t := newTrack(log, r.options.Clock, writer, d, r.contract.Stateless)
	x := &run[O]{
		reconciler: r, decision: d, log: log, started: r.options.Clock.Now(), found: object, writer: writer, track: t,
		pass: &Pass[O]{
			Cluster: cluster, Operation: d.operation,
			FirstAttempt: firstAttempt(object, d.operation), Log: log, Client: r.client, Track: t,
		},
	}
	x.pass.publish = func(ctx context.Context) error {
		_, err := writer.write(ctx, x.withOutput)
		return err
	}
	return x
}

// execute calls the Actuator and concludes the pass.
func (x *run[O]) execute(ctx context.Context) (reconcile.Result, error) {
	x.pass.Object = clone(x.writer.known)
	bounded, cancel := context.WithTimeoutCause(ctx, x.contract.Timeout,
		fmt.Errorf("the operation took longer than %s", x.contract.Timeout))
	defer cancel()
	err := x.track.during(bounded, func() error { return x.perform(bounded) })
	if err != nil && interrupted(ctx) {
		return reconcile.Result{}, x.interrupt(ctx)
	}
	if err != nil {
		return x.fail(ctx, err)
	}
	return reconcile.Result{}, x.succeed(ctx)
}

// perform calls the Actuator's method and contains its panics.
func (x *run[O]) perform(ctx context.Context) (err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			err = &panicError{value: recovered, stack: debug.Stack()}
		}
		if contained, ok := errors.AsType[*panicError](err); ok {
			x.log.Error(contained, "Panic contained", "stack", string(contained.stack))
		}
	}()
	actuator := x.contract.Actuator
	switch x.decision.deed {
	case deedReconcile:
		return actuator.Reconcile(ctx, x.pass)
	case deedDelete:
		return actuator.Delete(ctx, x.pass)
	case deedForceDelete:
		return actuator.ForceDelete(ctx, x.pass)
	case deedMigrate:
		return actuator.Migrate(ctx, x.pass)
	case deedNone:
	}
	return cloud.Errorf(cloud.Unknown, "no such deed: %d", x.decision.deed)
}

// withOutput returns the status as the Actuator has made it so far, on top of known.
func (x *run[O]) withOutput(known O) O {
	return x.track.withState(withOwnFieldsOf(known, x.pass.Object, x.contract.Stateless))
}
