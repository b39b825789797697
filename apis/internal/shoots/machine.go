package shoots

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/internal/machineimage"
)

// Machine has the fields of a pool that determine its image.
type Machine struct{ Type, Architecture, Image, Version string }

// MachineOf returns the fields as they are in a Shoot.
func MachineOf(worker *gardencorev1beta1.Worker) Machine {
	result := Machine{Type: worker.Machine.Type}
	if architecture := worker.Machine.Architecture; architecture != nil {
		result.Architecture = *architecture
	}
	if image := worker.Machine.Image; image != nil {
		result.Image = image.Name
		if image.Version != nil {
			result.Version = *image.Version
		}
	}
	return result
}

// validateImage rejects a version of an image that the CloudProfile has in other regions only, since images are rolled out region by region. It is for
// new machines: the Worker controller records the images of existing ones. count is the lookup of the Worker controller. path is the pool's.
func (m Machine) validateImage(region string, in *gardencorev1beta1.CloudProfileSpec, count machineimage.Count, path *field.Path) field.ErrorList {
	if m.Version == "" {
		return nil
	}
	query := machineimage.Query{Name: m.Image, Version: m.Version, Region: region, Architecture: m.Architecture, Definitions: in.MachineCapabilities}
	isType := func(machineType gardencorev1beta1.MachineType) bool { return machineType.Name == m.Type }
	if i := slices.IndexFunc(in.MachineTypes, isType); i >= 0 {
		query.Capabilities = in.MachineTypes[i].Capabilities
	}
	if count(query) > 0 {
		return nil
	}
	var elsewhere []string
	for _, other := range in.Regions {
		query.Region = other.Name
		if count(query) > 0 {
			elsewhere = append(elsewhere, other.Name)
		}
	}
	if len(elsewhere) == 0 { // an error of the CloudProfile, or rejected by Gardener
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("machine", "image", "version"), m.Version, fmt.Sprintf(
		"the CloudProfile has %s of this version for such machines in %s, and not in %q: choose another version, or ask its admin to map the image there",
		m.Image, strings.Join(fields.Quoted(elsewhere), ", "), region))}
}

// ImageRule returns the rule of a region for the images of pools, see validateImage. It accepts everything if the CloudProfile is not known.
func ImageRule(region string, in *gardencorev1beta1.CloudProfileSpec, count machineimage.Count) func(Machine, *field.Path) field.ErrorList {
	return func(machine Machine, path *field.Path) field.ErrorList {
		if in == nil || count == nil {
			return nil
		}
		return machine.validateImage(region, in, count, path)
	}
}
