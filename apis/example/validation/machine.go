package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
)

// ValidateMachineProviderSpec validates the description of machines of a MachineClass.
func ValidateMachineProviderSpec(spec *v1alpha1.MachineProviderSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, required := range []struct{ name, value, remedy string }{
		{"owner", spec.Owner, "give the UID of the shoot"},
		{"zone", spec.Zone, "give the zone"},
		{"network", spec.Network, "give the ID of the network"},
		{"machineType", spec.MachineType, "give the machine type"},
		{"image", spec.Image, "give the name of the image"},
	} {
		if required.value == "" {
			errs = append(errs, field.Required(path.Child(required.name), required.remedy))
		}
	}
	return errs
}
