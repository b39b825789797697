package rolloutcontroller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// applyDecision carries out a decision about the newest revision. The result of the evaluation is written first: if the operator ends after that, it makes the same decision again.
func (r *reconciler) applyDecision(
	ctx context.Context, deployment *gardencorev1.ControllerDeployment, newest *revision.Info, d rollout.Decision, installations []target,
) error {
	r.metrics.rollout(deployment.Name, d.Progress, newest != nil && newest.Message != "")
	if err := r.recordResult(ctx, deployment, newest, d); err != nil {
		return err
	}
	for _, name := range d.Check {
		r.State.RequestCheck(name)
	}
	var trial time.Time
	if newest != nil {
		trial = newest.Since
	}
	return r.assignAll(ctx, d, trial, installations)
}

// assignAll carries out the assignments of a decision, which belongs to a trial of the newest revision.
func (r *reconciler) assignAll(ctx context.Context, d rollout.Decision, trial time.Time, installations []target) error {
	byName := map[string]*gardencorev1beta1.ControllerInstallation{}
	for _, one := range installations {
		byName[one.installation.Name] = one.installation
	}
	var failures []error
	for _, name := range slices.Sorted(maps.Keys(d.Assign)) {
		failures = append(failures, r.assign(ctx, byName[name], d.Assign[name], d.Before[name], trial))
	}
	return errors.Join(failures...)
}

func (r *reconciler) recordResult(ctx context.Context, deployment *gardencorev1.ControllerDeployment, newest *revision.Info, d rollout.Decision) error {
	if !d.Good && !d.Bad {
		return nil
	}
	result, eventType, event := revision.Good, corev1.EventTypeNormal, "RolledOut"
	if d.Bad {
		result, eventType, event = revision.Bad, corev1.EventTypeWarning, "RevisionFailed"
	}
	if err := r.revisions.SetResult(ctx, deployment.Name, *newest, result, d.Reason); err != nil {
		return err
	}
	logf.FromContext(ctx).Info("Revision evaluated", "revision", newest.Name, "result", result, "reason", d.Reason)
	r.Events.Eventf(deployment, nil, eventType, event, "RevisionEvaluated", "%s", truncate.Text(fmt.Sprintf("revision %s: %s", newest.Name, d.Progress.Message), truncate.MaxEvent))
	return nil
}

// assign writes the assigned revision and the present health into annotations of an installation.
func (r *reconciler) assign(
	ctx context.Context, installation *gardencorev1beta1.ControllerInstallation, name string, before rollout.Before, trial time.Time,
) error {
	changed := installation.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, installationv1alpha1.AnnotationRevisionBefore, string(before))
	delete(changed.Annotations, installationv1alpha1.AnnotationRevisionTrial)
	if !trial.IsZero() {
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, installationv1alpha1.AnnotationRevisionTrial, trial.UTC().Format(time.RFC3339Nano))
	}
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, installationv1alpha1.AnnotationRevision, name)
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, installationv1alpha1.AnnotationRevisionSince, r.Clock.Now().UTC().Format(time.RFC3339))
	patch := client.MergeFromWithOptions(installation, client.MergeFromWithOptimisticLock{})
	switch err := r.Client.Patch(ctx, changed, patch); {
	case apierrors.IsConflict(err):
		return err // a conflict means that the decision may be out of date
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("assigning revision %s to ControllerInstallation %s: %w", name, installation.Name, err)
	}
	logf.FromContext(ctx).Info("Revision assigned", "installation", installation.Name, "seed", installation.Spec.SeedRef.Name, "revision", name,
		"health", before, "before", installation.Annotations[installationv1alpha1.AnnotationRevision])
	return nil
}

// reportProblem reports a problem of a deployment by an event, once.
func (r *reconciler) reportProblem(ctx context.Context, deployment *gardencorev1.ControllerDeployment, found *problem.Problem) {
	if before, known := r.State.Deployment(deployment.Name); known && problem.Equal(before.Problem, found) {
		return
	}
	logf.FromContext(ctx).Info("The ControllerDeployment cannot be installed", "reason", found.Reason, "message", found.Message)
	r.Events.Eventf(deployment, nil, corev1.EventTypeWarning, found.Reason, "ConfigValidated", "%s", truncate.Text(found.Message, truncate.MaxEvent))
}

// reportEmptyWaves reports waves that select no installation by an event, once.
func (r *reconciler) reportEmptyWaves(deployment *gardencorev1.ControllerDeployment, current state.Deployment) {
	if before, known := r.State.Deployment(deployment.Name); len(current.EmptyWaves) == 0 || known && slices.Equal(before.EmptyWaves, current.EmptyWaves) {
		return
	}
	r.Events.Eventf(deployment, nil, corev1.EventTypeWarning, "WaveEmpty", "Rollout", "%s", truncate.Text(emptyNote(current.EmptyWaves), truncate.MaxEvent))
}

// recordVanishedSeeds records with a candidate which seeds are deleted while they are failing with it, and reports them by an event, once.
func (r *reconciler) recordVanishedSeeds(
	ctx context.Context, deployment *gardencorev1.ControllerDeployment, newest *revision.Info, installations []target,
) error {
	seeds := vanishedSeeds(newest, installations)
	if len(seeds) == 0 {
		return nil
	}
	message := vanishedSeedsMessage(newest.Message, seeds)
	if message == "" {
		return nil
	}
	if err := r.revisions.SetMessage(ctx, deployment.Name, newest.Name, message); err != nil {
		return err
	}
	newest.Message = message
	r.Events.Eventf(deployment, nil, corev1.EventTypeWarning, "SeedVanished", "Rollout", "%s",
		truncate.Text(fmt.Sprintf("revision %s: %s", newest.Name, message), truncate.MaxEvent))
	return nil
}
