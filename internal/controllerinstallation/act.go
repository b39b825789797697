package controllerinstallation

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
)

// act carries a decision about the newest revision out. The verdict comes first: should the operator end in between, it decides the same again.
func (r *rollouts) act(
	ctx context.Context, deployment *gardencorev1.ControllerDeployment, newest *revision.Info, d rollout.Decision, installations []served,
) error {
	r.metrics.rollout(deployment.Name, d.Progress)
	if err := r.judge(ctx, deployment, newest, d); err != nil {
		return err
	}
	for _, name := range d.Look {
		if r.watch.ask(name) {
			r.notify(ctx, name)
		}
	}
	return r.assignAll(ctx, d, installations)
}

func (r *rollouts) assignAll(ctx context.Context, d rollout.Decision, installations []served) error {
	byName := map[string]*gardencorev1beta1.ControllerInstallation{}
	for _, one := range installations {
		byName[one.installation.Name] = one.installation
	}
	var failures []error
	for _, name := range slices.Sorted(maps.Keys(d.Assign)) {
		failures = append(failures, r.assign(ctx, byName[name], d.Assign[name]))
	}
	return errors.Join(failures...)
}

func (r *rollouts) judge(ctx context.Context, deployment *gardencorev1.ControllerDeployment, newest *revision.Info, d rollout.Decision) error {
	if !d.Good && !d.Bad {
		return nil
	}
	verdict, eventType, event := revision.Good, corev1.EventTypeNormal, "RolledOut"
	if d.Bad {
		verdict, eventType, event = revision.Bad, corev1.EventTypeWarning, "RevisionFailed"
	}
	if err := r.store.Judge(ctx, deployment.Name, *newest, verdict, d.Reason); err != nil {
		return err
	}
	logf.FromContext(ctx).Info("Revision judged", "revision", newest.Name, "verdict", verdict, "reason", d.Reason)
	r.events.Eventf(deployment, nil, eventType, event, "Judge", "%s", shortened(fmt.Sprintf("revision %s: %s", newest.Name, d.Progress.Message)))
	return nil
}

// assign writes at an installation which revision it is to have.
func (r *rollouts) assign(ctx context.Context, installation *gardencorev1beta1.ControllerInstallation, name string) error {
	changed := installation.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, installationv1alpha1.AnnotationRevision, name)
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, installationv1alpha1.AnnotationRevisionSince, r.Clock.Now().UTC().Format(time.RFC3339))
	patch := client.MergeFromWithOptions(installation, client.MergeFromWithOptimisticLock{})
	switch err := r.garden.Patch(ctx, changed, patch); {
	case apierrors.IsConflict(err):
		return err // it has changed since; what was decided may not hold any more
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("assigning revision %s to ControllerInstallation %s: %w", name, installation.Name, err)
	}
	logf.FromContext(ctx).Info("Revision assigned", "installation", installation.Name, "seed", installation.Spec.SeedRef.Name, "revision", name,
		"before", installation.Annotations[installationv1alpha1.AnnotationRevision])
	return nil
}

// tellProblem says once what is wrong with what a deployment says.
func (r *rollouts) tellProblem(ctx context.Context, deployment *gardencorev1.ControllerDeployment, found *problem.Problem) {
	if before, known := r.board.read(deployment.Name); known && sameProblem(before.problem, found) {
		return
	}
	logf.FromContext(ctx).Info("What is registered cannot be installed", "reason", found.Reason, "message", found.Message)
	r.events.Eventf(deployment, nil, corev1.EventTypeWarning, found.Reason, "Read", "%s", shortened(found.Message))
}
