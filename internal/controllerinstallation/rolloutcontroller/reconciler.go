package rolloutcontroller

import (
	"context"
	"fmt"
	"slices"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/registered"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// reconciler reconciles ControllerDeployments. The cache may be behind the API server. Every write carries the resource version that was read, so a
// decision based on old data fails with a conflict.
type reconciler struct {
	Options
	revisions revision.Store
	metrics   *metrics
}

var _ reconcile.Reconciler = (*reconciler)(nil)

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	installations, err := r.installationsOf(ctx, request.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	deployment, relation, err := r.deployment(ctx, request.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	if relation != state.Ours {
		r.metrics.forgetRollout(request.Name)
		r.publishState(request.Name, state.Deployment{Relation: relation}, installations)
		return reconcile.Result{}, nil
	}
	result, err := r.reconcileDeployment(ctx, deployment, installations)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: shortRequeueInterval}, nil
	}
	return result, err
}

// deployment returns the ControllerDeployment and its relation to the operator. Only a deployment of the operator's type is read in full.
func (r *reconciler) deployment(ctx context.Context, name string) (*gardencorev1.ControllerDeployment, state.Relation, error) {
	var deployment *gardencorev1.ControllerDeployment
	for _, reader := range []client.Reader{r.Cache, r.Client} {
		deployment = &gardencorev1.ControllerDeployment{}
		err := reader.Get(ctx, client.ObjectKey{Name: name}, deployment)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, state.NotFound, fmt.Errorf("reading ControllerDeployment %s: %w", name, err)
		}
		if err == nil && !registered.IsOurs(deployment) {
			return nil, state.OtherType, nil
		}
		if err != nil && reader == client.Reader(r.Client) {
			return nil, state.NotFound, nil
		}
	}
	return deployment, state.Ours, nil
}

// installationsOf returns the installations of a deployment on the seeds of this operator, by name.
func (r *reconciler) installationsOf(ctx context.Context, deployment string) ([]target, error) {
	all := &gardencorev1beta1.ControllerInstallationList{}
	if err := r.Cache.List(ctx, all); err != nil {
		return nil, fmt.Errorf("listing ControllerInstallations: %w", err)
	}
	var found []target
	for i := range all.Items {
		installation := &all.Items[i]
		if ref := installation.Spec.DeploymentRef; ref == nil || ref.Name != deployment || installation.Spec.SeedRef == nil ||
			installation.Spec.ShootRef != nil {
			continue
		}
		seed := &gardencorev1beta1.Seed{}
		if err := r.Cache.Get(ctx, client.ObjectKey{Name: installation.Spec.SeedRef.Name}, seed); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("reading Seed %s: %w", installation.Spec.SeedRef.Name, err)
		}
		if r.SeedSelector.Matches(labels.Set(seed.Labels)) {
			found = append(found, newTarget(installation.DeepCopy(), seed, r.State))
		}
	}
	slices.SortFunc(found, target.compare)
	return found, nil
}

// reconcileDeployment records the deployment's content as a revision, decides, publishes the state for installations, and carries the decision out:
// first the result of the evaluation, then the assignments. If it cannot decide, it publishes the reason.
func (r *reconciler) reconcileDeployment(ctx context.Context, deployment *gardencorev1.ControllerDeployment, installations []target) (reconcile.Result, error) {
	current := state.Deployment{Relation: state.Ours}
	if hasAssigned, err := r.prepare(ctx, deployment, installations); err != nil || hasAssigned {
		return r.handleUndecided(deployment, current, err, installations)
	}
	newest := r.evaluateDeployment(ctx, deployment, &current)
	known, err := r.revisions.List(ctx, deployment.Name)
	if err != nil {
		return r.handleUndecided(deployment, current, err, installations)
	}
	if err := r.recordVanishedSeeds(ctx, deployment, newest, installations); err != nil {
		return r.handleUndecided(deployment, current, err, installations)
	}
	input := rolloutInput(r.Clock.Now(), current.Config, newest, known, installations)
	decision := rollout.Decide(input)
	current.Waves, current.Note, current.EmptyWaves = decision.Waves, noteOf(input, decision, newest), decision.Progress.Empty
	if newest != nil && newest.Result == revision.Candidate {
		current.Trial = newest.Name
	}
	r.reportEmptyWaves(deployment, current)
	r.publishState(deployment.Name, current, installations)
	if err := r.applyDecision(ctx, deployment, newest, decision, installations); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.prune(ctx, deployment.Name, current.Config, installations); err != nil {
		return reconcile.Result{}, err
	}
	if current.Waiting != nil {
		return reconcile.Result{}, current.Waiting
	}
	return reconcile.Result{RequeueAfter: r.requeueAfter(current, decision)}, nil
}

// handleUndecided publishes the error that prevents a decision, if there is one.
func (r *reconciler) handleUndecided(
	deployment *gardencorev1.ControllerDeployment, current state.Deployment, err error, installations []target,
) (reconcile.Result, error) {
	if err == nil || apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: shortRequeueInterval}, nil
	}
	current.Waiting = err
	r.publishState(deployment.Name, current, installations)
	return reconcile.Result{}, err
}

