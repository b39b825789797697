package cinder

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

// VolumeType is a type of volumes. All of them are public.
type VolumeType struct {
	id, Name, description string
}

func (v *VolumeType) view() map[string]any {
	return map[string]any{
		"id": v.id, "name": v.Name, "description": core.OrNull(v.description), "extra_specs": map[string]any{},
		"is_public": true, "os-volume-type-access:is_public": true,
	}
}

// registerVolumeTypes serves volume types, which only operators create and delete.
func (svc *Service) registerVolumeTypes(route func(pattern string, h core.Handler)) {
	svc.types = core.NewTable(func(v *VolumeType) string { return v.id })
	svc.types.Add(&VolumeType{id: core.NewUUID(), Name: defaultVolumeType, description: "Default Volume Type"})
	route("GET /types", func(*core.Request) (core.Reply, error) {
		views := []any{}
		for _, v := range slices.Backward(svc.types.Rows) {
			views = append(views, v.view())
		}
		return core.OK(map[string]any{"volume_types": views})
	})
	route("GET /types/{id}", func(q *core.Request) (core.Reply, error) {
		v := svc.types.Get(q.Path("id"))
		if v == nil {
			return core.Reply{}, noVolumeType(q.Path("id"))
		}
		return core.OK(map[string]any{"volume_type": v.view()})
	})
	route("POST /types", svc.createVolumeType)
	route("DELETE /types/{id}", func(q *core.Request) (core.Reply, error) {
		v := svc.types.Get(q.Path("id"))
		switch {
		case !q.Admin():
			return core.Reply{}, core.Forbidden("", "Policy doesn't allow volume_extension:type_delete to be performed.")
		case v == nil:
			return core.Reply{}, noVolumeType(q.Path("id"))
		case svc.Volumes.First(func(volume *Volume) bool { return volume.VolumeType == v.Name }) != nil:
			return core.Reply{}, core.BadRequest("", "Target volume type is still in use.")
		}
		svc.types.Remove(v.id)
		return core.Reply{Status: http.StatusAccepted}, nil
	})
}

func noVolumeType(id string) error {
	return core.NotFound("", "Volume type %s could not be found.", id)
}

func (svc *Service) createVolumeType(q *core.Request) (core.Reply, error) {
	rule := schema.Object([]string{"volume_type"}, schema.Attribute("volume_type", schema.OpenObject([]string{"name"}, schema.Attribute("name", schema.Text255(1)))))
	if err := schema.Validate(q.Body, rule); err != nil {
		return core.Reply{}, err
	}
	if !q.Admin() {
		return core.Reply{}, core.Forbidden("", "Policy doesn't allow volume_extension:type_create to be performed.")
	}
	var in struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	if raw, _ := core.Unwrap(q.Body, "volume_type"); json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	if svc.VolumeTypeOf(in.Name) != nil {
		return core.Reply{}, core.Conflict("", "Volume Type %s already exists.", in.Name)
	}
	made := svc.types.Add(&VolumeType{id: core.NewUUID(), Name: in.Name, description: in.Description})
	return core.OK(map[string]any{"volume_type": made.view()})
}

// VolumeTypeOf returns the type with a name or ID, or nil. Without either it is the default type. Cinder's database compares without case.
func (svc *Service) VolumeTypeOf(nameOrID string) *VolumeType {
	nameOrID = cmp.Or(nameOrID, defaultVolumeType)
	return svc.types.First(func(v *VolumeType) bool { return strings.EqualFold(v.Name, nameOrID) || v.id == nameOrID })
}

// CheckVolumeType returns Nova's error, which compares with case, if a server's volume has a type that does not exist.
func (svc *Service) CheckVolumeType(nameOrID string) error {
	known := svc.VolumeTypeOf(nameOrID)
	if known == nil || nameOrID != "" && nameOrID != known.Name && nameOrID != known.id {
		return core.BadRequest("", "Volume type %s could not be found.", nameOrID)
	}
	return nil
}

// AddVolumeType adds a volume type and returns its ID. An existing type is kept.
func (svc *Service) AddVolumeType(name string) string {
	if known := svc.VolumeTypeOf(name); known != nil {
		return known.id
	}
	return svc.types.Add(&VolumeType{id: core.NewUUID(), Name: name}).id
}
