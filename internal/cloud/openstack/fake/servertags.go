package fake

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// registerServerTags serves tags, which exist since microversion 2.26.
func (svc *novaService) registerServerTags(e endpoint) {
	on := func(pattern string, do func(q *request, s *Server) (reply, error)) {
		svc.novaRoute(e, pattern, func(q *request, micro int) (reply, error) {
			if micro < 226 {
				return reply{}, core.NotFound("", "The resource could not be found.")
			}
			s, err := svc.findServer(q)
			if err != nil {
				return reply{}, err
			}
			return do(q, s)
		})
	}
	on("GET /servers/{id}/tags", func(_ *request, s *Server) (reply, error) { return ok(map[string]any{"tags": s.Tags}) })
	on("PUT /servers/{id}/tags", func(q *request, s *Server) (reply, error) {
		var in struct {
			Tags []string `json:"tags"`
		}
		if err := schema.Validate(q.body, schema.Object([]string{"tags"}, schema.Attribute("tags", schema.AllOf(schema.ArrayOf(serverTag), schema.LengthBetween(0, 50))))); err != nil {
			return reply{}, err
		}
		if json.Unmarshal(q.body, &in) != nil {
			return reply{}, core.BadRequest("", "Malformed request body")
		}
		slices.Sort(in.Tags)
		s.Tags = slices.Compact(in.Tags)
		return ok(map[string]any{"tags": s.Tags})
	})
	on("DELETE /servers/{id}/tags", func(_ *request, s *Server) (reply, error) {
		s.Tags = []string{}
		return noContent()
	})
	on("GET /servers/{id}/tags/{tag}", func(q *request, s *Server) (reply, error) {
		if !slices.Contains(s.Tags, q.path("tag")) {
			return reply{}, core.NotFound("", "Server %s has no tag '%s'", s.ID, q.path("tag"))
		}
		return noContent()
	})
	on("PUT /servers/{id}/tags/{tag}", func(q *request, s *Server) (reply, error) {
		tag := q.path("tag")
		if wrong := serverTag("", tag); wrong != "" {
			return reply{}, core.BadRequest("", "Tag '%s' is invalid. It must be a non empty string without characters '/' and ','. "+
				"Validation error message: %s", tag, wrong)
		}
		if slices.Contains(s.Tags, tag) {
			return noContent()
		}
		s.Tags = core.With(s.Tags, tag)
		return reply{status: http.StatusCreated}, nil
	})
	on("DELETE /servers/{id}/tags/{tag}", func(q *request, s *Server) (reply, error) {
		if !slices.Contains(s.Tags, q.path("tag")) {
			return reply{}, core.NotFound("", "Instance %s has no tag '%s'", s.ID, q.path("tag"))
		}
		s.Tags = core.Without(s.Tags, func(tag string) bool { return tag == q.path("tag") })
		return noContent()
	})
}
