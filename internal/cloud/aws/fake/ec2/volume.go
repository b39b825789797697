package ec2

import (
	"slices"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// volume is a volume of an instance.
type volume struct {
	meta

	zone, kind, keyID, snapshotID string
	size, iops, throughput        int64
	encrypted                     bool
	created                       time.Time

	device, instanceID string // while it is attached
	keep               bool   // at the end of the instance
}

func (s *Service) newVolumes() *collection[*volume] {
	return &collection[*volume]{
		kind: "volume", ids: "VolumeIds", answer: "Volumes", view: viewVolume,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidVolume.NotFound", "The volume '%s' does not exist.", id)
		},
		filters: map[string]func(*volume) []string{
			"volume-id":              one(func(v *volume) string { return v.id }),
			"availability-zone":      one(func(v *volume) string { return v.zone }),
			"attachment.instance-id": one(func(v *volume) string { return v.instanceID }),
			"attachment.device":      one(func(v *volume) string { return v.device }),
			"status":                 one((*volume).state),
			"volume-type":            one(func(v *volume) string { return v.kind }),
		},
	}
}

func (v *volume) state() string {
	if v.instanceID != "" {
		return "in-use"
	}
	return "available"
}

func viewVolume(v *volume) protocol.Struct {
	view := protocol.Struct{
		"VolumeId": v.id, "AvailabilityZone": v.zone, "VolumeType": v.kind, "Size": v.size, "Encrypted": v.encrypted, "KmsKeyId": protocol.OrNil(v.keyID),
		"SnapshotId": v.snapshotID, "Iops": protocol.OrNil(v.iops), "Throughput": protocol.OrNil(v.throughput), "State": v.state(), "CreateTime": v.created,
		"Tags": v.tagList(),
	}
	if v.instanceID != "" {
		view["Attachments"] = []any{protocol.Struct{
			"VolumeId": v.id, "InstanceId": v.instanceID, "Device": v.device, "State": "attached", "DeleteOnTermination": !v.keep, "AttachTime": v.created,
		}}
	}
	return view
}

func (s *Service) volumeActions() map[string]core.Action {
	return map[string]core.Action{"DescribeVolumes": describing(s, s.volumes)}
}

// volumesOf reads the volumes of a new instance. The root device of the image has one in any case.
func (s *Service) volumesOf(q *core.Request, of *image) ([]*volume, error) {
	var volumes []*volume
	for _, mapping := range q.In.Structs("BlockDeviceMappings") {
		name, ebs := mapping.String("DeviceName"), mapping.Struct("Ebs")
		if name == "" || slices.ContainsFunc(volumes, func(v *volume) bool { return v.device == name }) {
			return nil, protocol.Fail("InvalidBlockDeviceMapping", "Invalid device name '%s'", name)
		}
		if mapping.Has("NoDevice") || mapping.Has("VirtualName") {
			return nil, core.NotImplemented("a block device that is no volume")
		}
		v := &volume{
			kind: ebs.String("VolumeType"), size: ebs.Int("VolumeSize"), iops: ebs.Int("Iops"), throughput: ebs.Int("Throughput"), keyID: ebs.String("KmsKeyId"),
			snapshotID: ebs.String("SnapshotId"), encrypted: ebs.Bool("Encrypted"), device: name, keep: ebs.Has("DeleteOnTermination") && !ebs.Bool("DeleteOnTermination"),
		}
		if err := v.complete(name == of.rootDevice); err != nil {
			return nil, err
		}
		volumes = append(volumes, v)
	}
	if !slices.ContainsFunc(volumes, func(v *volume) bool { return v.device == of.rootDevice }) {
		volumes = append(volumes, &volume{kind: "gp2", size: defaultVolumeSize, device: of.rootDevice})
	}
	return volumes, nil
}

const defaultVolumeSize = 8 // GiB

// complete sets defaults, and refuses what makes no volume.
func (v *volume) complete(isRoot bool) error {
	if v.kind == "" {
		v.kind = "gp2"
	}
	if v.size == 0 && isRoot {
		v.size = defaultVolumeSize // the image's
	}
	provisioned := v.kind == "io1" || v.kind == "io2"
	switch {
	case v.size == 0 && v.snapshotID == "":
		return protocol.Fail("MissingParameter", "The request must contain the parameter size or snapshotId")
	case provisioned && v.iops == 0:
		return protocol.Fail("MissingParameter", "The parameter iops must be specified for %s volumes.", v.kind)
	case !provisioned && v.kind != "gp3" && v.iops != 0:
		return protocol.Fail("InvalidParameterCombination", "The parameter iops is not supported for %s volumes.", v.kind)
	case v.keyID != "" && !v.encrypted:
		return protocol.Fail("InvalidParameterDependency", "The parameter KmsKeyId requires the parameter Encrypted to be set.")
	}
	return nil
}
