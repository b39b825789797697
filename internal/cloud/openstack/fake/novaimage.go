package fake

import (
	"maps"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// registerNovaImages serves Nova's own list of images, which it had until microversion 2.36. It asks Glance.
func (svc *novaService) registerNovaImages(e endpoint) {
	route := func(pattern string, h novaCall) {
		svc.novaRoute(e, pattern, func(q *request, micro int) (reply, error) {
			if micro >= 236 {
				return reply{}, core.Fail(http.StatusNotFound, "itemNotFound", "The resource could not be found.")
			}
			return h(q, micro)
		})
	}
	route("GET /images", func(q *request, _ int) (reply, error) {
		return svc.listNovaImages(q, func(i *Image) any { return novaBrief(i, q) })
	})
	route("GET /images/detail", func(q *request, _ int) (reply, error) {
		return svc.listNovaImages(q, func(i *Image) any { return novaView(i, q) })
	})
	route("GET /images/{id}", func(q *request, _ int) (reply, error) {
		i := svc.glance.images.Get(q.path("id"))
		if i == nil || !svc.glance.readableImage(q, i) {
			return reply{}, core.NotFound("", "Image not found.")
		}
		return ok(map[string]any{"image": novaView(i, q)})
	})
}

// listNovaImages filters by name and status.
func (svc *novaService) listNovaImages(q *request, view func(*Image) any) (reply, error) {
	rows := svc.glance.images.Where(func(i *Image) bool {
		return svc.glance.readableImage(q, i) &&
			(!q.values.Has("name") || strings.EqualFold(q.values.Get("name"), i.Name)) &&
			(!q.values.Has("status") || strings.EqualFold(q.values.Get("status"), i.Status))
	})
	if err := svc.glance.sortImages(rows, nil); err != nil {
		return reply{}, err
	}
	if strings.Trim(q.values.Get("limit"), "0123456789") != "" {
		return reply{}, core.BadRequest("", "Invalid input received: limit must be an integer")
	}
	if marker := q.values.Get("marker"); marker != "" && svc.glance.images.Get(marker) == nil {
		return reply{}, core.BadRequest("", "HTTP 400 Bad Request: No image found with ID %s", marker)
	}
	part, err := novaPage(q, rows, svc.glance.images.ID)
	if err != nil {
		return reply{}, err
	}
	views := []any{}
	for _, i := range part.rows {
		views = append(views, view(i))
	}
	body := map[string]any{"images": views}
	if part.links != nil {
		body["images_links"] = part.links
	}
	return ok(body)
}

func novaBrief(i *Image, q *request) map[string]any {
	alternate := map[string]any{
		"rel": "alternate", "type": "application/vnd.openstack.image", "href": q.base() + glancePrefix + "/images/" + i.ID,
	}
	return map[string]any{"id": i.ID, "name": i.Name, "links": append(novaLinks(q, "images", i.ID), alternate)}
}

func novaView(i *Image, q *request) map[string]any {
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
