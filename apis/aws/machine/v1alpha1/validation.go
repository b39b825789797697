package v1alpha1

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate checks what AWS does not check itself before it creates something, and what the driver relies on. It requires what the existing machine driver
// requires, except that it knows all volume types.
func (s *ProviderSpec) Validate(fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, required := range []struct{ name, value, remedy string }{
		{"ami", s.AMI, "give the ID of the image"},
		{"region", s.Region, "give the region"},
		{"machineType", s.MachineType, "give the EC2 instance type"},
	} {
		if required.value == "" {
			errs = append(errs, field.Required(fldPath.Child(required.name), required.remedy))
		}
	}
	switch path := fldPath.Child("iam"); {
	case s.IAM.Name == "" && s.IAM.ARN == "":
		errs = append(errs, field.Required(path, "give the name or the ARN of the instance profile"))
	case s.IAM.Name != "" && s.IAM.ARN != "":
		errs = append(errs, field.Forbidden(path.Child("name"), "the ARN says it already: remove one of the two"))
	}
	errs = append(errs, s.validateBlockDevices(fldPath.Child("blockDevices"))...)
	errs = append(errs, s.validateNetworkInterfaces(fldPath.Child("networkInterfaces"))...)
	errs = append(errs, s.validateTags(fldPath.Child("tags"))...)
	errs = append(errs, s.CapacityReservation.validate(fldPath.Child("capacityReservation"))...)
	errs = append(errs, s.InstanceMetadataOptions.validate(fldPath.Child("instanceMetadataOptions"))...)
	return append(errs, s.CPUOptions.validate(fldPath.Child("cpuOptions"))...)
}

// validateTags requires the tags by which machines are found.
func (s *ProviderSpec) validateTags(path *field.Path) field.ErrorList {
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

// deviceNamePattern matches the names of devices that AWS recommends, see
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/device_naming.html.
const deviceNamePattern = `^/dev/(sd[a-z]|xvd[a-c][a-z]?)$`

func volumeTypes() []string { return []string{"gp2", "gp3", "io1", "io2", "st1", "sc1", "standard"} }

func (s *ProviderSpec) validateBlockDevices(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	pattern := regexp.MustCompile(deviceNamePattern)
	names := map[string]bool{}
	for i, device := range s.BlockDevices {
		entry := path.Index(i)
		switch {
		case names[device.DeviceName]:
			errs = append(errs, field.Duplicate(entry.Child("deviceName"), device.DeviceName))
		case len(s.BlockDevices) > 1 && device.DeviceName != RootDevice && !pattern.MatchString(device.DeviceName):
			errs = append(errs, field.Invalid(entry.Child("deviceName"), device.DeviceName, "give "+RootDevice+", or a name such as /dev/sdf: "+deviceNamePattern))
		}
		names[device.DeviceName] = true
		errs = append(errs, device.EBS.validate(entry.Child("ebs"))...)
	}
	if len(s.BlockDevices) > 1 && !names[RootDevice] {
		errs = append(errs, field.Required(path, "add the volume with the deviceName "+RootDevice))
	}
	return errs
}

func (e EBS) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if !slices.Contains(volumeTypes(), e.VolumeType) {
		errs = append(errs, field.NotSupported(path.Child("volumeType"), e.VolumeType, volumeTypes()))
	}
	if e.VolumeSize <= 0 {
		errs = append(errs, field.Invalid(path.Child("volumeSize"), e.VolumeSize, "give a size in GiB, at least 1"))
	}
	if provisioned := e.VolumeType == "io1" || e.VolumeType == "io2"; e.Iops < 0 || provisioned && e.Iops == 0 {
		errs = append(errs, field.Invalid(path.Child("iops"), e.Iops, "give the operations per second: volumes of the types io1 and io2 need them"))
	}
	if e.Throughput != nil && *e.Throughput <= 0 {
		errs = append(errs, field.Invalid(path.Child("throughput"), *e.Throughput, "give a throughput in MiB/s, or none"))
	}
	return errs
}

