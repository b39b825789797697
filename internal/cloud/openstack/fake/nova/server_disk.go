package nova

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Disk is a volume of a server.
type Disk struct {
	VolumeID            string `json:"volume_id"`
	Device              string `json:"device"`
	DeleteOnTermination bool   `json:"delete_on_termination"`

	attachmentID string
}

// deviceInput is a disk of a new server.
type deviceInput struct {
	UUID                string          `json:"uuid"`
	SourceType          string          `json:"source_type"`
	DestinationType     string          `json:"destination_type"`
	BootIndex           json.RawMessage `json:"boot_index"`
	VolumeSize          json.RawMessage `json:"volume_size"`
	VolumeType          string          `json:"volume_type"`
	DeleteOnTermination any             `json:"delete_on_termination"`
}

func (in *deviceInput) boots() bool { return core.Unquoted(in.BootIndex) == "0" }

func (in *deviceInput) size() int {
	size, _ := strconv.Atoi(core.Unquoted(in.VolumeSize)) // the schema has seen to it
	return size
}

// makeDisks creates the volumes of a new server, and attaches existing ones. Nova requests volumes when it builds the server, so that an exceeded quota
// fails the build and not the request.
func (svc *Service) makeDisks(q *core.Request, s *Server, devices []deviceInput) error {
	if err := svc.checkDisks(q, devices); err != nil {
		return err
	}
	for i := range devices {
		d := &devices[i]
		disk := Disk{VolumeID: d.UUID, DeleteOnTermination: isTrue(d.DeleteOnTermination)}
		switch {
		case d.DestinationType == "local":
			continue
		case d.SourceType != "volume":
			if refusal := svc.cinder.CheckVolumeQuota(q.ProjectID, 1, d.size()); refusal != nil {
				s.buildFault = fmt.Sprintf("Build of instance %s aborted: %s", s.ID, errorMessage(refusal))
				return nil
			}
			v := svc.cinder.NewVolume(q.ProjectID, q.UserID, d.size())
			v.VolumeType = svc.cinder.VolumeTypeOf(d.VolumeType).Name
			v.MadeByNova = true
			if d.SourceType == "image" {
				v.Bootable = "true"
			} else {
				v.Name = s.ID + "-blank-vol"
			}
			disk.VolumeID = svc.cinder.Volumes.Add(v).ID
		default:
			svc.cinder.Volumes.Get(d.UUID).Status = "attaching"
		}
		disk.Device = s.nextDevice(d.boots())
		s.Disks = append(s.Disks, disk)
	}
	return nil
}

// checkDisks refuses what a server cannot boot from. If there are disks, the boot disk must be among them, even if it is the local disk.
func (svc *Service) checkDisks(q *core.Request, devices []deviceInput) error {
	if len(devices) == 0 {
		return nil
	}
	if !slices.ContainsFunc(devices, func(d deviceInput) bool { return d.boots() }) {
		return core.BadRequest("", "Block Device Mapping is Invalid: Boot sequence for the instance and image/block device mapping combination is not valid.")
	}
	for _, d := range devices {
		if err := svc.cinder.CheckVolumeType(d.VolumeType); err != nil {
			return err
		}
		switch v := svc.cinder.Volumes.Get(d.UUID); {
		case d.SourceType == "image" && svc.glance.Images.Get(d.UUID) == nil:
			return core.BadRequest("", "Block Device Mapping is Invalid: failed to get image %s.", d.UUID)
		case d.SourceType != "volume":
		case v == nil || !q.Owns(v.ProjectID):
			return core.BadRequest("", "Block Device Mapping is Invalid: failed to get volume %s.", d.UUID)
		case d.boots() && v.Bootable != "true":
			return core.BadRequest("", "Block Device %s is not bootable.", d.UUID)
		case v.Status != "available":
			return core.BadRequest("", "Invalid volume: volume '%s' status must be 'available'. Currently in '%s' status", v.ID, v.Status)
		}
	}
	return nil
}

// nextDevice is the device name of a server's next disk.
func (s *Server) nextDevice(boots bool) string {
	if boots {
		return "/dev/vda"
	}
	for letter := 'b'; ; letter++ {
		device := "/dev/vd" + string(letter)
		if !slices.ContainsFunc(s.Disks, func(d Disk) bool { return d.Device == device }) {
			return device
		}
	}
}

// connectDisk marks a volume in Cinder as attached to a server.
func (svc *Service) connectDisk(s *Server, d *Disk) {
	v := svc.cinder.Volumes.Get(d.VolumeID)
	if v == nil {
		return
	}
	if d.attachmentID == "" {
		d.attachmentID = core.NewUUID()
	}
	v.Status, v.UpdatedAt = "in-use", core.Null(core.ManilaTime(svc.Now()))
	v.Attachments = []any{map[string]any{
		"id": v.ID, "attachment_id": d.attachmentID, "volume_id": v.ID, "server_id": s.ID, "device": d.Device,
		"host_name": nil, "attached_at": core.ManilaTime(svc.Now()),
	}}
}

// dropDisks deletes the volumes that are deleted with a server and detaches the others.
func (svc *Service) dropDisks(s *Server) {
	for _, d := range s.Disks {
		svc.freeVolume(d.VolumeID)
		if d.DeleteOnTermination {
			svc.cinder.Volumes.Remove(d.VolumeID)
		}
	}
	s.Disks = []Disk{}
}

// errorMessage is the message of an error.
func errorMessage(refusal error) string {
	if said, ok := errors.AsType[*wire.Error](refusal); ok {
		return said.Message
	}
	return refusal.Error()
}

func isTrue(value any) bool {
	return slices.Contains([]string{"true", "True", "1"}, fmt.Sprint(value))
}
