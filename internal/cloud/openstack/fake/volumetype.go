package fake

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// defaultVolumeType is the type that every Cinder has.
const defaultVolumeType = "__DEFAULT__"

// volumeType is a type of volumes. All of them are public.
type volumeType struct {
	id, name, description string
}

func (v *volumeType) view() map[string]any {
	return map[string]any{
		"id": v.id, "name": v.name, "description": orNull(v.description), "extra_specs": map[string]any{},
		"is_public": true, "os-volume-type-access:is_public": true,
	}
}

// registerVolumeTypes serves the types of volumes, which only operators make and delete.
func (svc *cinderService) registerVolumeTypes(route func(pattern string, h handler)) {
	svc.types = core.NewTable(func(v *volumeType) string { return v.id })
	svc.types.Add(&volumeType{id: core.NewUUID(), name: defaultVolumeType, description: "Default Volume Type"})
	route("GET /types", func(*request) (reply, error) {
		views := []any{}
		for _, v := range slices.Backward(svc.types.Rows) {
			views = append(views, v.view())
		}
		return ok(map[string]any{"volume_types": views})
	})
	route("GET /types/{id}", func(q *request) (reply, error) {
		v := svc.types.Get(q.path("id"))
		if v == nil {
			return reply{}, noVolumeType(q.path("id"))
		}
		return ok(map[string]any{"volume_type": v.view()})
	})
	route("POST /types", svc.createVolumeType)
	route("DELETE /types/{id}", func(q *request) (reply, error) {
		v := svc.types.Get(q.path("id"))
		switch {
		case !q.admin():
			return reply{}, core.Forbidden("", "Policy doesn't allow volume_extension:type_delete to be performed.")
		case v == nil:
			return reply{}, noVolumeType(q.path("id"))
		case svc.volumes.First(func(volume *Volume) bool { return volume.VolumeType == v.name }) != nil:
			return reply{}, core.BadRequest("", "Target volume type is still in use.")
		}
		svc.types.Remove(v.id)
		return reply{status: http.StatusAccepted}, nil
	})
}

func noVolumeType(id string) error {
	return core.NotFound("", "Volume type %s could not be found.", id)
}

func (svc *cinderService) createVolumeType(q *request) (reply, error) {
	rule := schema.Object([]string{"volume_type"}, schema.Attribute("volume_type", schema.OpenObject([]string{"name"}, schema.Attribute("name", schema.Text255(1)))))
	if err := schema.Validate(q.body, rule); err != nil {
		return reply{}, err
	}
	if !q.admin() {
		return reply{}, core.Forbidden("", "Policy doesn't allow volume_extension:type_create to be performed.")
	}
	var in struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	if raw, _ := core.Unwrap(q.body, "volume_type"); json.Unmarshal(raw, &in) != nil {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	if svc.volumeTypeOf(in.Name) != nil {
		return reply{}, core.Conflict("", "Volume Type %s already exists.", in.Name)
	}
	made := svc.types.Add(&volumeType{id: core.NewUUID(), name: in.Name, description: in.Description})
	return ok(map[string]any{"volume_type": made.view()})
}

// volumeTypeOf returns the type of a name or ID, or nil. Without either it is the default type. To the database behind Cinder capitals make no
// difference.
func (svc *cinderService) volumeTypeOf(nameOrID string) *volumeType {
	nameOrID = cmp.Or(nameOrID, defaultVolumeType)
	return svc.types.First(func(v *volumeType) bool { return strings.EqualFold(v.name, nameOrID) || v.id == nameOrID })
}

// checkVolumeType answers as Nova does, to which capitals make a difference, when a server's volume is to be of a type that does not exist.
func (svc *cinderService) checkVolumeType(nameOrID string) error {
	known := svc.volumeTypeOf(nameOrID)
	if known == nil || nameOrID != "" && nameOrID != known.name && nameOrID != known.id {
		return core.BadRequest("", "Volume type %s could not be found.", nameOrID)
	}
	return nil
}

// addVolumeType adds a type of volumes and returns its ID. A type that is there already stays.
func (svc *cinderService) addVolumeType(name string) string {
	if known := svc.volumeTypeOf(name); known != nil {
		return known.id
	}
	return svc.types.Add(&volumeType{id: core.NewUUID(), name: name}).id
}
