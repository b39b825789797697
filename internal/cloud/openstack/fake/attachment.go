package fake

import (
	"encoding/json"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// registerAttachments serves the volumes of servers. They attach and detach at once.
func (svc *novaService) registerAttachments(e endpoint) {
	const base = "/servers/{id}/os-volume_attachments"
	svc.novaRoute(e, "GET "+base, func(q *request, micro int) (reply, error) {
		s, err := svc.findServer(q)
		if err != nil {
			return reply{}, err
		}
		out := []any{}
		for _, d := range s.Disks {
			out = append(out, d.view(s, micro))
		}
		return ok(map[string]any{"volumeAttachments": out})
	})
	svc.novaRoute(e, "POST "+base, svc.attachVolume)
	svc.novaRoute(e, "GET "+base+"/{volume}", func(q *request, micro int) (reply, error) {
		s, at, err := svc.findDisk(q)
		if err != nil {
			return reply{}, err
		}
		return ok(map[string]any{"volumeAttachment": s.Disks[at].view(s, micro)})
	})
	svc.novaRoute(e, "DELETE "+base+"/{volume}", func(q *request, _ int) (reply, error) {
		s, at, err := svc.findDisk(q)
		if err != nil {
			return reply{}, err
		}
		svc.freeVolume(s.Disks[at].VolumeID)
		s.Disks = slices.Delete(slices.Clone(s.Disks), at, at+1)
		return accepted(nil)
	})
}

func (svc *novaService) findDisk(q *request) (*Server, int, error) {
	s, err := svc.findServer(q)
	if err != nil {
		return nil, 0, err
	}
	at := slices.IndexFunc(s.Disks, func(d Disk) bool { return d.VolumeID == q.path("volume") })
	if at < 0 {
		return nil, 0, core.NotFound("", "Instance %s is not attached to volume %s", s.ID, q.path("volume"))
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

func (svc *novaService) attachVolume(q *request, micro int) (reply, error) {
	properties := []schema.Property{schema.Attribute("volumeId", schema.UUID), schema.Attribute("device", schema.HasType("string", "null"))}
	if micro >= 249 {
		properties = append(properties, schema.Attribute("tag", serverTag))
	}
	if micro >= 279 {
		properties = append(properties, schema.Attribute("delete_on_termination", schema.Boolean))
	}
	if err := schema.Validate(q.body, schema.Object([]string{"volumeAttachment"}, schema.Attribute("volumeAttachment", schema.Object([]string{"volumeId"}, properties...)))); err != nil {
		return reply{}, err
	}
	s, err := svc.findServer(q)
	if err != nil {
		return reply{}, err
	}
	var in struct {
		VolumeID            string `json:"volumeId"`
		DeleteOnTermination any    `json:"delete_on_termination"`
	}
	if raw, _ := core.Unwrap(q.body, "volumeAttachment"); json.Unmarshal(raw, &in) != nil {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	v := svc.cinder.volumes.Get(in.VolumeID)
	switch {
	case v == nil || !q.owns(v.ProjectID):
		return reply{}, core.NotFound("", "Volume %s could not be found.", in.VolumeID)
	case slices.ContainsFunc(s.Disks, func(d Disk) bool { return d.VolumeID == v.ID }):
		return reply{}, core.BadRequest("", "Invalid volume: volume %s is already attached to instances: %s", v.ID, s.ID)
	case v.Status != "available":
		return reply{}, core.BadRequest("", "Invalid volume: volume '%s' status must be 'available'. Currently in '%s'", v.ID, v.Status)
	}
	disk := Disk{VolumeID: v.ID, Device: s.nextDevice(false), DeleteOnTermination: isTrue(in.DeleteOnTermination)}
	svc.connectDisk(s, &disk)
	s.Disks = core.With(s.Disks, disk)
	return ok(map[string]any{"volumeAttachment": disk.view(s, micro)})
}

func (svc *novaService) freeVolume(id string) {
	if v := svc.cinder.volumes.Get(id); v != nil {
		v.Status, v.Attachments = "available", []any{}
	}
}
