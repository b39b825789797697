package aws

import (
	"embed"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/definitions"
)

//go:generate crds/generate.sh
//go:embed crds/*.yaml
var crdFiles embed.FS

// loadBalancerCRDs are the CRDs of the load balancer controller. They are kept when it is disabled: their objects have finalizers that only the controller
// removes, and a user may go on with a controller of their own.
func loadBalancerCRDs() ([]*unstructured.Unstructured, error) {
	crds, err := definitions.Read(crdFiles, "crds")
	definitions.Keep(crds)
	return crds, err
}
