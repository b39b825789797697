package controllerinstallation

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core"
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// newGardenCluster is what watches the garden. An operator in a seed may watch no more than its own installations.
func newGardenCluster(config *rest.Config, mgr manager.Manager, options Options) (cluster.Cluster, error) {
	installations := cache.ByObject{}
	if options.inSeed() {
		installations.Field = fields.OneTermEqualSelector(core.SeedRefName, options.SeedName)
	}
	gardenCluster, err := cluster.New(config, func(o *cluster.Options) {
		o.Scheme, o.Logger = mgr.GetScheme(), mgr.GetLogger()
		o.Cache.DefaultTransform = cache.TransformStripManagedFields()
		o.Cache.ByObject = map[client.Object]cache.ByObject{
			&gardencorev1beta1.ControllerInstallation{}: installations,
			&gardencorev1.ControllerDeployment{}:        {Transform: withoutContent},
			&gardencorev1beta1.Seed{}:                   {Transform: cache.TransformStripManagedFields()},
		}
	})
	if err != nil {
		return nil, fmt.Errorf("preparing to watch the garden: %w", err)
	}
	return gardenCluster, nil
}

// withoutContent leaves of a ControllerDeployment what tells whose it is: the charts of all types would stay in memory otherwise.
func withoutContent(object any) (any, error) {
	deployment, ok := object.(*gardencorev1.ControllerDeployment)
	if !ok {
		return object, nil
	}
	deployment.ManagedFields = nil
	if deployment.Helm != nil {
		deployment.Helm = &gardencorev1.HelmControllerDeployment{}
	}
	delete(deployment.Annotations, gardencorev1.MigrationControllerDeploymentProviderConfig)
	delete(deployment.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
	return deployment, nil
}

// request asks for an object without a namespace.
func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

func deploymentOf(_ context.Context, installation *gardencorev1beta1.ControllerInstallation) []reconcile.Request {
	if installation.Spec.DeploymentRef == nil {
		return nil
	}
	return []reconcile.Request{request(installation.Spec.DeploymentRef.Name)}
}

// installationPredicate leaves out what the operator itself and gardenlet write into the status, but for what keeps an installation from going.
func installationPredicate() predicate.TypedPredicate[*gardencorev1beta1.ControllerInstallation] {
	return onUpdate(func(old, now *gardencorev1beta1.ControllerInstallation) bool {
		return !equality.Semantic.DeepEqual(old.Spec, now.Spec) ||
			!maps.Equal(old.Annotations, now.Annotations) ||
			!equality.Semantic.DeepEqual(old.Finalizers, now.Finalizers) ||
			(old.DeletionTimestamp == nil) != (now.DeletionTimestamp == nil) ||
			required(old) != required(now)
	})
}

func required(installation *gardencorev1beta1.ControllerInstallation) gardencorev1beta1.ConditionStatus {
	condition := v1beta1helper.GetCondition(installation.Status.Conditions, gardencorev1beta1.ControllerInstallationRequired)
	if condition == nil {
		return ""
	}
	return condition.Status
}

// rolloutPredicate lets through what a decision may depend on.
func rolloutPredicate() predicate.TypedPredicate[*gardencorev1beta1.ControllerInstallation] {
	return onUpdate(func(old, now *gardencorev1beta1.ControllerInstallation) bool {
		return assignmentKey(old.Annotations) != assignmentKey(now.Annotations) ||
			!bytes.Equal(raw(old.Status.ProviderStatus), raw(now.Status.ProviderStatus)) ||
			!equality.Semantic.DeepEqual(old.Spec.DeploymentRef, now.Spec.DeploymentRef) ||
			(old.DeletionTimestamp == nil) != (now.DeletionTimestamp == nil)
	})
}

func raw(extension *runtime.RawExtension) []byte {
	if extension == nil {
		return nil
	}
	return extension.Raw
}

func labelsChanged() predicate.TypedPredicate[*gardencorev1beta1.Seed] {
	return onUpdate(func(old, now *gardencorev1beta1.Seed) bool { return !maps.Equal(old.Labels, now.Labels) })
}

// onUpdate lets through all but updates that change nothing of interest.
func onUpdate[T client.Object](changed func(old, now T) bool) predicate.TypedPredicate[T] {
	return predicate.TypedFuncs[T]{UpdateFunc: func(e event.TypedUpdateEvent[T]) bool { return changed(e.ObjectOld, e.ObjectNew) }}
}
