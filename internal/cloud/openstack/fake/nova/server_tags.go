package nova

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// registerServerTags serves tags, which exist since microversion 2.26.
func (svc *Service) registerServerTags(e core.Endpoint) {
	on := func(pattern string, do func(q *core.Request, s *Server) (core.Reply, error)) {
		svc.novaRoute(e, pattern, func(q *core.Request, micro int) (core.Reply, error) {
			if micro < 226 {
				return core.Reply{}, core.NotFound("", "The resource could not be found.")
			}
			s, err := svc.findServer(q)
			if err != nil {
				return core.Reply{}, err
			}
			return do(q, s)
		})
	}
	on("GET /servers/{id}/tags", func(_ *core.Request, s *Server) (core.Reply, error) { return core.OK(map[string]any{"tags": s.Tags}) })
	on("PUT /servers/{id}/tags", func(q *core.Request, s *Server) (core.Reply, error) {
		var in struct {
			Tags []string `json:"tags"`
		}
		if err := schema.Validate(q.Body, schema.Object([]string{"tags"}, schema.Attribute("tags", schema.AllOf(schema.ArrayOf(serverTag), schema.LengthBetween(0, 50))))); err != nil {
			return core.Reply{}, err
		}
		if json.Unmarshal(q.Body, &in) != nil {
			return core.Reply{}, core.BadRequest("", "Malformed request body")
		}
		slices.Sort(in.Tags)
		s.Tags = slices.Compact(in.Tags)
		return core.OK(map[string]any{"tags": s.Tags})
	})
	on("DELETE /servers/{id}/tags", func(_ *core.Request, s *Server) (core.Reply, error) {
		s.Tags = []string{}
		return core.NoContent()
	})
	on("GET /servers/{id}/tags/{tag}", func(q *core.Request, s *Server) (core.Reply, error) {
		if !slices.Contains(s.Tags, q.Path("tag")) {
			return core.Reply{}, core.NotFound("", "Server %s has no tag '%s'", s.ID, q.Path("tag"))
		}
		return core.NoContent()
	})
	on("PUT /servers/{id}/tags/{tag}", func(q *core.Request, s *Server) (core.Reply, error) {
		tag := q.Path("tag")
		if wrong := serverTag("", tag); wrong != "" {
			return core.Reply{}, core.BadRequest("", "Tag '%s' is invalid. It must be a non empty string without characters '/' and ','. "+
				"Validation error message: %s", tag, wrong)
		}
		if slices.Contains(s.Tags, tag) {
			return core.NoContent()
		}
		s.Tags = core.With(s.Tags, tag)
		return core.Reply{Status: http.StatusCreated}, nil
	})
	on("DELETE /servers/{id}/tags/{tag}", func(q *core.Request, s *Server) (core.Reply, error) {
		if !slices.Contains(s.Tags, q.Path("tag")) {
			return core.Reply{}, core.NotFound("", "Instance %s has no tag '%s'", s.ID, q.Path("tag"))
		}
		s.Tags = core.Without(s.Tags, func(tag string) bool { return tag == q.Path("tag") })
		return core.NoContent()
	})
}
