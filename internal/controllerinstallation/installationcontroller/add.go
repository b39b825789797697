package installationcontroller

import (
	"fmt"
	"maps"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/rendering"
)

// Add adds the controller to a manager. The program must begin with rendering.RunIfChild.
func Add(mgr manager.Manager, options Options) error {
	metrics, err := newMetrics(options.Registerer)
	if err != nil {
		return fmt.Errorf("registering metrics of installations: %w", err)
	}
	renderer, err := rendering.New(rendering.Limits{})
	if err != nil {
		return err
	}
	r := &reconciler{
		Options: options, metrics: metrics, identity: newIdentity(options.Client), renderer: renderer,
		seedLimiter: newSeedLimiter(options.Controller.MaxConcurrentReconciles),
	}
	if options.inSeed() {
		r.assigner = newLatestAssigner(options.Client, options.Charts)
	} else {
		r.assigner = newRolloutAssigner(options.State, options.Revisions)
	}
	err = builder.ControllerManagedBy(mgr).
		Named("controllerinstallation").
		WithOptions(options.Controller).
		WatchesRawSource(source.Kind(options.Cache, &gardencorev1beta1.ControllerInstallation{},
			&handler.TypedEnqueueRequestForObject[*gardencorev1beta1.ControllerInstallation]{}, installationPredicate())).
		WatchesRawSource(options.State.ChangedInstallations()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("adding the controller of installations: %w", err)
	}
	return nil
}

// installationPredicate drops updates of the status, which the operator and gardenlet write, except for the condition that keeps an installation from
// being deleted.
func installationPredicate() predicate.TypedPredicate[*gardencorev1beta1.ControllerInstallation] {
	return predicate.TypedFuncs[*gardencorev1beta1.ControllerInstallation]{
		UpdateFunc: func(e event.TypedUpdateEvent[*gardencorev1beta1.ControllerInstallation]) bool {
			old, now := e.ObjectOld, e.ObjectNew
			return !equality.Semantic.DeepEqual(old.Spec, now.Spec) ||
				!maps.Equal(old.Annotations, now.Annotations) ||
				!equality.Semantic.DeepEqual(old.Finalizers, now.Finalizers) ||
				(old.DeletionTimestamp == nil) != (now.DeletionTimestamp == nil) ||
				required(old) != required(now)
		},
	}
}

func required(installation *gardencorev1beta1.ControllerInstallation) gardencorev1beta1.ConditionStatus {
	condition := v1beta1helper.GetCondition(installation.Status.Conditions, gardencorev1beta1.ControllerInstallationRequired)
	if condition == nil {
		return ""
	}
	return condition.Status
}
