package workload

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
)

// Apply applies the objects of an installation in the seed: namespace, access to the garden, ManagedResource. It writes nothing if all is up to date,
// or if the ManagedResource is being deleted or has another owner. objects are those that Complete has completed. An object that is too large is a
// problem.Problem (ChartTooLarge); all other errors are transient, or disappear with the object that they name.
func Apply(
	ctx context.Context, cluster *seeds.Cluster, installation Installation, garden Garden, facts *SeedFacts, objects []*unstructured.Unstructured,
) error {
	c := cluster.Client
	resource, err := readManagedResource(ctx, c, installation.Name)
	if err != nil {
		return err
	}
	if err := checkWritable(resource, installation.Name); err != nil {
		return err
	}
	content, err := contentSecrets(installation, objects)
	if err != nil {
		return err
	}
	var kubeconfigs []*corev1.Secret
	if installation.InjectGardenKubeconfig {
		kubeconfig, err := kubeconfigSecret(installation, garden)
		if err != nil {
			return err
		}
		kubeconfigs = append(kubeconfigs, kubeconfig)
	}

	if err := applyNamespace(ctx, c, installation, facts); err != nil {
		return err
	}
	if err := createIfMissing(ctx, c, kubeconfigs...); err != nil {
		return err
	}
	if err := applyAccess(ctx, c, installation, needsGardenAccess(installation, objects)); err != nil {
		return err
	}
	if err := createIfMissing(ctx, c, content...); err != nil {
		return err
	}
	return applyManagedResource(ctx, c, resource, installation, content)
}
