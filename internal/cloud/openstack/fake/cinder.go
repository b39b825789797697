package fake

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
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

	madeByNova bool
}

// cinderService is Cinder of the fake cloud. Its methods run while the lock of the cloud is held.
type cinderService struct {
	*shared

	glance *glanceService

	volumes *core.Table[Volume]
	types   *core.Table[volumeType]
}

// newCinder serves the API of Cinder on the cloud.
func newCinder(cloud *shared, glance *glanceService) *cinderService {
	svc := &cinderService{shared: cloud, glance: glance}
	svc.registerCinder()
	return svc
}

func (svc *cinderService) registerCinder() {
	svc.volumes = core.NewTable(func(v *Volume) string { return v.ID })
	e := endpoint{service: wire.Cinder, prefix: cinderPrefix}
	version := apiVersion{id: "v3.0", status: "CURRENT", path: "v3/", micro: true, most: "3.70", least: "3.0", documented: "https://docs.openstack.org/"}
	list := versionDocument(http.StatusOK, cinderPrefix, version)
	svc.routeWithoutToken(e, "GET /{$}", versionDocument(http.StatusMultipleChoices, cinderPrefix, version))
	svc.routeWithoutToken(e, "GET /v3/{$}", list)
	on := func(pattern string, h handler) { svc.volumeRoute(e, pattern, h) }
	on("GET /volumes", func(q *request) (reply, error) { return svc.listVolumes(q, false) })
	on("GET /volumes/detail", func(q *request) (reply, error) { return svc.listVolumes(q, true) })
	on("POST /volumes", svc.createVolume)
	on("GET /volumes/{id}", func(q *request) (reply, error) {
		v, err := svc.findVolume(q)
		if err != nil {
			return reply{}, err
		}
		svc.countPoll(v.ID)
		return ok(map[string]any{"volume": v.detail(q)})
	})
	on("PUT /volumes/{id}", svc.updateVolume)
	on("DELETE /volumes/{id}", svc.deleteVolume)
	svc.registerVolumeParts(on)
	svc.registerVolumeTypes(on)
	svc.registerFallback(e)
}

// volumeRoute registers a call below a project, which must be the caller's own. An operator who works on behalf of a project
// needs not know its ID.
func (svc *cinderService) volumeRoute(e endpoint, pattern string, h handler) {
	method, path, _ := strings.Cut(pattern, " ")
	svc.route(e, method+" /v3/{project}"+path, func(q *request) (reply, error) {
		if q.path("project") != q.projectID && !q.admin() {
			return reply{}, core.BadRequest("", "Malformed request url")
		}
		return h(q)
	})
}

func (svc *cinderService) findVolume(q *request) (*Volume, error) {
	v := svc.volumes.Get(q.path("id"))
	if v == nil || !q.owns(v.ProjectID) {
		return nil, core.NotFound("", "Volume %s could not be found.", q.path("id"))
	}
	return v, nil
}