func (s *ProviderSpec) validateNetworkInterfaces(path *field.Path) field.ErrorList {
	if len(s.NetworkInterfaces) == 0 {
		return field.ErrorList{field.Required(path, "add an interface")}
	}
	var errs field.ErrorList
	for i, one := range s.NetworkInterfaces {
		entry := path.Index(i)
		if one.SubnetID == "" {
			errs = append(errs, field.Required(entry.Child("subnetID"), "give the ID of the subnet"))
		}
		if len(one.SecurityGroupIDs) == 0 {
			errs = append(errs, field.Required(entry.Child("securityGroupIDs"), "give the ID of a security group"))
		}
		for j, id := range one.SecurityGroupIDs {
			if id == "" {
				errs = append(errs, field.Required(entry.Child("securityGroupIDs").Index(j), "give the ID of a security group"))
			}
		}
	}
	return errs
}

func (c *CapacityReservation) validate(path *field.Path) field.ErrorList {
	if c == nil {
		return nil
	}
	targeted := c.CapacityReservationID != nil || c.CapacityReservationResourceGroupArn != nil
	var errs field.ErrorList
	if preference := c.CapacityReservationPreference; targeted && preference != "" && preference != ReservationsOnly {
		errs = append(errs, field.Forbidden(path.Child("capacityReservationPreference"), "a certain reservation is to be used: remove it, or choose "+ReservationsOnly))
	}
	if c.CapacityReservationID != nil && c.CapacityReservationResourceGroupArn != nil {
		errs = append(errs, field.Forbidden(path.Child("capacityReservationResourceGroupArn"), "a certain reservation is to be used: remove one of the two"))
	}
	return errs
}

// ReservationsOnly is the preference for machines that must be within a reservation.
const ReservationsOnly = "capacity-reservations-only"

// maxHopLimit is EC2's, see
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceMetadataOptionsRequest.html.
const maxHopLimit = 64

func (o *InstanceMetadataOptions) validate(path *field.Path) field.ErrorList {
	if o == nil {
		return nil
	}
	var errs field.ErrorList
	if limit := o.HTTPPutResponseHopLimit; limit != nil && (*limit < 0 || *limit > maxHopLimit) {
		errs = append(errs, field.Invalid(path.Child("httpPutResponseHopLimit"), *limit, fmt.Sprintf("give a number from 0 to %d", maxHopLimit)))
	}
	for _, choice := range []struct {
		name, value string
		of          []string
	}{
		{"httpEndpoint", o.HTTPEndpoint, []string{"disabled", "enabled"}},
		{"httpTokens", o.HTTPTokens, []string{"optional", "required"}},
		{"httpProtocolIpv6", o.HTTPProtocolIPv6, []string{"disabled", "enabled"}},
	} {
		if choice.value != "" && !slices.Contains(choice.of, choice.value) {
			errs = append(errs, field.NotSupported(path.Child(choice.name), choice.value, choice.of))
		}
	}
	return errs
}

// validate wants the numbers of cores and threads both or not at all. Neither is needed for AMD SEV-SNP.
func (o *CPUOptions) validate(path *field.Path) field.ErrorList {
	if o == nil || o.AMDSEVSNP != nil && o.CoreCount == nil && o.ThreadsPerCore == nil {
		return nil
	}
	var errs field.ErrorList
	if o.CoreCount == nil {
		errs = append(errs, field.Required(path.Child("coreCount"), "give the number of cores"))
	}
	switch {
	case o.ThreadsPerCore == nil:
		errs = append(errs, field.Required(path.Child("threadsPerCore"), "give the threads of a core"))
	case *o.ThreadsPerCore < 1 || *o.ThreadsPerCore > 2:
		errs = append(errs, field.Invalid(path.Child("threadsPerCore"), *o.ThreadsPerCore, "give 1 or 2"))
	}
	return errs
}
