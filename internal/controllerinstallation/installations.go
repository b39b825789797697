package controllerinstallation

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
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rendering"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// installations is the reconciler of ControllerInstallations.
type installations struct {
	Options
	garden   client.Client // reads from the API server
	assigner assigner
	access   seeds.Access
	events   events.EventRecorder
	metrics  *metrics
	identity *identity
	watch    *watch
	shares   *shares
	renderer *rendering.Renderer
	// watched is told the deployment of an installation when there is news of it that its status does not tell.
	watched func(ctx context.Context, deployment string)
}

var _ reconcile.Reconciler = (*installations)(nil)

// again is soon enough for what is a matter of moments.
const again = 200 * time.Millisecond

// Reconcile implements reconcile.Reconciler.
func (r *installations) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	installation := &gardencorev1beta1.ControllerInstallation{}
	if err := r.garden.Get(ctx, request.NamespacedName, installation); err != nil {
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
		release, isFree := r.shares.take(installation.Spec.SeedRef.Name)
		if !isFree {
			return reconcile.Result{RequeueAfter: wait.Jitter(busyPeriod, 1)}, nil
		}
		defer release()
	}
	p := newPass(installation, r.operator(), r.Clock)
	result, err := r.serve(ctx, p)
	switch {
	case errors.Is(err, errUndecided):
		return reconcile.Result{RequeueAfter: changingPeriod}, nil // it is told when there is more to know
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: again}, nil
	}
	return r.conclude(ctx, p, result, err)
}

// boundedError is an error of which a log line has room for the text: what a seed answers may be long.
type boundedError struct{ error }

func (b *boundedError) Error() string { return truncate.Text(b.error.Error(), truncate.MaxStatus) }
func (b *boundedError) Unwrap() error { return b.error }

