package cinder

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/glance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
)

// Volume is a Cinder volume.
type Volume struct {
	ID               string            `json:"id"`
	Name             string            `json:"name"`
	Description      string            `json:"description"`
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
	UpdatedAt        core.Null         `json:"updated_at"`

	MadeByNova bool `json:"-"`
}

// Service is Cinder of the fake cloud. Its methods run while the lock of the cloud is held.
type Service struct {
	*core.Cloud

	glance *glance.Service

	Volumes *core.Table[Volume]
	types   *core.Table[VolumeType]
}

// New serves the API of Cinder on the cloud.
func New(cloud *core.Cloud, glance *glance.Service) *Service {
	svc := &Service{Cloud: cloud, glance: glance}
	svc.registerCinder()
	return svc
}

func (svc *Service) registerCinder() {
	svc.Volumes = core.NewTable(func(v *Volume) string { return v.ID })
	e := core.Endpoint{Service: services.Cinder, Prefix: core.CinderPrefix}
	version := core.ApiVersion{ID: "v3.0", Status: "CURRENT", Path: "v3/", Micro: true, Most: "3.70", Least: "3.0", Documented: "https://docs.openstack.org/"}
	list := core.VersionDocument(http.StatusOK, core.CinderPrefix, version)
	svc.RouteWithoutToken(e, "GET /{$}", core.VersionDocument(http.StatusMultipleChoices, core.CinderPrefix, version))
	svc.RouteWithoutToken(e, "GET /v3/{$}", list)
	on := func(pattern string, h core.Handler) { svc.volumeRoute(e, pattern, h) }
	on("GET /volumes", func(q *core.Request) (core.Reply, error) { return svc.listVolumes(q, false) })
	on("GET /volumes/detail", func(q *core.Request) (core.Reply, error) { return svc.listVolumes(q, true) })
	on("POST /volumes", svc.createVolume)
	on("GET /volumes/{id}", func(q *core.Request) (core.Reply, error) {
		v, err := svc.findVolume(q)
		if err != nil {
			return core.Reply{}, err
		}
		svc.CountPoll(v.ID)
		return core.OK(map[string]any{"volume": v.detail(q)})
	})
	on("PUT /volumes/{id}", svc.updateVolume)
	on("DELETE /volumes/{id}", svc.deleteVolume)
	svc.registerVolumeParts(on)
	svc.registerVolumeTypes(on)
	svc.RegisterFallback(e)
}

// volumeRoute registers a call below a project, which must be the caller's. An operator who acts for a project need not know its ID.
func (svc *Service) volumeRoute(e core.Endpoint, pattern string, h core.Handler) {
	method, path, _ := strings.Cut(pattern, " ")
	svc.Route(e, method+" /v3/{project}"+path, func(q *core.Request) (core.Reply, error) {
		if q.Path("project") != q.ProjectID && !q.Admin() {
			return core.Reply{}, core.BadRequest("", "Malformed request url")
		}
		return h(q)
	})
}

func (svc *Service) findVolume(q *core.Request) (*Volume, error) {
	v := svc.Volumes.Get(q.Path("id"))
	if v == nil || !q.Owns(v.ProjectID) {
		return nil, core.NotFound("", "Volume %s could not be found.", q.Path("id"))
	}
	return v, nil
}

// volumeRule is the schema for a new volume. Unknown attributes are ignored.
func volumeRule(key string, value any) string {
	size := func(key string, value any) string {
		if complaint := schema.HasType("integer", "string", "null")(key, value); complaint != "" || value == nil {
			return complaint
		}
		return VolumeSize(key, value)
	}
	return schema.Object([]string{"volume"}, schema.Attribute("volume", schema.OpenObject(nil,
		schema.Attribute("name", schema.HasType("string", "null")), schema.Attribute("description", schema.HasType("string", "null")),
		schema.Attribute("size", size), schema.Attribute("metadata", volumeMetadata),
	)))(key, value)
}

type volumeInput struct {
	Name             string            `json:"name"`
	Description      string            `json:"description"`
	Size             json.RawMessage   `json:"size"`
	VolumeType       string            `json:"volume_type"`
	AvailabilityZone string            `json:"availability_zone"`
	ImageRef         string            `json:"imageRef"`
	SnapshotID       string            `json:"snapshot_id"`
	Metadata         map[string]string `json:"metadata"`
}

// check reads what a new volume refers to.
func (in *volumeInput) check(svc *Service) error {
	size := core.Unquoted(in.Size)
	switch {
	case in.SnapshotID != "":
		return core.NotFound("", "Snapshot %s could not be found.", in.SnapshotID)
	case svc.VolumeTypeOf(in.VolumeType) == nil && core.UUIDForm.MatchString(in.VolumeType):
		return noVolumeType(in.VolumeType)
	case svc.VolumeTypeOf(in.VolumeType) == nil:
		return core.NotFound("", "Volume type with name %s could not be found.", in.VolumeType)
	case in.ImageRef != "" && svc.glance.Images.Get(in.ImageRef) == nil:
		return core.BadRequest("", "Invalid image identifier or unable to access requested image.")
	case len(in.Name) > 255:
		return core.BadRequest("", "Invalid input received: name has %d characters, more than 255.", len(in.Name))
	case size == "" || size == "null":
		return core.BadRequest("", "The server could not comply with the request since it is either malformed or otherwise incorrect.")
	}
	return nil
}

