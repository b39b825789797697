package fake

import (
	"encoding/json"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

const cinderPrefix = "/volume"

// Volume is a Cinder volume.
type Volume struct {
	ID               string            `json:"id"`
	Name             string            `json:"name"`
	Description      Null              `json:"description"`
	ProjectID        string            `json:"os-vol-tenant-attr:tenant_id"`
	UserID           string            `json:"user_id"`
	Status           string            `json:"status"`
	Size             int               `json:"size"`
	VolumeType       string            `json:"volume_type"`
	AvailabilityZone string            `json:"availability_zone"`
	Bootable         string            `json:"bootable"`
	Metadata         map[string]string `json:"metadata"`
	Attachments      []any             `json:"attachments"`
	CreatedAt        string            `json:"created_at"`
	UpdatedAt        Null              `json:"updated_at"`
}

type cinderState struct {
	volumes *table[Volume]
}

func (c *Cloud) registerCinder() {
	c.cinder.volumes = newTable(func(v *Volume) string { return v.ID })
	e := endpoint{service: wire.Cinder, prefix: cinderPrefix}
	version := apiVersion{id: "v3.0", status: "CURRENT", path: "v3/", most: "3.71", least: "3.0"}
	list := versionDocument(http.StatusOK, cinderPrefix, version)
	c.open(e, "GET /{$}", versionDocument(http.StatusMultipleChoices, cinderPrefix, version))
	c.open(e, "GET /v3/{$}", list)
	const base = "/v3/{project}/volumes"
	c.route(e, "GET "+base, c.listVolumes)
	c.route(e, "GET "+base+"/detail", c.listVolumes)
	c.route(e, "POST "+base, c.createVolume)
	c.route(e, "GET "+base+"/{id}", func(q *request) (reply, error) {
		v, err := c.findVolume(q)
		if err != nil {
			return reply{}, err
		}
		c.observe(v.ID)
		return ok(map[string]any{"volume": *v})
	})
	c.route(e, "DELETE "+base+"/{id}", c.deleteVolume)
	c.otherwise(e)
}

func (c *Cloud) findVolume(q *request) (*Volume, error) {
	v := c.cinder.volumes.get(q.path("id"))
	if v == nil || !q.owns(v.ProjectID) {
		return nil, notFound("", "Volume %s could not be found.", q.path("id"))
	}
	return v, nil
}

func (c *Cloud) listVolumes(q *request) (reply, error) {
	name := q.values.Get("name")
	rows := c.cinder.volumes.where(func(v *Volume) bool {
		return v.ProjectID == q.projectID && (name == "" || v.Name == name)
	})
	for _, v := range rows {
		c.observe(v.ID)
	}
	return ok(map[string]any{"volumes": copies(rows)})
}

func (c *Cloud) createVolume(q *request) (reply, error) {
	raw, found := unwrap(q.body, "volume")
	var in struct {
		Name             string            `json:"name"`
		Description      string            `json:"description"`
		Size             int               `json:"size"`
		VolumeType       string            `json:"volume_type"`
		AvailabilityZone string            `json:"availability_zone"`
		ImageRef         string            `json:"imageRef"`
		Metadata         map[string]string `json:"metadata"`
	}
	if !found || json.Unmarshal(raw, &in) != nil || in.Size <= 0 {
		return reply{}, badRequest("", "Invalid input for field/attribute size. Value: %d. %d is less than the minimum of 1", in.Size, in.Size)
	}
	have, gigabytes := 0, 0
	for _, v := range c.cinder.volumes.rows {
		if v.ProjectID == q.projectID {
			have, gigabytes = have+1, gigabytes+v.Size
		}
	}
	if c.exceeds(q.projectID, "volumes", have, 1) {
		return reply{}, fail(http.StatusRequestEntityTooLarge, "overLimit", "VolumeLimitExceeded: Maximum number of volumes allowed (%d) exceeded for quota 'volumes'.", c.limit(q.projectID, "volumes"))
	}
	if c.exceeds(q.projectID, "gigabytes", gigabytes, in.Size) {
		return reply{}, fail(http.StatusRequestEntityTooLarge, "overLimit", "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested %dG, quota is %dG and %dG has been consumed.", in.Size, c.limit(q.projectID, "gigabytes"), gigabytes)
	}
	v := &Volume{
		ID: newUUID(), Name: in.Name, Description: Null(in.Description), ProjectID: q.projectID, UserID: q.userID, Status: "creating",
		Size: in.Size, VolumeType: in.VolumeType, AvailabilityZone: in.AvailabilityZone, Bootable: "false",
		Metadata: in.Metadata, Attachments: []any{}, CreatedAt: manilaTime(c.now()),
	}
	if in.ImageRef != "" {
		v.Bootable = "true"
	}
	if v.AvailabilityZone == "" {
		v.AvailabilityZone = "nova"
	}
	c.cinder.volumes.add(v)
	view := *v
	c.begin(VolumeCreate, v.ID, func(failed bool) {
		v.Status = "available"
		if failed {
			v.Status = "error"
		}
	})
	return accepted(map[string]any{"volume": view})
}

func (c *Cloud) deleteVolume(q *request) (reply, error) {
	v, err := c.findVolume(q)
	if err != nil {
		return reply{}, err
	}
	if v.Status != "available" && v.Status != "error" {
		return reply{}, badRequest("", "Invalid volume: Volume status must be available or error or error_restoring or error_extending or error_managing and must not be migrating, attached, belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after volume transfer.")
	}
	v.Status = "deleting"
	c.begin(VolumeDelete, v.ID, func(failed bool) {
		if failed {
			v.Status = "error_deleting"
			return
		}
		c.cinder.volumes.remove(v.ID)
	})
	return accepted(nil)
}
