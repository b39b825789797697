package fake

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// registerServerParts serves what hangs on a server, and the few facts of Nova that clients look up.
func (svc *novaService) registerServerParts(e endpoint) {
	on := serverPart(func(pattern string, do func(q *request, s *Server) (reply, error)) {
		svc.novaRoute(e, pattern, func(q *request, _ int) (reply, error) {
			s, err := svc.findServer(q)
			if err != nil {
				return reply{}, err
			}
			return do(q, s)
		})
	})
	svc.registerServerMetadata(on)
	svc.registerServerTags(e)
	svc.registerInterfaces(on)
	svc.novaRoute(e, "POST /servers/{id}/action", svc.serverAction)
	svc.novaRoute(e, "GET /os-availability-zone", func(*request, int) (reply, error) {
		out := []any{}
		for _, zone := range svc.config.zones {
			out = append(out, map[string]any{"zoneName": zone, "zoneState": map[string]any{"available": true}, "hosts": nil})
		}
		return ok(map[string]any{"availabilityZoneInfo": out})
	})
	svc.novaRoute(e, "GET /os-availability-zone/detail", func(*request, int) (reply, error) {
		return reply{}, policyForbids("os-availability-zone:detail")
	})
}

// serverPart registers a call about a server.
type serverPart func(pattern string, do func(q *request, s *Server) (reply, error))

func (svc *novaService) registerServerMetadata(on serverPart) {
	on("GET /servers/{id}/metadata", func(_ *request, s *Server) (reply, error) {
		return ok(map[string]any{"metadata": s.Metadata})
	})
	on("POST /servers/{id}/metadata", func(q *request, s *Server) (reply, error) {
		return svc.setMetadata(q, s, maps.Clone(s.Metadata))
	})
	on("PUT /servers/{id}/metadata", func(q *request, s *Server) (reply, error) {
		return svc.setMetadata(q, s, map[string]string{})
	})
	missing := core.NotFound("", "Metadata item was not found")
	on("GET /servers/{id}/metadata/{key}", func(q *request, s *Server) (reply, error) {
		value, there := s.Metadata[q.path("key")]
		if !there {
			return reply{}, missing
		}
		return ok(map[string]any{"meta": map[string]string{q.path("key"): value}})
	})
	on("PUT /servers/{id}/metadata/{key}", svc.setMetadataItem)
	on("DELETE /servers/{id}/metadata/{key}", func(q *request, s *Server) (reply, error) {
		if _, there := s.Metadata[q.path("key")]; !there {
			return reply{}, missing
		}
		s.Metadata = maps.Clone(s.Metadata)
		delete(s.Metadata, q.path("key"))
		return noContent()
	})
}

func (svc *novaService) setMetadata(q *request, s *Server, onto map[string]string) (reply, error) {
	if err := schema.Validate(q.body, schema.Object([]string{"metadata"}, schema.Attribute("metadata", metadataRule))); err != nil {
		return reply{}, err
	}
	raw, _ := core.Unwrap(q.body, "metadata")
	if json.Unmarshal(raw, &onto) != nil {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	s.Metadata = onto
	return ok(map[string]any{"metadata": onto})
}

func (svc *novaService) setMetadataItem(q *request, s *Server) (reply, error) {
	if err := schema.Validate(q.body, schema.Object([]string{"meta"}, schema.Attribute("meta", metadataRule))); err != nil {
		return reply{}, err
	}
	var item map[string]string
	if raw, _ := core.Unwrap(q.body, "meta"); json.Unmarshal(raw, &item) != nil {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	if _, named := item[q.path("key")]; !named {
		return reply{}, core.BadRequest("", "Request body and URI mismatch")
	}
	s.Metadata = maps.Clone(s.Metadata)
	maps.Copy(s.Metadata, item)
	return ok(map[string]any{"meta": item})
}

// serverAction starts, stops, reboots and deletes.
func (svc *novaService) serverAction(q *request, _ int) (reply, error) {
	var in map[string]json.RawMessage
	if json.Unmarshal(q.body, &in) != nil || len(in) != 1 {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	action := slices.Collect(maps.Keys(in))[0]
	verb, known := map[string]string{"os-start": "start", "os-stop": "stop", "reboot": "reboot", "forceDelete": "force_delete"}[action]
	if !known {
		return reply{}, core.BadRequest("", "There is no such action: %s", action)
	}
	if action == "reboot" {
		kinds := schema.OneOf("HARD", "Hard", "hard", "SOFT", "Soft", "soft")
		err := schema.Validate(q.body, schema.Object([]string{"reboot"}, schema.Attribute("reboot", schema.Object([]string{"type"}, schema.Attribute("type", schema.AllOf(schema.HasType("string"), kinds))))))
		if err != nil {
			return reply{}, err
		}
	}
	s, err := svc.findServer(q)
	if err != nil {
		return reply{}, core.NotFound("", "Instance %s has no mapping to a cell.", q.path("id"))
	}
	switch {
	case action == "forceDelete":
		svc.destroyServer(s)
	case action == "os-start" && s.Status == "SHUTOFF":
		s.Status = "ACTIVE"
	case action == "os-stop" && s.Status == "ACTIVE":
		s.Status = "SHUTOFF"
	case action == "reboot" && s.Status == "ACTIVE":
	default:
		return reply{}, core.Conflict("", "Cannot '%s' instance %s while it is in vm_state %s", verb, s.ID, vmState(s.Status))
	}
	svc.touchServer(s)
	return accepted(nil)
}