func (svc *Service) createVolume(q *core.Request) (core.Reply, error) {
	if err := schema.Validate(q.Body, volumeRule); err != nil {
		return core.Reply{}, err
	}
	var in volumeInput
	if raw, _ := core.Unwrap(q.Body, "volume"); json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "The server could not comply with the request since it is either malformed or otherwise incorrect.")
	}
	if err := in.check(svc); err != nil {
		return core.Reply{}, err
	}
	size, _ := strconv.Atoi(core.Unquoted(in.Size)) // the schema has seen to it
	if err := svc.CheckVolumeQuota(q.ProjectID, 1, size); err != nil {
		return core.Reply{}, err
	}
	v := svc.NewVolume(q.ProjectID, q.UserID, size)
	v.Name, v.Description, v.VolumeType = in.Name, in.Description, svc.VolumeTypeOf(in.VolumeType).Name
	v.AvailabilityZone = cmp.Or(in.AvailabilityZone, v.AvailabilityZone)
	if in.Metadata != nil {
		v.Metadata = in.Metadata
	}
	if in.ImageRef != "" {
		v.Bootable = "true"
	}
	view := svc.Volumes.Add(v).view(q)
	svc.BeginTransition(core.VolumeCreate, v.ID, func(failed bool) {
		v.Status, v.UpdatedAt = "available", core.Null(core.ManilaTime(svc.Now()))
		if failed {
			v.Status = "error"
		}
	})
	return core.Accepted(map[string]any{"volume": view})
}

// CheckVolumeQuota returns Cinder's error if the volumes or gigabytes would exceed a quota.
func (svc *Service) CheckVolumeQuota(projectID string, volumes, gigabytes int) error {
	has, hasGigabytes := 0, 0
	for _, v := range svc.Volumes.Rows {
		if v.ProjectID == projectID {
			has, hasGigabytes = has+1, hasGigabytes+v.Size
		}
	}
	if svc.Exceeds(projectID, "gigabytes", hasGigabytes, gigabytes) {
		return core.Fail(http.StatusRequestEntityTooLarge, "overLimit", "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. "+
			"Requested %dG, quota is %dG and %dG has been consumed.", gigabytes, svc.Limit(projectID, "gigabytes"), hasGigabytes)
	}
	if svc.Exceeds(projectID, "volumes", has, volumes) {
		return core.Fail(http.StatusRequestEntityTooLarge, "overLimit",
			"VolumeLimitExceeded: Maximum number of volumes allowed (%d) exceeded for quota 'volumes'.", svc.Limit(projectID, "volumes"))
	}
	return nil
}

// NewVolume returns a volume with the default type that is not stored yet. Sizes are in GiB.
func (svc *Service) NewVolume(projectID, userID string, size int) *Volume {
	return &Volume{
		ID: core.NewUUID(), ProjectID: projectID, UserID: userID, Status: "creating", Size: size, VolumeType: defaultVolumeType,
		AvailabilityZone: "nova", Bootable: "false", Metadata: map[string]string{}, Attachments: []any{}, CreatedAt: core.ManilaTime(svc.Now()),
	}
}

func (svc *Service) deleteVolume(q *core.Request) (core.Reply, error) {
	v, err := svc.findVolume(q)
	if err != nil {
		return core.Reply{}, err
	}
	if v.Status != "available" && v.Status != "error" {
		return core.Reply{}, core.BadRequest("", "Invalid volume: Volume status must be available or error or error_restoring or error_extending or error_managing and must not be migrating, attached, belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after volume transfer.")
	}
	v.Status = "deleting"
	svc.BeginTransition(core.VolumeDelete, v.ID, func(failed bool) {
		if failed {
			v.Status = "error_deleting"
			return
		}
		svc.Volumes.Remove(v.ID)
	})
	return core.Accepted(nil)
}

// VolumeSize requires at least 1 GiB.
func VolumeSize(key string, value any) string {
	if complaint := schema.HasType("integer", "string")(key, value); complaint != "" {
		return complaint
	}
	if s, isText := value.(string); isText && (s == "" || strings.Trim(s, "0123456789") != "") {
		return schema.Violation(key, value, "%s does not match '^[0-9]+$'", schema.PythonRepr(value))
	}
	return schema.Number(1)(key, value)
}

// MetadataWith returns a rule for metadata: an object with keys of that form and short strings.
func MetadataWith(keys *regexp.Regexp) schema.Rule {
	return func(key string, value any) string {
		if complaint := schema.HasType("object")(key, value); complaint != "" {
			return complaint
		}
		items, _ := value.(*schema.Dict)
		unfit := []string{}
		for _, k := range items.Keys {
			if !keys.MatchString(k) {
				unfit = append(unfit, k)
				continue
			}
			if complaint := schema.Text255(0)(k, items.Values[k]); complaint != "" {
				return complaint
			}
		}
		slices.Sort(unfit)
		switch len(unfit) {
		case 0:
			return ""
		case 1:
			return schema.Violation(key, value, "%s does not match any of the regexes: '%s'", schema.PythonRepr(unfit[0]), keys)
		}
		return schema.Violation(key, value, "'%s' do not match any of the regexes: '%s'", strings.Join(unfit, "', '"), keys)
	}
}
