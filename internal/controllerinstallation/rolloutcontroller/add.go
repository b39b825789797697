package rolloutcontroller

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
)

// Add adds the controller to a manager.
func Add(mgr manager.Manager, options Options) error {
	metrics, err := newMetrics(options.Registerer)
	if err != nil {
		return fmt.Errorf("registering metrics of rollouts: %w", err)
	}
	r := &reconciler{Options: options, revisions: revision.Store{Client: options.Client}, metrics: metrics}
	err = builder.ControllerManagedBy(mgr).
		Named("controllerdeployment").
		WithOptions(options.Controller).
		WatchesRawSource(source.Kind(options.Cache, &gardencorev1.ControllerDeployment{},
			&handler.TypedEnqueueRequestForObject[*gardencorev1.ControllerDeployment]{})).
		WatchesRawSource(source.Kind(options.Cache, &gardencorev1beta1.ControllerInstallation{},
			handler.TypedEnqueueRequestsFromMapFunc(deploymentOf), installationPredicate())).
		WatchesRawSource(source.Kind(options.Cache, &gardencorev1beta1.Seed{},
			handler.TypedEnqueueRequestsFromMapFunc(r.ownDeployments), seedPredicate())).
		WatchesRawSource(options.State.ChangedDeployments()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("adding the controller of rollouts: %w", err)
	}
	return nil
}

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

func deploymentOf(_ context.Context, installation *gardencorev1beta1.ControllerInstallation) []reconcile.Request {
	if installation.Spec.DeploymentRef == nil {
		return nil
	}
	return []reconcile.Request{request(installation.Spec.DeploymentRef.Name)}
}

// ownDeployments requests all deployments of the operator, since the seed may belong to another wave after its labels changed.
func (r *reconciler) ownDeployments(context.Context, *gardencorev1beta1.Seed) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range r.State.OwnDeployments() {
		requests = append(requests, request(name))
	}
	return requests
}

// installationPredicate drops updates that no decision depends on.
func installationPredicate() predicate.TypedPredicate[*gardencorev1beta1.ControllerInstallation] {
	return predicate.TypedFuncs[*gardencorev1beta1.ControllerInstallation]{
		UpdateFunc: func(e event.TypedUpdateEvent[*gardencorev1beta1.ControllerInstallation]) bool {
			old, now := e.ObjectOld, e.ObjectNew
			return state.AssignmentKey(old.Annotations) != state.AssignmentKey(now.Annotations) ||
				!bytes.Equal(raw(old.Status.ProviderStatus), raw(now.Status.ProviderStatus)) ||
				!equality.Semantic.DeepEqual(old.Spec.DeploymentRef, now.Spec.DeploymentRef) ||
				(old.DeletionTimestamp == nil) != (now.DeletionTimestamp == nil)
		},
	}
}

func raw(extension *runtime.RawExtension) []byte {
	if extension == nil {
		return nil
	}
	return extension.Raw
}

// seedPredicate drops updates that do not change labels.
func seedPredicate() predicate.TypedPredicate[*gardencorev1beta1.Seed] {
	return predicate.TypedFuncs[*gardencorev1beta1.Seed]{UpdateFunc: func(e event.TypedUpdateEvent[*gardencorev1beta1.Seed]) bool {
		return !maps.Equal(e.ObjectOld.Labels, e.ObjectNew.Labels)
	}}
}