// prepare carries out what must not wait for a slow registry: it retries a revision, assigns the last good revision to new installations, and rolls
// back bad revisions. It reports whether it has assigned anything.
func (r *reconciler) prepare(ctx context.Context, deployment *gardencorev1.ControllerDeployment, installations []target) (hasAssigned bool, err error) {
	if err := r.retry(ctx, deployment); err != nil {
		return false, err
	}
	config, err := registered.ConfigOf(deployment)
	if err != nil {
		return false, nil //nolint:nilerr // there is nothing to pull; the error is reported by evaluateDeployment
	}
	known, err := r.revisions.List(ctx, deployment.Name)
	if err != nil {
		return false, err
	}
	if origin, err := registered.OriginOf(deployment, config); err != nil || len(known) > 0 && known[0].Origin == origin {
		return false, err
	}
	decision := rollout.Decide(rolloutInput(r.Clock.Now(), config, nil, known, installations))
	if _, isReported := r.State.Deployment(deployment.Name); !isReported {
		config.Chart = nil
		r.publishState(deployment.Name, state.Deployment{Relation: state.Ours, Config: config, Waves: decision.Waves}, installations)
	}
	return len(decision.Assign) > 0, r.assignAll(ctx, decision, time.Time{}, installations)
}

// requeueAfter returns when the decision may change without an event: by a deadline, or because an admin has corrected something that the deployment refers to.
func (r *reconciler) requeueAfter(current state.Deployment, d rollout.Decision) time.Duration {
	if current.Problem == nil {
		return d.RequeueAfter
	}
	if d.RequeueAfter == 0 {
		return r.SyncPeriod
	}
	return min(d.RequeueAfter, r.SyncPeriod)
}

// evaluateDeployment records the content of a deployment as a revision if it is valid. Invalid content and transient errors are returned in the
// state; neither affects earlier decisions.
func (r *reconciler) evaluateDeployment(ctx context.Context, deployment *gardencorev1.ControllerDeployment, current *state.Deployment) *revision.Info {
	var newest *revision.Info
	var err error
	if current.Config, err = registered.ConfigOf(deployment); err == nil {
		newest, err = r.newestRevision(ctx, deployment, current.Config)
		current.Config.Chart = nil // it is in the revision
	}
	found, isProblem := problem.In(err)
	if current.Problem = found; isProblem {
		r.reportProblem(ctx, deployment, found)
	} else {
		current.Waiting = err
	}
	return newest
}

// newestRevision returns the revision of the deployment's present content. The chart is pulled once for each content, so moving a tag later has no effect.
func (r *reconciler) newestRevision(
	ctx context.Context, deployment *gardencorev1.ControllerDeployment, config *installationv1alpha1.ControllerDeploymentConfig,
) (*revision.Info, error) {
	origin, err := registered.OriginOf(deployment, config)
	if err != nil {
		return nil, err
	}
	known, err := r.revisions.List(ctx, deployment.Name)
	if err != nil {
		return nil, err
	}
	if len(known) > 0 && known[0].Origin == origin {
		return &known[0], nil
	}
	content, err := r.Charts.Content(ctx, deployment, config)
	if err != nil {
		return nil, err
	}
	content.Origin = origin
	return r.revisions.Record(ctx, deployment, content)
}

// retry carries out the retry that the annotation requests, and then removes the annotation.
func (r *reconciler) retry(ctx context.Context, deployment *gardencorev1.ControllerDeployment) error {
	name, found := deployment.Annotations[installationv1alpha1.AnnotationRetry]
	if !found {
		return nil
	}
	known, err := r.revisions.List(ctx, deployment.Name)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(known, func(info revision.Info) bool { return info.Name == name && info.Result == revision.Bad })
	if at >= 0 {
		if err := r.revisions.SetResult(ctx, deployment.Name, known[at], revision.Candidate, ""); err != nil {
			return err
		}
		logf.FromContext(ctx).Info("Retrying a revision", "deployment", deployment.Name, "revision", name)
	} else {
		r.Events.Eventf(deployment, nil, corev1.EventTypeWarning, "RetryIgnored", "Retry", "revision %s has not failed", truncate.Text(name, truncate.MaxEvent))
	}
	before := deployment.DeepCopy()
	delete(deployment.Annotations, installationv1alpha1.AnnotationRetry)
	// The patch contains this annotation only, not those that store type and providerConfig.
	if err := r.Client.Patch(ctx, deployment, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing annotation %s: %w", installationv1alpha1.AnnotationRetry, err)
	}
	return nil
}

// publishState publishes the state on which installations depend. The store requeues them if it has changed.
func (r *reconciler) publishState(deployment string, current state.Deployment, installations []target) {
	names := make([]string, 0, len(installations))
	for _, one := range installations {
		names = append(names, one.installation.Name)
	}
	r.State.PublishDeployment(deployment, current, names)
}

// prune removes revisions that are not in use any more.
func (r *reconciler) prune(
	ctx context.Context, deployment string, config *installationv1alpha1.ControllerDeploymentConfig, installations []target,
) error {
	if config == nil {
		return nil
	}
	var inUse []string
	for _, s := range installations {
		inUse = append(inUse, s.installation.Annotations[installationv1alpha1.AnnotationRevision], s.status.Revision)
	}
	return r.revisions.Prune(ctx, deployment, inUse, int(*config.HistoryLimit))
}
