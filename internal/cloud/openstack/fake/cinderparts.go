package fake

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"strconv"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// registerVolumeParts serves what hangs on a volume.
func (svc *cinderService) registerVolumeParts(route func(pattern string, h handler)) {
	on := func(pattern string, do func(q *request, v *Volume) (reply, error)) {
		route(pattern, func(q *request) (reply, error) {
			v, err := svc.findVolume(q)
			if err != nil {
				return reply{}, err
			}
			return do(q, v)
		})
	}
	on("GET /volumes/{id}/metadata", func(_ *request, v *Volume) (reply, error) {
		return ok(map[string]any{"metadata": v.Metadata})
	})
	on("POST /volumes/{id}/metadata", func(q *request, v *Volume) (reply, error) { return v.setMetadata(q, maps.Clone(v.Metadata)) })
	on("PUT /volumes/{id}/metadata", func(q *request, v *Volume) (reply, error) { return v.setMetadata(q, map[string]string{}) })
	on("DELETE /volumes/{id}/metadata/{key}", func(q *request, v *Volume) (reply, error) {
		if _, there := v.Metadata[q.path("key")]; !there {
			return reply{}, core.NotFound("", "Volume %s has no metadata with key %s.", v.ID, q.path("key"))
		}
		v.Metadata = maps.Clone(v.Metadata)
		delete(v.Metadata, q.path("key"))
		return reply{status: http.StatusOK}, nil
	})
	on("POST /volumes/{id}/action", svc.volumeAction)
}

// volumeMetadata demands texts under plain keys, of which Cinder takes more than Nova.
func volumeMetadata(key string, value any) string {
	if value == nil {
		return ""
	}
	return metadataWith(regexp.MustCompile(`^[a-zA-Z0-9-_:. /]{1,255}$`))(key, value)
}

func (v *Volume) setMetadata(q *request, onto map[string]string) (reply, error) {
	if err := schema.Validate(q.body, schema.Object([]string{"metadata"}, schema.Attribute("metadata", volumeMetadata))); err != nil {
		return reply{}, err
	}
	raw, _ := core.Unwrap(q.body, "metadata")
	if json.Unmarshal(raw, &onto) != nil {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	v.Metadata = onto
	return ok(map[string]any{"metadata": onto})
}

func (svc *cinderService) updateVolume(q *request) (reply, error) {
	rule := schema.Object([]string{"volume"}, schema.Attribute("volume", schema.Object(nil,
		schema.Attribute("name", schema.HasType("string", "null")), schema.Attribute("description", schema.HasType("string", "null")), schema.Attribute("metadata", volumeMetadata),
	)))
	if err := schema.Validate(q.body, rule); err != nil {
		return reply{}, err
	}
	v, err := svc.findVolume(q)
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Name        core.Opt[string]  `json:"name"`
		Description core.Opt[string]  `json:"description"`
		Metadata    map[string]string `json:"metadata"`
	}
	if raw, _ := core.Unwrap(q.body, "volume"); json.Unmarshal(raw, &in) != nil {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	in.Name.Into(&v.Name)
	in.Description.Into(&v.Description)
	if in.Metadata != nil {
		v.Metadata = in.Metadata
	}
	v.UpdatedAt = core.Null(manilaTime(svc.now()))
	return ok(map[string]any{"volume": v.view(q)})
}

// volumeAction extends.
func (svc *cinderService) volumeAction(q *request, v *Volume) (reply, error) {
	var named map[string]json.RawMessage
	if json.Unmarshal(q.body, &named) != nil || len(named) != 1 {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	for action := range named {
		if action != "os-extend" {
			return reply{}, core.BadRequest("", "There is no such action: %s. Verify the request body and Content-Type header and try again.", action)
		}
	}
	if err := schema.Validate(q.body, schema.Object(nil, schema.Attribute("os-extend", schema.Object([]string{"new_size"}, schema.Attribute("new_size", volumeSize))))); err != nil {
		return reply{}, err
	}
	var in struct {
		NewSize json.RawMessage `json:"new_size"`
	}
	if json.Unmarshal(named["os-extend"], &in) != nil {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	size, _ := strconv.Atoi(unquoted(in.NewSize)) // the schema has seen to it
	switch {
	case v.Status != "available":
		return reply{}, core.BadRequest("", "Invalid volume: Volume %s status must be '('available',)' to extend, currently %s.", v.ID, v.Status)
	case size <= v.Size:
		return reply{}, core.BadRequest("", "Invalid input received: New size for extend must be greater than current size. (current: %d, extended: %d).", v.Size, size)
	}
	if err := svc.checkVolumeQuota(v.ProjectID, 0, size-v.Size); err != nil {
		return reply{}, err
	}
	v.Size, v.UpdatedAt = size, core.Null(manilaTime(svc.now()))
	return accepted(nil)
}
