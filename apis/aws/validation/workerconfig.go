package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/fields"
)

// typeIO1 is the type of volumes whose IOPS have to be given.
const typeIO1 = "io1"

// ValidateWorkerConfig checks a configuration by itself and against the volumes of its pool.
func ValidateWorkerConfig(config *v1alpha1.WorkerConfig, pool *WorkerPool, fldPath *field.Path) field.ErrorList {
	errs := fields.NodeTemplate(config.NodeTemplate, fldPath.Child("nodeTemplate"))
	errs = append(errs, validateVolumeConfig(config.Volume, pool.Volume, fldPath.Child("volume"))...)
	errs = append(errs, validateDataVolumeConfigs(config, pool, fldPath.Child("dataVolumes"))...)
	errs = append(errs, validateInstanceProfile(config.IAMInstanceProfile, fldPath.Child("iamInstanceProfile"))...)
	errs = append(errs, validateInstanceMetadata(config.InstanceMetadataOptions, fldPath.Child("instanceMetadataOptions"))...)
	errs = append(errs, validateCPUOptions(config.CpuOptions, fldPath.Child("cpuOptions"))...)
	errs = append(errs, validateCapacityReservation(config.CapacityReservation, fldPath.Child("capacityReservation"))...)
	errs = append(errs, validateNetworkInterfaces(config.NetworkInterfaces, fldPath.Child("networkInterfaces"))...)
	errs = append(errs, validatePlacement(config.Placement, fldPath.Child("placement"))...)
	return append(errs, validateMarket(config.InstanceMarketOptions, fldPath.Child("instanceMarketOptions"))...)
}

func validateVolumeConfig(config *v1alpha1.Volume, volume *Volume, path *field.Path) field.ErrorList {
	if config == nil {
		config = &v1alpha1.Volume{}
	}
	return validatePerformance(config.IOPS, config.Throughput, volume, path)
}

func validatePerformance(iops, throughput *int32, volume *Volume, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case iops != nil && *iops <= 0:
		errs = append(errs, field.Invalid(path.Child("iops"), *iops, "give a number of operations per second that is greater than 0, or remove the field"))
	case iops == nil && volume != nil && volume.Type != nil && *volume.Type == typeIO1:
		errs = append(errs, field.Required(path.Child("iops"), "volumes of type io1 need it: give the number of operations per second, or choose another type"))
	}
	if throughput != nil && *throughput <= 0 {
		errs = append(errs, field.Invalid(path.Child("throughput"), *throughput, "give a number of MiB/s that is greater than 0, or remove the field"))
	}
	return errs
}

func validateDataVolumeConfigs(config *v1alpha1.WorkerConfig, pool *WorkerPool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, volumes, snapshot := fields.Seen[string]{}, map[string]*Volume{}, snapshotID()
	for i := range pool.DataVolumes {
		volumes[pool.DataVolumes[i].Name] = &pool.DataVolumes[i]
	}
	for i, volume := range config.DataVolumes {
		entry := path.Index(i)
		if names.IsDuplicate(volume.Name) {
			errs = append(errs, fields.Duplicate(entry.Child("name"), volume.Name))
		}
		if volumes[volume.Name] == nil {
			errs = append(errs, field.Invalid(entry.Child("name"), volume.Name, "the pool has no such data volume: correct the name, or remove the entry"))
		}
		errs = append(errs, validatePerformance(volume.IOPS, volume.Throughput, volumes[volume.Name], entry)...)
		errs = append(errs, snapshot.validateOptional(volume.SnapshotID, entry.Child("snapshotID"))...)
	}
	for i := range pool.DataVolumes {
		volume := &pool.DataVolumes[i]
		if volume.Type != nil && *volume.Type == typeIO1 && !names[volume.Name] {
			errs = append(errs, field.Required(path, fmt.Sprintf("data volume %q is of type io1: add an entry for it with iops, or choose another type", volume.Name)))
		}
	}
	return errs
}

func validateInstanceProfile(profile *v1alpha1.IAMInstanceProfile, path *field.Path) field.ErrorList {
	if profile == nil {
		return nil
	}
	var errs field.ErrorList
	switch {
	case profile.Name == nil && profile.ARN == nil:
		errs = append(errs, field.Required(path, "give the name or the arn of an instance profile, or remove the field"))
	case profile.Name != nil && profile.ARN != nil:
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "name and arn cannot both be given: remove one of the two"))
	}
	errs = append(errs, instanceProfileName().validateOptional(profile.Name, path.Child("name"))...)
	return append(errs, instanceProfileARN().validateOptional(profile.ARN, path.Child("arn"))...)
}
