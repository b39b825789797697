package landscape

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reference is a Secret or a ConfigMap that a ControllerDeployment refers to. All are in the namespace garden.
type Reference struct{ Kind, Name string }

// String is how people write it: Secret garden/cat.
func (r Reference) String() string {
	return r.Kind + " " + v1beta1constants.GardenNamespace + "/" + r.Name
}

func (r Reference) compare(other Reference) int {
	return cmp.Or(cmp.Compare(r.Kind, other.Kind), cmp.Compare(r.Name, other.Name))
}

// referencesOf returns what a deployment refers to, each once.
func referencesOf(deployment *gardencorev1.ControllerDeployment) []Reference {
	var references []Reference
	for _, resource := range deployment.Resources {
		references = append(references, Reference{resource.ResourceRef.Kind, resource.ResourceRef.Name})
	}
	slices.SortFunc(references, Reference.compare)
	return slices.Compact(references)
}

// readReferences tells of each that any of the deployments refers to whether it is there. What may not be looked at is left out.
func readReferences(ctx context.Context, c client.Reader, deployments []gardencorev1.ControllerDeployment) (map[Reference]bool, error) {
	there := map[Reference]bool{}
	for i := range deployments {
		for _, reference := range referencesOf(&deployments[i]) {
			object := &metav1.PartialObjectMetadata{}
			object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(reference.Kind))
			err := c.Get(ctx, client.ObjectKey{Namespace: v1beta1constants.GardenNamespace, Name: reference.Name}, object)
			switch {
			case err == nil || apierrors.IsNotFound(err):
				there[reference] = err == nil
			case !apierrors.IsForbidden(err):
				return nil, fmt.Errorf("looking for %s in the virtual garden: %w", reference, err)
			}
		}
	}
	return there, nil
}
