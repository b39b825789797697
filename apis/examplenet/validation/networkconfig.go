// Package validation validates a configuration of the example network plugin without reading anything else. Every error names the field and the remedy.
package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/examplenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/codec"
)

// ServiceRouting tells users how to let the plugin route Services.
const ServiceRouting = "set spec.networking.providerConfig.agent to true"

// ValidateNetworkConfig rejects what can never be deployed. It expects a configuration as users wrote it, before defaults.
func ValidateNetworkConfig(config *v1alpha1.NetworkConfig, fldPath *field.Path) field.ErrorList {
	supported := []v1alpha1.Encapsulation{v1alpha1.EncapsulationVXLAN, v1alpha1.EncapsulationIPIP, v1alpha1.EncapsulationNone}
	if config.Encapsulation != "" && !slices.Contains(supported, config.Encapsulation) {
		return field.ErrorList{field.NotSupported(fldPath.Child("encapsulation"), config.Encapsulation, supported)}
	}
	return nil
}

// DecodingErrors converts the error of a Decode function of v1alpha1 into errors below path: one for each invalid field.
func DecodingErrors(path *field.Path, err error) field.ErrorList { return codec.FieldErrors(path, err) }
