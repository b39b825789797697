package fake

import (
	"encoding/json"
	"slices"
)

// registerAttachments serves the volumes of servers. They attach and detach at once.
func (c *Cloud) registerAttachments(e endpoint) {
	const base = "/servers/{id}/os-volume_attachments"
	c.novaRoute(e, "GET "+base, func(q *request, _ int) (reply, error) {
		s, err := c.findServer(q)
		if err != nil {
			return reply{}, err
		}
		out := []any{}
		for _, id := range s.Volumes {
			out = append(out, attachmentView(s, id))
		}
		return ok(map[string]any{"volumeAttachments": out})
	})
	c.novaRoute(e, "POST "+base, c.attachVolume)
	c.novaRoute(e, "DELETE "+base+"/{volume}", c.detachVolume)
}

func attachmentView(s *Server, volumeID string) map[string]any {
	return map[string]any{
		"id": volumeID, "volumeId": volumeID, "serverId": s.ID,
		"device": "/dev/vd" + string(rune('b'+slices.Index(s.Volumes, volumeID))),
	}
}

func (c *Cloud) attachVolume(q *request, _ int) (reply, error) {
	s, err := c.findServer(q)
	if err != nil {
		return reply{}, err
	}
	var in struct {
		VolumeID string `json:"volumeId"`
	}
	raw, found := unwrap(q.body, "volumeAttachment")
	if !found || json.Unmarshal(raw, &in) != nil {
		return reply{}, badRequest("", "Invalid input for field/attribute volumeAttachment. 'volumeId' is a required property")
	}
	v := c.cinder.volumes.get(in.VolumeID)
	if v == nil || !q.owns(v.ProjectID) {
		return reply{}, notFound("", "Volume %s could not be found.", in.VolumeID)
	}
	if v.Status != "available" {
		return reply{}, badRequest("", "Invalid volume: volume %s status must be 'available'. Currently in '%s'", v.ID, v.Status)
	}
	s.Volumes = with(s.Volumes, v.ID)
	v.Status = "in-use"
	view := attachmentView(s, v.ID)
	v.Attachments = []any{map[string]any{
		"id": v.ID, "attachment_id": newUUID(), "volume_id": v.ID, "server_id": s.ID, "device": view["device"],
		"host_name": s.Host, "attached_at": manilaTime(c.now()),
	}}
	return ok(map[string]any{"volumeAttachment": view})
}

func (c *Cloud) detachVolume(q *request, _ int) (reply, error) {
	s, err := c.findServer(q)
	if err != nil {
		return reply{}, err
	}
	id := q.path("volume")
	if !slices.Contains(s.Volumes, id) {
		return reply{}, notFound("", "volume_id not found: %s", id)
	}
	s.Volumes = without(s.Volumes, func(v string) bool { return v == id })
	c.freeVolume(id)
	return accepted(nil)
}

func (c *Cloud) freeVolume(id string) {
	if v := c.cinder.volumes.get(id); v != nil {
		v.Status, v.Attachments = "available", []any{}
	}
}
