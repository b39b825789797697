package nova

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// registerServerParts serves sub-resources of servers, and the facts of Nova that clients read.
func (svc *Service) registerServerParts(e core.Endpoint) {
	on := serverPart(func(pattern string, do func(q *core.Request, s *Server) (core.Reply, error)) {
		svc.novaRoute(e, pattern, func(q *core.Request, _ int) (core.Reply, error) {
			s, err := svc.findServer(q)
			if err != nil {
				return core.Reply{}, err
			}
			return do(q, s)
		})
	})
	svc.registerServerMetadata(on)
	svc.registerServerTags(e)
	svc.registerInterfaces(on)
	svc.novaRoute(e, "POST /servers/{id}/action", svc.serverAction)
	svc.novaRoute(e, "GET /os-availability-zone", func(*core.Request, int) (core.Reply, error) {
		out := []any{}
		for _, zone := range svc.Config.Zones {
			out = append(out, map[string]any{"zoneName": zone, "zoneState": map[string]any{"available": true}, "hosts": nil})
		}
		return core.OK(map[string]any{"availabilityZoneInfo": out})
	})
	svc.novaRoute(e, "GET /os-availability-zone/detail", func(*core.Request, int) (core.Reply, error) {
		return core.Reply{}, policyForbids("os-availability-zone:detail")
	})
}

// serverPart registers a call about a server.
type serverPart func(pattern string, do func(q *core.Request, s *Server) (core.Reply, error))

func (svc *Service) registerServerMetadata(on serverPart) {
	on("GET /servers/{id}/metadata", func(_ *core.Request, s *Server) (core.Reply, error) {
		return core.OK(map[string]any{"metadata": s.Metadata})
	})
	on("POST /servers/{id}/metadata", func(q *core.Request, s *Server) (core.Reply, error) {
		return svc.setMetadata(q, s, maps.Clone(s.Metadata))
	})
	on("PUT /servers/{id}/metadata", func(q *core.Request, s *Server) (core.Reply, error) {
		return svc.setMetadata(q, s, map[string]string{})
	})
	missing := core.NotFound("", "Metadata item was not found")
	on("GET /servers/{id}/metadata/{key}", func(q *core.Request, s *Server) (core.Reply, error) {
		value, there := s.Metadata[q.Path("key")]
		if !there {
			return core.Reply{}, missing
		}
		return core.OK(map[string]any{"meta": map[string]string{q.Path("key"): value}})
	})
	on("PUT /servers/{id}/metadata/{key}", svc.setMetadataItem)
	on("DELETE /servers/{id}/metadata/{key}", func(q *core.Request, s *Server) (core.Reply, error) {
		if _, there := s.Metadata[q.Path("key")]; !there {
			return core.Reply{}, missing
		}
		s.Metadata = maps.Clone(s.Metadata)
		delete(s.Metadata, q.Path("key"))
		return core.NoContent()
	})
}

func (svc *Service) setMetadata(q *core.Request, s *Server, onto map[string]string) (core.Reply, error) {
	if err := schema.Validate(q.Body, schema.Object([]string{"metadata"}, schema.Attribute("metadata", metadataRule))); err != nil {
		return core.Reply{}, err
	}
	raw, _ := core.Unwrap(q.Body, "metadata")
	if json.Unmarshal(raw, &onto) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	s.Metadata = onto
	return core.OK(map[string]any{"metadata": onto})
}

func (svc *Service) setMetadataItem(q *core.Request, s *Server) (core.Reply, error) {
	if err := schema.Validate(q.Body, schema.Object([]string{"meta"}, schema.Attribute("meta", metadataRule))); err != nil {
		return core.Reply{}, err
	}
	var item map[string]string
	if raw, _ := core.Unwrap(q.Body, "meta"); json.Unmarshal(raw, &item) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	if _, named := item[q.Path("key")]; !named {
		return core.Reply{}, core.BadRequest("", "Request body and URI mismatch")
	}
	s.Metadata = maps.Clone(s.Metadata)
	maps.Copy(s.Metadata, item)
	return core.OK(map[string]any{"meta": item})
}

// serverAction starts, stops, reboots and deletes.
func (svc *Service) serverAction(q *core.Request, _ int) (core.Reply, error) {
	var in map[string]json.RawMessage
	if json.Unmarshal(q.Body, &in) != nil || len(in) != 1 {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	action := slices.Collect(maps.Keys(in))[0]
	verb, known := map[string]string{"os-start": "start", "os-stop": "stop", "reboot": "reboot", "forceDelete": "force_delete"}[action]
	if !known {
		return core.Reply{}, core.BadRequest("", "There is no such action: %s", action)
	}
	if action == "reboot" {
		kinds := schema.OneOf("HARD", "Hard", "hard", "SOFT", "Soft", "soft")
		err := schema.Validate(q.Body, schema.Object([]string{"reboot"}, schema.Attribute("reboot", schema.Object([]string{"type"}, schema.Attribute("type", schema.AllOf(schema.HasType("string"), kinds))))))
		if err != nil {
			return core.Reply{}, err
		}
	}
	s, err := svc.findServer(q)
	if err != nil {
		return core.Reply{}, core.NotFound("", "Instance %s has no mapping to a cell.", q.Path("id"))
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
		return core.Reply{}, core.Conflict("", "Cannot '%s' instance %s while it is in vm_state %s", verb, s.ID, vmState(s.Status))
	}
	svc.touchServer(s)
	return core.Accepted(nil)
}
