package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
)

// validSpec is a specification that says all that a machine needs.
func validSpec() *v1alpha1.ProviderSpec {
	return &v1alpha1.ProviderSpec{
		AMI: "ami-1", Region: "eu-west-1", MachineType: "m5.large", IAM: v1alpha1.InstanceProfile{Name: "nodes"},
		NetworkInterfaces: []v1alpha1.NetworkInterface{{SubnetID: "subnet-1", SecurityGroupIDs: []string{"sg-1"}}},
		BlockDevices:      []v1alpha1.BlockDevice{{EBS: v1alpha1.EBS{VolumeSize: 50, VolumeType: "gp3"}}},
		Tags:              map[string]string{"kubernetes.io/cluster/shoot--dev--one": "1", "kubernetes.io/role/node": "1"},
	}
}

func volume(name, kind string, size, iops int32) v1alpha1.BlockDevice {
	return v1alpha1.BlockDevice{DeviceName: name, EBS: v1alpha1.EBS{VolumeSize: size, VolumeType: kind, Iops: iops}}
}

func TestValidate_Valid(t *testing.T) {
	for sentence, change := range map[string]func(*v1alpha1.ProviderSpec){
		"all that is needed":      func(*v1alpha1.ProviderSpec) {},
		"a profile by its ARN":    func(s *v1alpha1.ProviderSpec) { s.IAM = v1alpha1.InstanceProfile{ARN: "arn"} },
		"the volumes of an image": func(s *v1alpha1.ProviderSpec) { s.BlockDevices = nil },
		"one volume by any name":  func(s *v1alpha1.ProviderSpec) { s.BlockDevices[0].DeviceName = "disk" },
		"several volumes": func(s *v1alpha1.ProviderSpec) {
			s.BlockDevices = []v1alpha1.BlockDevice{volume("/root", "gp2", 1, 0), volume("/dev/sdf", "io1", 1, 1), volume("/dev/xvdba", "io2", 1, 1)}
		},
		"a hop limit":   func(s *v1alpha1.ProviderSpec) { s.InstanceMetadataOptions = hopLimit(64) },
		"a preference":  func(s *v1alpha1.ProviderSpec) { s.CapacityReservation = reservation("open", "", "") },
		"a reservation": func(s *v1alpha1.ProviderSpec) { s.CapacityReservation = reservation("", "cr-1", "") },
		"a certain group": func(s *v1alpha1.ProviderSpec) {
			s.CapacityReservation = reservation("capacity-reservations-only", "", "arn")
		},
		"cores and threads": func(s *v1alpha1.ProviderSpec) {
			s.CPUOptions = &v1alpha1.CPUOptions{CoreCount: new(int32(1)), ThreadsPerCore: new(int32(2))}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			spec := validSpec()
			change(spec)
			assert.Empty(t, spec.Validate(field.NewPath("providerSpec")))
		})
	}
}

