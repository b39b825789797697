package workload

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
)

// Apply brings the objects into the seed: namespace, access to the garden, ManagedResource. Nothing is written when all is as it should be, nor when
// the ManagedResource cannot be written: one that is being deleted has to be gone first, and one that belongs to somebody else is left alone. objects
// are those that Complete has completed. An object that is too large is a problem.Problem (ChartTooLarge); all other errors go away by themselves or
// with what they name.
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
