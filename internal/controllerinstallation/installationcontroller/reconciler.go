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

// shortRequeueInterval is soon enough for what is a matter of moments.
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
	// Those of self-hosted shoots are their gardenlet's.
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
		return reconcile.Result{RequeueAfter: changingPeriod}, nil // it is told when there is more to know
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: shortRequeueInterval}, nil
	}
	return r.finish(ctx, rec, result, err)
}

// truncatedError is an error of which a log line has room for the text: what a seed answers may be long.
type truncatedError struct{ error }

func (b *truncatedError) Error() string { return truncate.Text(b.error.Error(), truncate.MaxStatus) }
func (b *truncatedError) Unwrap() error { return b.error }

// finish writes what the pass has found out, and says when to look again.
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
	r.recordObservation(rec, err) // now that everybody else may know, too
	r.reportChange(logf.FromContext(ctx), rec)
	if _, mended := problem.In(err); mended {
		// An event tells when it is mended; most of the time.
		return reconcile.Result{RequeueAfter: wait.Jitter(r.SyncPeriod, 0.1)}, nil
	}
	return result, err
}

// recordObservation records the result of the check, which requeues the deployment where a decision may depend on it. An error that is not of the seed
// tells nothing about it.
func (r *reconciler) recordObservation(rec *reconciliation, err error) {
	found, isProblem := problem.In(err)
	_, isUnreachable := errors.AsType[*seeds.Unreachable](err)
	switch {
	case isUnreachable, isProblem && !problem.IsOfRevision(found.Reason):
		r.State.RecordUnreachable(rec.installation, rec.startedAt) // whatever the revision is like, that cannot be observed there
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

// forget drops what is known of an installation that is gone, or somebody else's.
func (r *reconciler) forget(installation string) {
	r.State.ForgetInstallation(installation)
	r.metrics.forgetInstallation(installation)
}

// reportChange makes changes visible that an admin may want to hear of.
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

// reconcileInstallation does for an installation what its deployment, its seed and its own state ask for.
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
		rec.assignment = &assignment{} // nothing of it is the operator's
		r.forget(rec.installation.Name)
		return reconcile.Result{}, nil
	case rec.seed == nil:
		return reconcile.Result{}, r.handleMissingSeed(rec)
	case isDeleted:
		rec.assignment.relation = state.Ours // until it is gone, whatever has become of its deployment
		return r.remove(ctx, rec)
	case relation == state.NotFound:
		return reconcile.Result{}, problem.New(problem.DeploymentNotFound, fmt.Sprintf(
			"there is no ControllerDeployment %s: create it", rec.installation.Spec.DeploymentRef.Name))
	}
	return r.install(ctx, rec)
}

// handleMissingSeed says what an installation without a seed needs.
func (r *reconciler) handleMissingSeed(rec *reconciliation) error {
	seed := rec.installation.Spec.SeedRef.Name
	r.Access.Forget(seed)
	if rec.status.Phase != installationv1alpha1.PhaseDeleting {
		rec.status.Phase = installationv1alpha1.PhaseUnreachable
	}
	return problem.New(problem.SeedNotFound, fmt.Sprintf(
		"there is no Seed %s: create it; or, when it is gone for ever, take the finalizer %s away to give up what is in it", seed, Finalizer))
}

// isResponsibleFor reports whether a seed is one of the operator's. One that is gone may be.
func (r *reconciler) isResponsibleFor(seed *gardencorev1beta1.Seed) bool {
	return seed == nil || r.inSeed() || r.SeedSelector.Matches(labels.Set(seed.Labels))
}

// readSeed leaves the pass without a seed when there is none.
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

// readAssignment finds out what the installation is to have, and reports whether the operator has anything to remove should it go.
func (r *reconciler) readAssignment(ctx context.Context, rec *reconciliation) (isManaged bool, err error) {
	isManaged = controllerutil.ContainsFinalizer(rec.installation, Finalizer)
	rec.assignment, err = r.assigner.assign(ctx, rec.installation)
	if isManaged && rec.installation.DeletionTimestamp != nil && errors.Is(err, errUndecided) {
		rec.assignment, err = &assignment{relation: state.Ours}, nil // to remove something, nothing more has to be known of it
	}
	if err != nil {
		return isManaged, err
	}
	// One that gardenlet served until its deployment became ours, and that could not be claimed yet, has nobody else who would remove it.
	return isManaged || rec.assignment.relation == state.Ours && controllerutil.ContainsFinalizer(rec.installation, gardenletFinalizer), nil
}

// hasOperatorMetadata reports whether the operator has written at an installation that it has brought nowhere yet.
func hasOperatorMetadata(installation *gardencorev1beta1.ControllerInstallation) bool {
	_, isAssigned := installation.Annotations[installationv1alpha1.AnnotationRevision]
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	return isAssigned || err == nil && status.Operator != ""
}

// handOver leaves the installation to whoever serves the type that its deployment has now. What is in the seed stays: the new one finds it under the
// same names.
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

// install brings the assigned revision into the seed and looks how it is. Until it could be rendered, nothing is written there.
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

// connectSeed gets the way into the seed.
func (r *reconciler) connectSeed(ctx context.Context, rec *reconciliation) (err error) {
	if rec.cluster, err = r.Access.Connect(ctx, rec.seed); ctx.Err() != nil {
		return err // the time was taken by something else: each request to a seed has less
	}
	return asSeedError(err)
}

// apply renders the assigned revision, and then writes.
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

// waitForRevision says why there is no revision to install. What was installed earlier is not touched.
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

// requeueAfter is how long to wait until the next look.
func (r *reconciler) requeueAfter(rec *reconciliation) time.Duration {
	if rec.status.Phase == installationv1alpha1.PhaseHealthy || !rec.isChanging() {
		return r.SyncPeriod
	}
	return min(changingPeriod, r.SyncPeriod)
}

// changingTimeout is how long something is likely to change that has not become healthy, or has become unhealthy.
const changingTimeout = 10 * time.Minute

func (rec *reconciliation) isChanging() bool {
	since := rec.status.AppliedAt
	if rec.status.UnhealthySince != nil {
		since = rec.status.UnhealthySince
	}
	return since == nil || rec.clock.Since(since.Time) < changingTimeout
}

// claim puts the operator's finalizer in place of gardenlet's, which gardenlet would never take away from an installation that is not of type helm.
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

// rendered is what is to be brought into a seed.
type rendered struct {
	installation workload.Installation
	garden       workload.Garden
	seedFacts    *workload.SeedFacts
	objects      []*unstructured.Unstructured
}

// checkName keeps names out of which no namespace can be made.
func checkName(installation *gardencorev1beta1.ControllerInstallation) error {
	namespace := workload.Namespace(installation.Name)
	if len(validation.IsDNS1123Label(namespace)) == 0 {
		return nil
	}
	return problem.New(problem.NameTooLong, fmt.Sprintf(
		"the namespace %s would have a name of %d characters, and %d are possible: register ControllerRegistration %s under a name of at most 47",
		namespace, len(namespace), validation.DNS1123LabelMaxLength, installation.Spec.RegistrationRef.Name))
}
