package v1alpha1

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate checks a configuration as DecodeMachineProviderConfig returns it. It requires what the existing machine driver requires,
// except the key pair, which shoots without SSH access do not have.
func (c *MachineProviderConfig) Validate(fldPath *field.Path) field.ErrorList {
	spec, path := &c.Spec, fldPath.Child("spec")
	var errs field.ErrorList
	for _, required := range []struct{ name, value, remedy string }{
		{"region", spec.Region, "give the region"},
		{"availabilityZone", spec.AvailabilityZone, "give Nova's availability zone"},
		{"flavorName", spec.FlavorName, "give the name of the flavor"},
		{"imageID", spec.ImageID + spec.ImageName, "give the ID of the image, or its name in imageName"},
	} {
		if required.value == "" {
			errs = append(errs, field.Required(path.Child(required.name), required.remedy))
		}
	}
	errs = append(errs, spec.validateTags(path.Child("tags"))...)
	errs = append(errs, spec.validateNetworks(path)...)
	return append(errs, spec.validateVolumes(path)...)
}

// validateTags requires the tags by which machines are found.
func (s *MachineProviderConfigSpec) validateTags(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, prefix := range []string{TagClusterPrefix, TagRolePrefix} {
		found := false
		for key := range s.Tags {
			found = found || len(key) > len(prefix) && strings.HasPrefix(key, prefix)
		}
		if !found {
			errs = append(errs, field.Required(path, "machines are found by it: add a tag that begins with "+prefix))
		}
	}
	return errs
}

func (s *MachineProviderConfigSpec) validateNetworks(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case s.NetworkID == "" && len(s.Networks) == 0:
		errs = append(errs, field.Required(path.Child("networkID"), "give the ID of the network, or several networks in networks"))
	case s.NetworkID != "" && len(s.Networks) > 0:
		errs = append(errs, field.Forbidden(path.Child("networkID"), "networks says it already: remove one of the two"))
	}
	for i, network := range s.Networks {
		entry := path.Child("networks").Index(i)
		switch {
		case network.ID == "" && network.Name == "":
			errs = append(errs, field.Required(entry.Child("id"), "give the ID of the network, or its name"))
		case network.ID != "" && network.Name != "":
			errs = append(errs, field.Forbidden(entry.Child("name"), "the ID says it already: remove one of the two"))
		}
	}
	if len(s.PodNetworkCIDRs) == 0 {
		errs = append(errs, field.Required(path.Child("podNetworkCIDRs"), "give the ranges of pods"))
	}
	return errs
}

func (s *MachineProviderConfigSpec) validateVolumes(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.RootDiskSize < 0 {
		errs = append(errs, field.Invalid(path.Child("rootDiskSize"), s.RootDiskSize, "give a size in GB, or 0 for the flavor's own disk"))
	}
	names := map[string]bool{}
	for i, volume := range s.DataVolumes {
		entry := path.Child("dataVolumes").Index(i)
		switch {
		case volume.Name == "":
			errs = append(errs, field.Required(entry.Child("name"), "give a name that tells the machine's volumes apart"))
		case names[volume.Name]:
			errs = append(errs, field.Duplicate(entry.Child("name"), volume.Name))
		}
		names[volume.Name] = true
		if volume.Size <= 0 {
			errs = append(errs, field.Invalid(entry.Child("size"), volume.Size, "give a size in GB, at least 1"))
		}
	}
	return errs
}
