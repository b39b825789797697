package validation

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// machine has the fields of a pool that determine its image.
type machine struct{ Type, Architecture, Image, Version string }

func machineOf(worker *gardencorev1beta1.Worker) machine {
	result := machine{Type: worker.Machine.Type}
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

// validateImage rejects a version of an image that the CloudProfile has in other regions only, since images are rolled out region by region. It uses
// the lookup of the Worker controller. It is for new machines: the controller records the images of existing ones.
func (in ShootValidationContext) validateImage(wanted machine, region string, path *field.Path) field.ErrorList {
	if in.Profile == nil || in.Spec == nil || wanted.Version == "" {
		return nil
	}
	query := v1alpha1.ImageQuery{
		Name: wanted.Image, Version: wanted.Version, Region: region, Architecture: wanted.Architecture, Definitions: in.Spec.MachineCapabilities,
	}
	isType := func(machineType gardencorev1beta1.MachineType) bool { return machineType.Name == wanted.Type }
	if i := slices.IndexFunc(in.Spec.MachineTypes, isType); i >= 0 {
		query.Capabilities = in.Spec.MachineTypes[i].Capabilities
	}
	if len(in.Profile.BestMachineImages(query)) > 0 {
		return nil
	}
	var elsewhere []string
	for _, other := range in.Spec.Regions {
		query.Region = other.Name
		if len(in.Profile.BestMachineImages(query)) > 0 {
			elsewhere = append(elsewhere, other.Name)
		}
	}
	if len(elsewhere) == 0 { // an error of the CloudProfile, or rejected by Gardener
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("machine", "image", "version"), wanted.Version, fmt.Sprintf(
		"the CloudProfile has %s of this version for such machines in %s, and not in %q: choose another version, or ask its admin to map the image there",
		wanted.Image, strings.Join(quoted(elsewhere), ", "), region))}
}
