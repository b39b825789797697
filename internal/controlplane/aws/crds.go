package aws

import (
	"embed"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane/csi"
)

//go:generate crds/generate.sh
//go:embed crds/*.yaml
var crdFiles embed.FS

// loadBalancerCRDs are the CRDs of the load balancer controller. They are kept when it is disabled: their objects have finalizers that only the controller
// removes, and a user may go on with a controller of their own.
func loadBalancerCRDs() ([]client.Object, error) {
	objects, err := csi.ReadCRDs(crdFiles)
	for _, object := range objects {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[resourcesv1alpha1.KeepObject] = "true"
		object.SetAnnotations(annotations)
	}
	return objects, err
}