// volumeRule is the schema for a new volume. Attributes that it does not have are passed over.
func volumeRule(key string, value any) string {
	size := func(key string, value any) string {
		if complaint := schema.HasType("integer", "string", "null")(key, value); complaint != "" || value == nil {
			return complaint
		}
		return volumeSize(key, value)
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

// check looks up what a new volume refers to.
func (in *volumeInput) check(svc *cinderService) error {
	size := unquoted(in.Size)
	switch {
	case in.SnapshotID != "":
		return core.NotFound("", "Snapshot %s could not be found.", in.SnapshotID)
	case svc.volumeTypeOf(in.VolumeType) == nil && uuidForm.MatchString(in.VolumeType):
		return noVolumeType(in.VolumeType)
	case svc.volumeTypeOf(in.VolumeType) == nil:
		return core.NotFound("", "Volume type with name %s could not be found.", in.VolumeType)
	case in.ImageRef != "" && svc.glance.images.Get(in.ImageRef) == nil:
		return core.BadRequest("", "Invalid image identifier or unable to access requested image.")
	case len(in.Name) > 255:
		return core.BadRequest("", "Invalid input received: name has %d characters, more than 255.", len(in.Name))
	case size == "" || size == "null":
		return core.BadRequest("", "The server could not comply with the request since it is either malformed or otherwise incorrect.")
	}
	return nil
}

func (svc *cinderService) createVolume(q *request) (reply, error) {
	if err := schema.Validate(q.body, volumeRule); err != nil {
		return reply{}, err
	}
	var in volumeInput
	if raw, _ := core.Unwrap(q.body, "volume"); json.Unmarshal(raw, &in) != nil {
		return reply{}, core.BadRequest("", "The server could not comply with the request since it is either malformed or otherwise incorrect.")
	}
	if err := in.check(svc); err != nil {
		return reply{}, err
	}
	size, _ := strconv.Atoi(unquoted(in.Size)) // the schema has seen to it
	if err := svc.checkVolumeQuota(q.projectID, 1, size); err != nil {
		return reply{}, err
	}
	v := svc.newVolume(q.projectID, q.userID, size)
	v.Name, v.Description, v.VolumeType = in.Name, in.Description, svc.volumeTypeOf(in.VolumeType).name
	v.AvailabilityZone = cmp.Or(in.AvailabilityZone, v.AvailabilityZone)
	if in.Metadata != nil {
		v.Metadata = in.Metadata
	}
	if in.ImageRef != "" {
		v.Bootable = "true"
	}
	view := svc.volumes.Add(v).view(q)
	svc.beginTransition(VolumeCreate, v.ID, func(failed bool) {
		v.Status, v.UpdatedAt = "available", core.Null(manilaTime(svc.now()))
		if failed {
			v.Status = "error"
		}
	})
	return accepted(map[string]any{"volume": view})
}

// checkVolumeQuota answers as Cinder does when so many more volumes or gigabytes would go over a quota.
func (svc *cinderService) checkVolumeQuota(projectID string, volumes, gigabytes int) error {
	has, hasGigabytes := 0, 0
	for _, v := range svc.volumes.Rows {
		if v.ProjectID == projectID {
			has, hasGigabytes = has+1, hasGigabytes+v.Size
		}
	}
	if svc.exceeds(projectID, "gigabytes", hasGigabytes, gigabytes) {
		return core.Fail(http.StatusRequestEntityTooLarge, "overLimit", "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. "+
			"Requested %dG, quota is %dG and %dG has been consumed.", gigabytes, svc.limit(projectID, "gigabytes"), hasGigabytes)
	}
	if svc.exceeds(projectID, "volumes", has, volumes) {
		return core.Fail(http.StatusRequestEntityTooLarge, "overLimit",
			"VolumeLimitExceeded: Maximum number of volumes allowed (%d) exceeded for quota 'volumes'.", svc.limit(projectID, "volumes"))
	}
	return nil
}

func (svc *cinderService) newVolume(projectID, userID string, size int) *Volume {
	return &Volume{
		ID: core.NewUUID(), ProjectID: projectID, UserID: userID, Status: "creating", Size: size, VolumeType: defaultVolumeType,
		AvailabilityZone: "nova", Bootable: "false", Metadata: map[string]string{}, Attachments: []any{}, CreatedAt: manilaTime(svc.now()),
	}
}

func (svc *cinderService) deleteVolume(q *request) (reply, error) {
	v, err := svc.findVolume(q)
	if err != nil {
		return reply{}, err
	}
	if v.Status != "available" && v.Status != "error" {
		return reply{}, core.BadRequest("", "Invalid volume: Volume status must be available or error or error_restoring or error_extending or error_managing and must not be migrating, attached, belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after volume transfer.")
	}
	v.Status = "deleting"
	svc.beginTransition(VolumeDelete, v.ID, func(failed bool) {
		if failed {
			v.Status = "error_deleting"
			return
		}
		svc.volumes.Remove(v.ID)
	})
	return accepted(nil)
}

// volumeSize demands at least 1 GiB.
func volumeSize(key string, value any) string {
	if complaint := schema.HasType("integer", "string")(key, value); complaint != "" {
		return complaint
	}
	if s, isText := value.(string); isText && (s == "" || strings.Trim(s, "0123456789") != "") {
		return schema.Violation(key, value, "%s does not match '^[0-9]+$'", schema.PythonRepr(value))
	}
	return schema.Number(1)(key, value)
}

func metadataWith(keys *regexp.Regexp) schema.Rule {
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
