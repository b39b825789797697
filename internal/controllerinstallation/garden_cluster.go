package controllerinstallation

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core"
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// newGardenCluster returns the cluster object whose cache watches the garden. An operator in a seed may only watch its own installations.
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

// withoutContent keeps only the fields of a ControllerDeployment that identify its type. Otherwise the cache would hold the charts of all deployments.
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
