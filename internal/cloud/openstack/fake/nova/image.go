package nova

import (
	"maps"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/glance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// registerNovaImages serves Nova's own list of images, which exists until microversion 2.36. It reads from Glance.
func (svc *Service) registerNovaImages(e core.Endpoint) {
	route := func(pattern string, h novaCall) {
		svc.novaRoute(e, pattern, func(q *core.Request, micro int) (core.Reply, error) {
			if micro >= 236 {
				return core.Reply{}, core.Fail(http.StatusNotFound, "itemNotFound", "The resource could not be found.")
			}
			return h(q, micro)
		})
	}
	route("GET /images", func(q *core.Request, _ int) (core.Reply, error) {
		return svc.listNovaImages(q, func(i *glance.Image) any { return novaBrief(i, q) })
	})
	route("GET /images/detail", func(q *core.Request, _ int) (core.Reply, error) {
		return svc.listNovaImages(q, func(i *glance.Image) any { return novaView(i, q) })
	})
	route("GET /images/{id}", func(q *core.Request, _ int) (core.Reply, error) {
		i := svc.glance.Images.Get(q.Path("id"))
		if i == nil || !svc.glance.ReadableImage(q, i) {
			return core.Reply{}, core.NotFound("", "Image not found.")
		}
		return core.OK(map[string]any{"image": novaView(i, q)})
	})
}

// listNovaImages filters by name and status.
func (svc *Service) listNovaImages(q *core.Request, view func(*glance.Image) any) (core.Reply, error) {
	rows := svc.glance.Images.Where(func(i *glance.Image) bool {
		return svc.glance.ReadableImage(q, i) &&
			(!q.Values.Has("name") || strings.EqualFold(q.Values.Get("name"), i.Name)) &&
			(!q.Values.Has("status") || strings.EqualFold(q.Values.Get("status"), i.Status))
	})
	if err := svc.glance.SortImages(rows, nil); err != nil {
		return core.Reply{}, err
	}
	if strings.Trim(q.Values.Get("limit"), "0123456789") != "" {
		return core.Reply{}, core.BadRequest("", "Invalid input received: limit must be an integer")
	}
	if marker := q.Values.Get("marker"); marker != "" && svc.glance.Images.Get(marker) == nil {
		return core.Reply{}, core.BadRequest("", "HTTP 400 Bad Request: No image found with ID %s", marker)
	}
	part, err := novaPage(q, rows, svc.glance.Images.ID)
	if err != nil {
		return core.Reply{}, err
	}
	views := []any{}
	for _, i := range part.Rows {
		views = append(views, view(i))
	}
	body := map[string]any{"images": views}
	if part.Links != nil {
		body["images_links"] = part.Links
	}
	return core.OK(body)
}

func novaBrief(i *glance.Image, q *core.Request) map[string]any {
	alternate := map[string]any{
		"rel": "alternate", "type": "application/vnd.openstack.image", "href": q.Base() + core.GlancePrefix + "/images/" + i.ID,
	}
	return map[string]any{"id": i.ID, "name": i.Name, "links": append(novaLinks(q, "images", i.ID), alternate)}
}

func novaView(i *glance.Image, q *core.Request) map[string]any {
	status, progress := "SAVING", 25
	if i.Status == "active" {
		status, progress = "ACTIVE", 100
	}
	view := novaBrief(i, q)
	maps.Copy(view, map[string]any{
		"minRam": i.MinRAM, "minDisk": i.MinDisk, "created": i.CreatedAt, "updated": i.UpdatedAt, "status": status, "progress": progress,
		"metadata": map[string]any{"architecture": i.Architecture}, "OS-EXT-IMG-SIZE:size": i.Size,
	})
	return view
}
