package installationcontroller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rendering"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// reconciler reconciles ControllerInstallations.
type reconciler struct {
	Options
	assigner    assigner
	metrics     *metrics
	identity    *identity
	seedLimiter *seedLimiter
	renderer    *rendering.Renderer
}

var _ reconcile.Reconciler = (*reconciler)(nil)

// shortRequeueInterval is used while a condition is expected to change within a second.
const shortRequeueInterval = 200 * time.Millisecond

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	installation := &gardencorev1beta1.ControllerInstallation{}
	if err := r.Client.Get(ctx, request.NamespacedName, installation); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.Name)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	// Installations of self-hosted shoots are served by their gardenlet.
	if installation.Spec.SeedRef == nil || installation.Spec.ShootRef != nil || r.inSeed() && installation.Spec.SeedRef.Name != r.SeedName {
		return reconcile.Result{}, nil
	}
	if !r.inSeed() {
		release, acquired := r.seedLimiter.acquire(installation.Spec.SeedRef.Name)
		if !acquired {
			return reconcile.Result{RequeueAfter: wait.Jitter(busyRequeueInterval, 1)}, nil
		}
		defer release()
	}
	rec := newReconciliation(installation, r.operator(), r.Clock)
	result, err := r.reconcileInstallation(ctx, rec)
	switch {
	case errors.Is(err, errUndecided):
		return reconcile.Result{RequeueAfter: changingPeriod}, nil // the store requeues it when there is news
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: shortRequeueInterval}, nil
	}
	return r.finish(ctx, rec, result, err)
}

// truncatedError is an error with a text of limited length, for logs: a response of a seed may be long.
type truncatedError struct{ error }

func (b *truncatedError) Error() string { return truncate.Text(b.error.Error(), truncate.MaxStatus) }
func (b *truncatedError) Unwrap() error { return b.error }

// finish writes the result of the reconciliation, and returns when the next one is due.
func (r *reconciler) finish(ctx context.Context, rec *reconciliation, result reconcile.Result, err error) (reconcile.Result, error) {
	if err != nil {
		err = &truncatedError{err}
		rec.recordError(err)
	}
	if rec.assignment == nil || rec.assignment.relation == state.OtherType {
		return result, err
	}
	r.recordGateObservation(rec, err)
	saved, saveErr := rec.save(ctx, r.Client)
	if saveErr != nil {
		return reconcile.Result{}, errors.Join(err, saveErr)
	}
	if !saved {
		return reconcile.Result{RequeueAfter: shortRequeueInterval}, nil
	}
	r.recordObservation(rec, err) // only after it has been written
	r.reportChange(logf.FromContext(ctx), rec)
	if _, mended := problem.In(err); mended {
		// Usually an event follows when the problem is corrected.
		return reconcile.Result{RequeueAfter: wait.Jitter(r.SyncPeriod, 0.1)}, nil
	}
	return result, err
}

// recordObservation records the result of the check, which requeues the deployment if a decision may depend on it. Errors of other components than
// the seed are not recorded.
func (r *reconciler) recordObservation(rec *reconciliation, err error) {
	found, isProblem := problem.In(err)
	_, isUnreachable := errors.AsType[*seeds.Unreachable](err)
	switch {
	case isUnreachable, isProblem && !problem.IsOfRevision(found.Reason):
		r.State.RecordUnreachable(rec.installation, rec.startedAt) // the health of the revision cannot be observed
	case isProblem && rec.assignment.revision != "":
		r.State.RecordSeen(rec.installation, rec.startedAt, &state.InstallFailure{
			Assignment: state.AssignmentKey(rec.installation.Annotations), Message: found.Message,
		})
	case err == nil && rec.assignment.revision != "":
		r.State.RecordSeen(rec.installation, rec.startedAt, nil)
	case isSeedError(err):
		r.State.RecordFailed(rec.installation, rec.startedAt)
	}
}

