package aws

import (
	"errors"
	"fmt"

	awsmachine "github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
)

const (
	// devicePrefix and deviceLetters give the names of data volumes: those that AWS recommends.
	devicePrefix  = "/dev/sd"
	deviceLetters = "fghijklmnop"
)

// newBlockDevices returns the root volume and the data volumes. The latter are named in the order of their names.
func (p *plan) newBlockDevices() ([]awsmachine.BlockDevice, error) {
	volume := p.pool.Volume
	if volume == nil {
		return nil, errors.New("the pool has no root volume")
	}
	root, err := newDevice("", volume.Size, volume.Type, volume.Encrypted)
	if err != nil {
		return nil, fmt.Errorf("root volume: %w", err)
	}
	if given := p.config.Volume; given != nil {
		root.EBS.Iops, root.EBS.Throughput = value(given.IOPS), given.Throughput
	}
	data := p.sortedDataVolumes()
	switch {
	case len(data) == 0:
		return []awsmachine.BlockDevice{root}, nil
	case len(data) > len(deviceLetters):
		return nil, fmt.Errorf("a machine has %d data volumes at most", len(deviceLetters))
	}
	root.DeviceName = awsmachine.RootDevice // a name that is needed only beside others
	devices := []awsmachine.BlockDevice{root}
	for i, volume := range data {
		device, err := newDevice(devicePrefix+deviceLetters[i:i+1], volume.Size, volume.Type, volume.Encrypted)
		if err != nil {
			return nil, fmt.Errorf("data volume %s: %w", volume.Name, err)
		}
		if given := p.config.FindDataVolume(volume.Name); given != nil {
			device.EBS.Iops, device.EBS.Throughput, device.EBS.SnapshotID = value(given.IOPS), given.Throughput, given.SnapshotID
		}
		devices = append(devices, device)
	}
	return devices, nil
}

// newDevice returns a volume that exists as long as its machine. It is encrypted unless the user says otherwise.
func newDevice(name, size string, volumeType *string, encrypted *bool) (awsmachine.BlockDevice, error) {
	gibibytes, err := validation.SizeInGiB(size)
	if err != nil {
		return awsmachine.BlockDevice{}, err
	}
	return awsmachine.BlockDevice{DeviceName: name, EBS: awsmachine.EBS{
		VolumeSize: int32(gibibytes), VolumeType: value(volumeType), Encrypted: encrypted == nil || *encrypted, DeleteOnTermination: new(true),
	}}, nil
}
