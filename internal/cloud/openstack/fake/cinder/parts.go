package cinder

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"strconv"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// registerVolumeParts serves sub-resources of volumes.
func (svc *Service) registerVolumeParts(route func(pattern string, h core.Handler)) {
	on := func(pattern string, do func(q *core.Request, v *Volume) (core.Reply, error)) {
		route(pattern, func(q *core.Request) (core.Reply, error) {
			v, err := svc.findVolume(q)
			if err != nil {
				return core.Reply{}, err
			}
			return do(q, v)
		})
	}
	on("GET /volumes/{id}/metadata", func(_ *core.Request, v *Volume) (core.Reply, error) {
		return core.OK(map[string]any{"metadata": v.Metadata})
	})
	on("POST /volumes/{id}/metadata", func(q *core.Request, v *Volume) (core.Reply, error) { return v.setMetadata(q, maps.Clone(v.Metadata)) })
	on("PUT /volumes/{id}/metadata", func(q *core.Request, v *Volume) (core.Reply, error) { return v.setMetadata(q, map[string]string{}) })
	on("DELETE /volumes/{id}/metadata/{key}", func(q *core.Request, v *Volume) (core.Reply, error) {
		if _, there := v.Metadata[q.Path("key")]; !there {
			return core.Reply{}, core.NotFound("", "Volume %s has no metadata with key %s.", v.ID, q.Path("key"))
		}
		v.Metadata = maps.Clone(v.Metadata)
		delete(v.Metadata, q.Path("key"))
		return core.Reply{Status: http.StatusOK}, nil
	})
	on("POST /volumes/{id}/action", svc.volumeAction)
}

// volumeMetadata requires strings under plain keys, of which Cinder accepts more than Nova.
func volumeMetadata(key string, value any) string {
	if value == nil {
		return ""
	}
	return MetadataWith(regexp.MustCompile(`^[a-zA-Z0-9-_:. /]{1,255}$`))(key, value)
}

func (v *Volume) setMetadata(q *core.Request, onto map[string]string) (core.Reply, error) {
	if err := schema.Validate(q.Body, schema.Object([]string{"metadata"}, schema.Attribute("metadata", volumeMetadata))); err != nil {
		return core.Reply{}, err
	}
	raw, _ := core.Unwrap(q.Body, "metadata")
	if json.Unmarshal(raw, &onto) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	v.Metadata = onto
	return core.OK(map[string]any{"metadata": onto})
}

func (svc *Service) updateVolume(q *core.Request) (core.Reply, error) {
	rule := schema.Object([]string{"volume"}, schema.Attribute("volume", schema.Object(nil,
		schema.Attribute("name", schema.HasType("string", "null")), schema.Attribute("description", schema.HasType("string", "null")), schema.Attribute("metadata", volumeMetadata),
	)))
	if err := schema.Validate(q.Body, rule); err != nil {
		return core.Reply{}, err
	}
	v, err := svc.findVolume(q)
	if err != nil {
		return core.Reply{}, err
	}
	var in struct {
		Name        core.Opt[string]  `json:"name"`
		Description core.Opt[string]  `json:"description"`
		Metadata    map[string]string `json:"metadata"`
	}
	if raw, _ := core.Unwrap(q.Body, "volume"); json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	in.Name.Into(&v.Name)
	in.Description.Into(&v.Description)
	if in.Metadata != nil {
		v.Metadata = in.Metadata
	}
	v.UpdatedAt = core.Null(core.ManilaTime(svc.Now()))
	return core.OK(map[string]any{"volume": v.view(q)})
}

// volumeAction extends a volume.
func (svc *Service) volumeAction(q *core.Request, v *Volume) (core.Reply, error) {
	var named map[string]json.RawMessage
	if json.Unmarshal(q.Body, &named) != nil || len(named) != 1 {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	for action := range named {
		if action != "os-extend" {
			return core.Reply{}, core.BadRequest("", "There is no such action: %s. Verify the request body and Content-Type header and try again.", action)
		}
	}
	if err := schema.Validate(q.Body, schema.Object(nil, schema.Attribute("os-extend", schema.Object([]string{"new_size"}, schema.Attribute("new_size", VolumeSize))))); err != nil {
		return core.Reply{}, err
	}
	var in struct {
		NewSize json.RawMessage `json:"new_size"`
	}
	if json.Unmarshal(named["os-extend"], &in) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	size, _ := strconv.Atoi(core.Unquoted(in.NewSize)) // the schema has seen to it
	switch {
	case v.Status != "available":
		return core.Reply{}, core.BadRequest("", "Invalid volume: Volume %s status must be '('available',)' to extend, currently %s.", v.ID, v.Status)
	case size <= v.Size:
		return core.Reply{}, core.BadRequest("", "Invalid input received: New size for extend must be greater than current size. (current: %d, extended: %d).", v.Size, size)
	}
	if err := svc.CheckVolumeQuota(v.ProjectID, 0, size-v.Size); err != nil {
		return core.Reply{}, err
	}
	v.Size, v.UpdatedAt = size, core.Null(core.ManilaTime(svc.Now()))
	return core.Accepted(nil)
}