// forget drops the state of an installation that was deleted, or that another operator serves.
func (r *reconciler) forget(installation string) {
	r.State.ForgetInstallation(installation)
	r.metrics.forgetInstallation(installation)
}

// reportChange reports changes of phase and revision by events and logs.
func (r *reconciler) reportChange(log logr.Logger, rec *reconciliation) {
	r.metrics.installation(rec.installation, rec.status)
	before, err := installationv1alpha1.DecodeControllerInstallationStatus(rec.installation.Status.ProviderStatus)
	if err != nil || before.Phase == rec.status.Phase && before.Revision == rec.status.Revision && reasonOf(before) == reasonOf(rec.status) {
		return
	}
	log.Info("Installation changed", "seed", rec.installation.Spec.SeedRef.Name, "revision", rec.status.Revision, "phase", rec.status.Phase,
		"before", before.Phase, "error", reasonOf(rec.status))
	eventType, message := corev1.EventTypeNormal, "revision "+rec.status.Revision
	if rec.status.LastError != nil {
		eventType, message = corev1.EventTypeWarning, rec.status.LastError.Message
	}
	r.Events.Eventf(rec.installation, nil, eventType, cmp.Or(reasonOf(rec.status), string(rec.status.Phase)), "Install", "%s", truncate.Text(message, truncate.MaxEvent))
}

func reasonOf(status *installationv1alpha1.ControllerInstallationStatus) string {
	if status.LastError == nil {
		return ""
	}
	return status.LastError.Reason
}

// reconcileInstallation installs, removes or hands over an installation, depending on its deployment, its seed and its own state.
func (r *reconciler) reconcileInstallation(ctx context.Context, rec *reconciliation) (reconcile.Result, error) {
	if err := r.readSeed(ctx, rec); err != nil {
		return reconcile.Result{}, err
	}
	if !r.isResponsibleFor(rec.seed) {
		r.forget(rec.installation.Name)
		return reconcile.Result{}, nil
	}
	isManaged, err := r.readAssignment(ctx, rec)
	if err != nil {
		return reconcile.Result{}, err
	}
	isDeleted := rec.installation.DeletionTimestamp != nil
	switch relation := rec.assignment.relation; {
	case relation == state.OtherType && !isDeleted && (isManaged || hasOperatorMetadata(rec.installation)):
		return reconcile.Result{}, r.handOver(ctx, rec.installation)
	case !isManaged && (relation != state.Ours || isDeleted):
		rec.assignment = &assignment{} // the operator has created nothing for it
		r.forget(rec.installation.Name)
		return reconcile.Result{}, nil
	case rec.seed == nil:
		return reconcile.Result{}, r.handleMissingSeed(rec)
	case isDeleted:
		rec.assignment.relation = state.Ours // until it is deleted, whatever the type of its deployment is now
		return r.remove(ctx, rec)
	case relation == state.NotFound:
		return reconcile.Result{}, problem.New(problem.DeploymentNotFound, fmt.Sprintf(
			"there is no ControllerDeployment %s: create it", rec.installation.Spec.DeploymentRef.Name))
	}
	return r.install(ctx, rec)
}

// handleMissingSeed reports an installation whose seed does not exist.
func (r *reconciler) handleMissingSeed(rec *reconciliation) error {
	seed := rec.installation.Spec.SeedRef.Name
	r.Access.Forget(seed)
	if rec.status.Phase != installationv1alpha1.PhaseDeleting {
		rec.status.Phase = installationv1alpha1.PhaseUnreachable
	}
	return problem.New(problem.SeedNotFound, fmt.Sprintf(
		"there is no Seed %s: create it; or, when it is gone for ever, take the finalizer %s away to give up what is in it", seed, Finalizer))
}

// isResponsibleFor reports whether the operator serves a seed. A deleted seed may be one of its seeds.
func (r *reconciler) isResponsibleFor(seed *gardencorev1beta1.Seed) bool {
	return seed == nil || r.inSeed() || r.SeedSelector.Matches(labels.Set(seed.Labels))
}

