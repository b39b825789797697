package nova

import (
	"encoding/json"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// registerAttachments serves the volumes of servers, which are attached and detached at once.
func (svc *Service) registerAttachments(e core.Endpoint) {
	const base = "/servers/{id}/os-volume_attachments"
	svc.novaRoute(e, "GET "+base, func(q *core.Request, micro int) (core.Reply, error) {
		s, err := svc.findServer(q)
		if err != nil {
			return core.Reply{}, err
		}
		out := []any{}
		for _, d := range s.Disks {
			out = append(out, d.view(s, micro))
		}
		return core.OK(map[string]any{"volumeAttachments": out})
	})
	svc.novaRoute(e, "POST "+base, svc.attachVolume)
	svc.novaRoute(e, "GET "+base+"/{volume}", func(q *core.Request, micro int) (core.Reply, error) {
		s, at, err := svc.findDisk(q)
		if err != nil {
			return core.Reply{}, err
		}
		return core.OK(map[string]any{"volumeAttachment": s.Disks[at].view(s, micro)})
	})
	svc.novaRoute(e, "DELETE "+base+"/{volume}", func(q *core.Request, _ int) (core.Reply, error) {
		s, at, err := svc.findDisk(q)
		if err != nil {
			return core.Reply{}, err
		}
		svc.freeVolume(s.Disks[at].VolumeID)
		s.Disks = slices.Delete(slices.Clone(s.Disks), at, at+1)
		return core.Accepted(nil)
	})
}

func (svc *Service) findDisk(q *core.Request) (*Server, int, error) {
	s, err := svc.findServer(q)
	if err != nil {
		return nil, 0, err
	}
	at := slices.IndexFunc(s.Disks, func(d Disk) bool { return d.VolumeID == q.Path("volume") })
	if at < 0 {
		return nil, 0, core.NotFound("", "Instance %s is not attached to volume %s", s.ID, q.Path("volume"))
	}
	return s, at, nil
}

func (d Disk) view(s *Server, micro int) map[string]any {
	view := map[string]any{"id": d.VolumeID, "volumeId": d.VolumeID, "serverId": s.ID, "device": d.Device}
	if micro >= 270 {
		view["tag"] = nil
	}
	if micro >= 279 {
		view["delete_on_termination"] = d.DeleteOnTermination
	}
	if micro >= 289 {
		delete(view, "id")
		view["attachment_id"] = d.attachmentID
	}
	return view
}

func (svc *Service) attachVolume(q *core.Request, micro int) (core.Reply, error) {
	properties := []schema.Property{schema.Attribute("volumeId", schema.UUID), schema.Attribute("device", schema.HasType("string", "null"))}
	if micro >= 249 {
		properties = append(properties, schema.Attribute("tag", serverTag))
	}
	if micro >= 279 {
		properties = append(properties, schema.Attribute("delete_on_termination", schema.Boolean))
	}
	if err := schema.Validate(q.Body, schema.Object([]string{"volumeAttachment"}, schema.Attribute("volumeAttachment", schema.Object([]string{"volumeId"}, properties...)))); err != nil {
		return core.Reply{}, err
	}
	s, err := svc.findServer(q)
	if err != nil {
		return core.Reply{}, err
	}
	var in struct {
		VolumeID            string `json:"volumeId"`
		DeleteOnTermination any    `json:"delete_on_termination"`
	}
	if raw, _ := core.Unwrap(q.Body, "volumeAttachment"); json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	v := svc.cinder.Volumes.Get(in.VolumeID)
	switch {
	case v == nil || !q.Owns(v.ProjectID):
		return core.Reply{}, core.NotFound("", "Volume %s could not be found.", in.VolumeID)
	case slices.ContainsFunc(s.Disks, func(d Disk) bool { return d.VolumeID == v.ID }):
		return core.Reply{}, core.BadRequest("", "Invalid volume: volume %s is already attached to instances: %s", v.ID, s.ID)
	case v.Status != "available":
		return core.Reply{}, core.BadRequest("", "Invalid volume: volume '%s' status must be 'available'. Currently in '%s'", v.ID, v.Status)
	}
	disk := Disk{VolumeID: v.ID, Device: s.nextDevice(false), DeleteOnTermination: isTrue(in.DeleteOnTermination)}
	svc.connectDisk(s, &disk)
	s.Disks = core.With(s.Disks, disk)
	return core.OK(map[string]any{"volumeAttachment": disk.view(s, micro)})
}

func (svc *Service) freeVolume(id string) {
	if v := svc.cinder.Volumes.Get(id); v != nil {
		v.Status, v.Attachments = "available", []any{}
	}
}