// conclude writes what the pass has found out, and says when to look again.
func (r *installations) conclude(ctx context.Context, p *pass, result reconcile.Result, err error) (reconcile.Result, error) {
	if err != nil {
		err = &boundedError{err}
		p.failed(err)
	}
	if p.assignment == nil || p.assignment.relation == foreign {
		return result, err
	}
	r.observe(p, err)
	saved, saveErr := p.save(ctx, r.garden)
	if saveErr != nil {
		return reconcile.Result{}, errors.Join(err, saveErr)
	}
	if !saved {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	r.noteLook(ctx, p, err) // now that everybody else may know, too
	r.tell(logf.FromContext(ctx), p)
	if _, mended := problem.In(err); mended {
		// An event tells when it is mended; most of the time.
		return reconcile.Result{RequeueAfter: wait.Jitter(r.SyncPeriod, 0.1)}, nil
	}
	return result, err
}

// noteLook keeps note of what came of looking at the installation, and wakes the rollout where that may make a difference. An error that is not of the seed
// says nothing of it.
func (r *installations) noteLook(ctx context.Context, p *pass, err error) {
	name, isNews := p.installation.Name, false
	found, isProblem := problem.In(err)
	_, isUnreachable := errors.AsType[*seeds.Unreachable](err)
	switch {
	case isUnreachable, isProblem && !isOfRevision(found.Reason):
		isNews = r.watch.lost(name, p.began) // whatever the revision is like, it cannot be seen there
	case isProblem && p.assignment.revision != "":
		isNews = r.watch.seen(name, p.began, &refusal{assignment: assignmentOf(p.installation.Annotations), message: found.Message})
	case err == nil && p.assignment.revision != "":
		isNews = r.watch.seen(name, p.began, nil)
	case isOfSeed(err):
		isNews = r.watch.failed(name, p.began)
	}
	if ref := p.installation.Spec.DeploymentRef; isNews && ref != nil {
		r.watched(ctx, ref.Name)
	}
}

// forget drops what is known of an installation that is gone, or somebody else's.
func (r *installations) forget(installation string) {
	r.watch.forget(installation)
	r.metrics.forgetInstallation(installation)
}

// tell makes changes visible that an admin may want to hear of.
func (r *installations) tell(log logr.Logger, p *pass) {
	r.metrics.installation(p.installation, p.status)
	before, err := installationv1alpha1.DecodeControllerInstallationStatus(p.installation.Status.ProviderStatus)
	if err != nil || before.Phase == p.status.Phase && before.Revision == p.status.Revision && reasonOf(before) == reasonOf(p.status) {
		return
	}
	log.Info("Installation changed", "seed", p.installation.Spec.SeedRef.Name, "revision", p.status.Revision, "phase", p.status.Phase,
		"before", before.Phase, "error", reasonOf(p.status))
	eventType, message := corev1.EventTypeNormal, "revision "+p.status.Revision
	if p.status.LastError != nil {
		eventType, message = corev1.EventTypeWarning, p.status.LastError.Message
	}
	r.events.Eventf(p.installation, nil, eventType, cmp.Or(reasonOf(p.status), string(p.status.Phase)), "Install", "%s", truncate.Text(message, truncate.MaxEvent))
}

func reasonOf(status *installationv1alpha1.ControllerInstallationStatus) string {
	if status.LastError == nil {
		return ""
	}
	return status.LastError.Reason
}

// serve does for an installation what its deployment, its seed and its own state ask for.
func (r *installations) serve(ctx context.Context, p *pass) (reconcile.Result, error) {
	if err := r.readSeed(ctx, p); err != nil {
		return reconcile.Result{}, err
	}
	if !r.serves(p.seed) {
		r.forget(p.installation.Name)
		return reconcile.Result{}, nil
	}
	isServed, err := r.readAssignment(ctx, p)
	if err != nil {
		return reconcile.Result{}, err
	}
	isDeleted := p.installation.DeletionTimestamp != nil
	switch relation := p.assignment.relation; {
	case relation == foreign && !isDeleted && (isServed || bearsMarks(p.installation)):
		return reconcile.Result{}, r.handOver(ctx, p.installation)
	case !isServed && (relation != ours || isDeleted):
		p.assignment = &assignment{} // nothing of it is the operator's
		r.forget(p.installation.Name)
		return reconcile.Result{}, nil
	case p.seed == nil:
		return reconcile.Result{}, r.mourn(p)
	case isDeleted:
		p.assignment.relation = ours // until it is gone, whatever has become of its deployment
		return r.remove(ctx, p)
	case relation == gone:
		return reconcile.Result{}, problem.New(problem.DeploymentNotFound, fmt.Sprintf(
			"there is no ControllerDeployment %s: create it", p.installation.Spec.DeploymentRef.Name))
	}
	return r.install(ctx, p)
}

// mourn says what an installation without a seed needs.
func (r *installations) mourn(p *pass) error {
	seed := p.installation.Spec.SeedRef.Name
	r.access.Forget(seed)
	if p.status.Phase != installationv1alpha1.PhaseDeleting {
		p.status.Phase = installationv1alpha1.PhaseUnreachable
	}
	return problem.New(problem.SeedNotFound, fmt.Sprintf(
		"there is no Seed %s: create it; or, when it is gone for ever, take the finalizer %s away to give up what is in it", seed, Finalizer))
}

// serves reports whether a seed is one of the operator's. One that is gone may be.
func (r *installations) serves(seed *gardencorev1beta1.Seed) bool {
	return seed == nil || r.inSeed() || r.SeedSelector.Matches(labels.Set(seed.Labels))
}

// readSeed leaves the pass without a seed when there is none.
func (r *installations) readSeed(ctx context.Context, p *pass) error {
	name, seed := p.installation.Spec.SeedRef.Name, &gardencorev1beta1.Seed{}
	switch err := r.garden.Get(ctx, client.ObjectKey{Name: name}, seed); {
	case err == nil:
		p.seed = seed
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("reading Seed %s: %w", name, err)
	}
	return nil
}

// readAssignment finds out what the installation is to have, and reports whether the operator has anything to remove should it go.
func (r *installations) readAssignment(ctx context.Context, p *pass) (isServed bool, err error) {
	isServed = controllerutil.ContainsFinalizer(p.installation, Finalizer)
	p.assignment, err = r.assigner.assign(ctx, p.installation)
	if isServed && p.installation.DeletionTimestamp != nil && errors.Is(err, errUndecided) {
		p.assignment, err = &assignment{relation: ours}, nil // to remove something, nothing more has to be known of it
	}
	if err != nil {
		return isServed, err
	}
	// One that gardenlet served until its deployment became ours, and that could not be claimed yet, has nobody else who would remove it.
	return isServed || p.assignment.relation == ours && controllerutil.ContainsFinalizer(p.installation, gardenletFinalizer), nil
}

// bearsMarks reports whether the operator has written at an installation that it has brought nowhere yet.
func bearsMarks(installation *gardencorev1beta1.ControllerInstallation) bool {
	_, isAssigned := installation.Annotations[installationv1alpha1.AnnotationRevision]
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	return isAssigned || err == nil && status.Operator != ""
}

// handOver leaves the installation to whoever serves the type that its deployment has now. What is in the seed stays: the new one finds it under the
// same names.
func (r *installations) handOver(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation) error {
	before := installation.DeepCopy()
	installation.Status.ProviderStatus = nil
	if err := r.garden.Status().Patch(ctx, installation, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("clearing the status of ControllerInstallation %s: %w", installation.Name, err)
	}
	before = installation.DeepCopy()
	controllerutil.RemoveFinalizer(installation, Finalizer)
	delete(installation.Annotations, installationv1alpha1.AnnotationRevision)
	delete(installation.Annotations, installationv1alpha1.AnnotationRevisionSince)
	delete(installation.Annotations, installationv1alpha1.AnnotationRevisionBefore)
	delete(installation.Annotations, installationv1alpha1.AnnotationRevisionTrial)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.garden.Patch(ctx, installation, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("handing ControllerInstallation %s over: %w", installation.Name, err)
	}
	r.forget(installation.Name)
	return nil
}

// install brings the assigned revision into the seed and looks how it is. Until it could be rendered, nothing is written there.
func (r *installations) install(ctx context.Context, p *pass) (reconcile.Result, error) {
	p.status.Wave, p.status.TargetRevision = p.assignment.wave, ""
	if p.assignment.revision == "" {
		return r.await(p)
	}
	if p.assignment.revision != p.status.Revision {
		p.status.TargetRevision = p.assignment.revision
	}
	if err := r.bring(ctx, p); err != nil {
		if _, found := problem.In(err); found {
			p.status.Phase = installationv1alpha1.PhaseFailed
		}
		return reconcile.Result{}, err
	}
	p.applied(p.assignment.revision, int(*historyLimit(p.assignment)))
	observed, err := workload.Observe(ctx, p.cluster, p.installation.Name)
	if err != nil {
		return reconcile.Result{}, ofSeed(fmt.Errorf("looking at the installation in the seed: %w", err))
	}
	p.observed(observed)
	if p.assignment.problem != nil {
		p.invalid(p.assignment.problem)
	} else {
		p.status.LastError = nil
		p.valid()
	}
	p.careInstead(observed)
	return reconcile.Result{RequeueAfter: wait.Jitter(r.pause(p), 0.1)}, nil
}

// reach gets the way into the seed.
func (r *installations) reach(ctx context.Context, p *pass) (err error) {
	if p.cluster, err = r.access.To(ctx, p.seed); ctx.Err() != nil {
		return err // the time was taken by something else: each request to a seed has less
	}
	return ofSeed(err)
}

// bring renders the assigned revision, and then writes.
func (r *installations) bring(ctx context.Context, p *pass) error {
	rendered, err := r.render(ctx, p)
	if err != nil {
		return err
	}
	if err := r.claim(ctx, p); err != nil {
		return err
	}
	if err := workload.Apply(ctx, p.cluster, rendered.installation, rendered.garden, rendered.around, rendered.objects); err != nil {
		return ofSeed(fmt.Errorf("bringing revision %s into the seed: %w", p.assignment.revision, err))
	}
	return nil
}

// await says why there is no revision to install. What was installed earlier is not touched.
func (r *installations) await(p *pass) (reconcile.Result, error) {
	if p.status.Revision == "" {
		p.status.Phase = installationv1alpha1.PhasePending
	}
	switch {
	case p.assignment.problem != nil:
		return reconcile.Result{}, p.assignment.problem
	case p.assignment.waiting != nil:
		return reconcile.Result{}, p.assignment.waiting
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

// pause is how long to wait until the next look.
func (r *installations) pause(p *pass) time.Duration {
	if p.status.Phase == installationv1alpha1.PhaseHealthy || !p.changesStill() {
		return r.SyncPeriod
	}
	return min(changingPeriod, r.SyncPeriod)
}

// changesFor is how long something is likely to change that has not become healthy, or has become unhealthy.
const changesFor = 10 * time.Minute

func (p *pass) changesStill() bool {
	since := p.status.AppliedAt
	if p.status.UnhealthySince != nil {
		since = p.status.UnhealthySince
	}
	return since == nil || p.clock.Since(since.Time) < changesFor
}

// claim puts the operator's finalizer in place of gardenlet's, which gardenlet would never take away from an installation that is not of type helm.
func (r *installations) claim(ctx context.Context, p *pass) error {
	installation := p.installation.DeepCopy()
	added := controllerutil.AddFinalizer(installation, Finalizer)
	removed := controllerutil.RemoveFinalizer(installation, gardenletFinalizer)
	if !added && !removed {
		return nil
	}
	patch := client.MergeFromWithOptions(p.installation, client.MergeFromWithOptimisticLock{})
	if err := r.garden.Patch(ctx, installation, patch); err != nil {
		return fmt.Errorf("claiming ControllerInstallation %s: %w", installation.Name, err)
	}
	p.installation = installation
	return nil
}

// rendered is what is to be brought into a seed.
type rendered struct {
	installation workload.Installation
	garden       workload.Garden
	around       *workload.Surroundings
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