// readSeed sets the seed of the reconciliation, unless it does not exist.
func (r *reconciler) readSeed(ctx context.Context, rec *reconciliation) error {
	name, seed := rec.installation.Spec.SeedRef.Name, &gardencorev1beta1.Seed{}
	switch err := r.Client.Get(ctx, client.ObjectKey{Name: name}, seed); {
	case err == nil:
		rec.seed = seed
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("reading Seed %s: %w", name, err)
	}
	return nil
}

// readAssignment reads the assignment of the installation, and reports whether the operator is responsible for its removal.
func (r *reconciler) readAssignment(ctx context.Context, rec *reconciliation) (isManaged bool, err error) {
	isManaged = controllerutil.ContainsFinalizer(rec.installation, Finalizer)
	rec.assignment, err = r.assigner.assign(ctx, rec.installation)
	if isManaged && rec.installation.DeletionTimestamp != nil && errors.Is(err, errUndecided) {
		rec.assignment, err = &assignment{relation: state.Ours}, nil // removal does not depend on the assignment
	}
	if err != nil {
		return isManaged, err
	}
	// An installation that gardenlet served before its deployment changed to the operator's type, and that is not claimed yet, would otherwise never be removed.
	return isManaged || rec.assignment.relation == state.Ours && controllerutil.ContainsFinalizer(rec.installation, gardenletFinalizer), nil
}

// hasOperatorMetadata reports whether the operator has written metadata to an installation that it has not installed yet.
func hasOperatorMetadata(installation *gardencorev1beta1.ControllerInstallation) bool {
	_, isAssigned := installation.Annotations[installationv1alpha1.AnnotationRevision]
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	return isAssigned || err == nil && status.Operator != ""
}

// handOver releases the installation to the operator that serves the present type of its deployment. The objects in the seed stay; the other operator
// finds them under the same names.
func (r *reconciler) handOver(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation) error {
	before := installation.DeepCopy()
	installation.Status.ProviderStatus = nil
	if err := r.Client.Status().Patch(ctx, installation, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("clearing the status of ControllerInstallation %s: %w", installation.Name, err)
	}
	before = installation.DeepCopy()
	controllerutil.RemoveFinalizer(installation, Finalizer)
	delete(installation.Annotations, installationv1alpha1.AnnotationRevision)
	delete(installation.Annotations, installationv1alpha1.AnnotationRevisionSince)
	delete(installation.Annotations, installationv1alpha1.AnnotationRevisionBefore)
	delete(installation.Annotations, installationv1alpha1.AnnotationRevisionTrial)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, installation, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("handing ControllerInstallation %s over: %w", installation.Name, err)
	}
	r.forget(installation.Name)
	return nil
}

// install applies the assigned revision in the seed and checks its health. Nothing is written to the seed before rendering has succeeded.
func (r *reconciler) install(ctx context.Context, rec *reconciliation) (reconcile.Result, error) {
	rec.status.Wave, rec.status.TargetRevision = rec.assignment.wave, ""
	if rec.assignment.revision == "" {
		return r.waitForRevision(rec)
	}
	if rec.assignment.revision != rec.status.Revision {
		rec.status.TargetRevision = rec.assignment.revision
	}
	if err := r.apply(ctx, rec); err != nil {
		if _, found := problem.In(err); found {
			rec.status.Phase = installationv1alpha1.PhaseFailed
		}
		return reconcile.Result{}, err
	}
	rec.recordApplied(rec.assignment.revision, int(*historyLimit(rec.assignment)))
	observed, err := workload.Observe(ctx, rec.cluster, rec.installation.Name)
	if err != nil {
		return reconcile.Result{}, asSeedError(fmt.Errorf("looking at the installation in the seed: %w", err))
	}
	rec.recordHealth(observed)
	if rec.assignment.problem != nil {
		rec.setInvalid(rec.assignment.problem)
	} else {
		rec.status.LastError = nil
		rec.setValid()
	}
	rec.writeCareConditions(observed)
	return reconcile.Result{RequeueAfter: wait.Jitter(r.requeueAfter(rec), 0.1)}, nil
}