func TestValidate_Invalid(t *testing.T) {
	for path, change := range map[string]func(*v1alpha1.ProviderSpec){
		"ami":         func(s *v1alpha1.ProviderSpec) { s.AMI = "" },
		"region":      func(s *v1alpha1.ProviderSpec) { s.Region = "" },
		"machineType": func(s *v1alpha1.ProviderSpec) { s.MachineType = "" },
		"iam":         func(s *v1alpha1.ProviderSpec) { s.IAM = v1alpha1.InstanceProfile{} },
		"iam.name":    func(s *v1alpha1.ProviderSpec) { s.IAM.ARN = "arn" },
		"tags":        func(s *v1alpha1.ProviderSpec) { delete(s.Tags, "kubernetes.io/role/node") },
		"blockDevices": func(s *v1alpha1.ProviderSpec) {
			s.BlockDevices = []v1alpha1.BlockDevice{volume("/dev/sda", "gp3", 1, 0), volume("/dev/sdf", "gp3", 1, 0)}
		},
		"blockDevices[1].deviceName": func(s *v1alpha1.ProviderSpec) {
			s.BlockDevices = []v1alpha1.BlockDevice{volume("/root", "gp3", 1, 0), volume("/dev/hda", "gp3", 1, 0)}
		},
		"blockDevices[2].deviceName": func(s *v1alpha1.ProviderSpec) {
			s.BlockDevices = []v1alpha1.BlockDevice{volume("/root", "gp3", 1, 0), volume("/dev/sdf", "gp3", 1, 0), volume("/dev/sdf", "gp3", 1, 0)}
		},
		"blockDevices[0].ebs.volumeType":           func(s *v1alpha1.ProviderSpec) { s.BlockDevices[0].EBS.VolumeType = "fast" },
		"blockDevices[0].ebs.volumeSize":           func(s *v1alpha1.ProviderSpec) { s.BlockDevices[0].EBS.VolumeSize = 0 },
		"blockDevices[0].ebs.iops":                 func(s *v1alpha1.ProviderSpec) { s.BlockDevices[0].EBS.VolumeType = "io2" },
		"blockDevices[0].ebs.throughput":           func(s *v1alpha1.ProviderSpec) { s.BlockDevices[0].EBS.Throughput = new(int32(0)) },
		"networkInterfaces":                        func(s *v1alpha1.ProviderSpec) { s.NetworkInterfaces = nil },
		"networkInterfaces[0].subnetID":            func(s *v1alpha1.ProviderSpec) { s.NetworkInterfaces[0].SubnetID = "" },
		"networkInterfaces[0].securityGroupIDs":    func(s *v1alpha1.ProviderSpec) { s.NetworkInterfaces[0].SecurityGroupIDs = nil },
		"networkInterfaces[0].securityGroupIDs[0]": func(s *v1alpha1.ProviderSpec) { s.NetworkInterfaces[0].SecurityGroupIDs[0] = "" },
		"capacityReservation.capacityReservationPreference": func(s *v1alpha1.ProviderSpec) {
			s.CapacityReservation = reservation("open", "cr-1", "")
		},
		"capacityReservation.capacityReservationResourceGroupArn": func(s *v1alpha1.ProviderSpec) {
			s.CapacityReservation = reservation("", "cr-1", "arn")
		},
		"instanceMetadataOptions.httpPutResponseHopLimit": func(s *v1alpha1.ProviderSpec) { s.InstanceMetadataOptions = hopLimit(65) },
		"instanceMetadataOptions.httpTokens": func(s *v1alpha1.ProviderSpec) {
			s.InstanceMetadataOptions = &v1alpha1.InstanceMetadataOptions{HTTPTokens: "maybe"}
		},
		"cpuOptions.coreCount": func(s *v1alpha1.ProviderSpec) { s.CPUOptions = &v1alpha1.CPUOptions{ThreadsPerCore: new(int32(1))} },
		"cpuOptions.threadsPerCore": func(s *v1alpha1.ProviderSpec) {
			s.CPUOptions = &v1alpha1.CPUOptions{CoreCount: new(int32(1)), ThreadsPerCore: new(int32(3))}
		},
	} {
		t.Run(path, func(t *testing.T) {
			spec := validSpec()
			change(spec)
			errs := spec.Validate(field.NewPath("providerSpec"))
			if assert.Len(t, errs, 1) {
				assert.Equal(t, "providerSpec."+path, errs[0].Field)
			}
		})
	}
	empty := validSpec()
	empty.CPUOptions = &v1alpha1.CPUOptions{}
	assert.Len(t, empty.Validate(nil), 2, "neither cores nor threads")
	empty.CPUOptions.AMDSEVSNP = new("enabled")
	assert.Empty(t, empty.Validate(nil), "AMD SEV-SNP alone")
}

func hopLimit(limit int32) *v1alpha1.InstanceMetadataOptions {
	return &v1alpha1.InstanceMetadataOptions{HTTPPutResponseHopLimit: &limit}
}

func reservation(preference, id, group string) *v1alpha1.CapacityReservation {
	r := &v1alpha1.CapacityReservation{CapacityReservationPreference: preference}
	if id != "" {
		r.CapacityReservationID = &id
	}
	if group != "" {
		r.CapacityReservationResourceGroupArn = &group
	}
	return r
}