// connectSeed connects to the seed.
func (r *reconciler) connectSeed(ctx context.Context, rec *reconciliation) (err error) {
	if rec.cluster, err = r.Access.Connect(ctx, rec.seed); ctx.Err() != nil {
		return err // the deadline of the reconciliation has passed; requests to a seed have shorter timeouts
	}
	return asSeedError(err)
}

// apply renders the assigned revision, and then applies its objects.
func (r *reconciler) apply(ctx context.Context, rec *reconciliation) error {
	rendered, err := r.render(ctx, rec)
	if err != nil {
		return err
	}
	if err := r.claim(ctx, rec); err != nil {
		return err
	}
	if err := workload.Apply(ctx, rec.cluster, rendered.installation, rendered.garden, rendered.seedFacts, rendered.objects); err != nil {
		return asSeedError(fmt.Errorf("bringing revision %s into the seed: %w", rec.assignment.revision, err))
	}
	return nil
}

// waitForRevision reports why there is no revision to install. An earlier revision stays installed.
func (r *reconciler) waitForRevision(rec *reconciliation) (reconcile.Result, error) {
	if rec.status.Revision == "" {
		rec.status.Phase = installationv1alpha1.PhasePending
	}
	switch {
	case rec.assignment.problem != nil:
		return reconcile.Result{}, rec.assignment.problem
	case rec.assignment.waiting != nil:
		return reconcile.Result{}, rec.assignment.waiting
	}
	return reconcile.Result{RequeueAfter: shortRequeueInterval}, nil
}

// requeueAfter returns the time until the next check.
func (r *reconciler) requeueAfter(rec *reconciliation) time.Duration {
	if rec.status.Phase == installationv1alpha1.PhaseHealthy || !rec.isChanging() {
		return r.SyncPeriod
	}
	return min(changingPeriod, r.SyncPeriod)
}

// changingTimeout is how long an installation that is not healthy yet, or not any more, is checked at short intervals.
const changingTimeout = 10 * time.Minute

func (rec *reconciliation) isChanging() bool {
	since := rec.status.AppliedAt
	if rec.status.UnhealthySince != nil {
		since = rec.status.UnhealthySince
	}
	return since == nil || rec.clock.Since(since.Time) < changingTimeout
}

// claim replaces gardenlet's finalizer by the operator's. gardenlet never removes its finalizer from an installation that is not of type helm.
func (r *reconciler) claim(ctx context.Context, rec *reconciliation) error {
	installation := rec.installation.DeepCopy()
	added := controllerutil.AddFinalizer(installation, Finalizer)
	removed := controllerutil.RemoveFinalizer(installation, gardenletFinalizer)
	if !added && !removed {
		return nil
	}
	patch := client.MergeFromWithOptions(rec.installation, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, installation, patch); err != nil {
		return fmt.Errorf("claiming ControllerInstallation %s: %w", installation.Name, err)
	}
	rec.installation = installation
	return nil
}

// rendered has the objects to apply in a seed.
type rendered struct {
	installation workload.Installation
	garden       workload.Garden
	seedFacts    *workload.SeedFacts
	objects      []*unstructured.Unstructured
}

// checkName returns a problem if the installation's namespace would not have a valid name.
func checkName(installation *gardencorev1beta1.ControllerInstallation) error {
	namespace := workload.Namespace(installation.Name)
	if len(validation.IsDNS1123Label(namespace)) == 0 {
		return nil
	}
	return problem.New(problem.NameTooLong, fmt.Sprintf(
		"the namespace %s would have a name of %d characters, and %d are possible: register ControllerRegistration %s under a name of at most 47",
		namespace, len(namespace), validation.DNS1123LabelMaxLength, installation.Spec.RegistrationRef.Name))
}
