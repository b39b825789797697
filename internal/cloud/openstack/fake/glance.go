package fake

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

const glancePrefix = "/image"

// Image is a Glance image.
type Image struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	Status          string   `json:"status"`
	Visibility      string   `json:"visibility"`
	Owner           string   `json:"owner"`
	ContainerFormat string   `json:"container_format"`
	DiskFormat      string   `json:"disk_format"`
	MinDisk         int      `json:"min_disk"`
	MinRAM          int      `json:"min_ram"`
	Size            int      `json:"size"`
	Checksum        string   `json:"checksum"`
	Protected       bool     `json:"protected"`
	Hidden          bool     `json:"os_hidden"`
	Architecture    string   `json:"architecture"`
	Tags            []string `json:"tags"`
	Self            string   `json:"self"`
	File            string   `json:"file"`
	Schema          string   `json:"schema"`
	CreatedAt       string   `json:"created_at"`
	UpdatedAt       string   `json:"updated_at"`
}

type glanceState struct {
	images  *table[Image]
	filters filters
}

func (c *Cloud) registerGlance() {
	c.glance.images = newTable(func(i *Image) string { return i.ID })
	c.glance.filters = newFilters[Image]()
	e := endpoint{service: wire.Glance, prefix: glancePrefix}
	c.open(e, "GET /{$}", versionDocument(http.StatusMultipleChoices, glancePrefix, apiVersion{id: "v2.16", status: "CURRENT", path: "v2/"}))
	c.route(e, "GET /v2/images", c.listImages)
	c.route(e, "GET /v2/images/{id}", func(q *request) (reply, error) {
		i := c.glance.images.get(q.path("id"))
		if i == nil || !c.readableImage(q, i) {
			return reply{}, notFound("", "No image found with ID %s", q.path("id"))
		}
		return ok(*i)
	})
	c.otherwise(e)
}

func (c *Cloud) readableImage(q *request, i *Image) bool {
	return i.Visibility == "public" || i.Visibility == "community" || q.owns(i.Owner)
}

func (c *Cloud) listImages(q *request) (reply, error) {
	query := url.Values{}
	for key, values := range q.values {
		if key != "tag" {
			query[key] = values
		}
		if name, isSet := strings.CutPrefix(q.values.Get(key), "in:"); isSet {
			query[key] = strings.Split(name, ",")
		}
	}
	rows := c.glance.images.where(func(i *Image) bool {
		return c.readableImage(q, i) && c.glance.filters.match(reflect.ValueOf(i).Elem(), query) &&
			!slices.ContainsFunc(q.values["tag"], func(t string) bool { return !slices.Contains(i.Tags, t) })
	})
	sortRows(c.glance.filters, rows, q.values)
	if marker := q.values.Get("marker"); marker != "" {
		rows = rows[slices.IndexFunc(rows, func(i *Image) bool { return i.ID == marker })+1:]
	}
	body := map[string]any{"schema": "/v2/schemas/images", "first": "/v2/images"}
	if limit, err := strconv.Atoi(q.values.Get("limit")); err == nil && limit > 0 && len(rows) > limit {
		rows = rows[:limit]
		next := url.Values{"marker": {rows[limit-1].ID}, "limit": {strconv.Itoa(limit)}}
		body["next"] = "/v2/images?" + next.Encode()
	}
	body["images"] = copies(rows)
	return ok(body)
}

// AddImage adds a public image and returns its ID.
func (c *Cloud) AddImage(name, architecture string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, id := timestamp(c.now()), newUUID()
	return c.glance.images.add(&Image{
		ID: id, Name: name, Status: "active", Visibility: "public", ContainerFormat: "bare", DiskFormat: "qcow2",
		MinDisk: 1, Size: 1 << 16, Checksum: newHexID(), Architecture: architecture, Tags: []string{},
		Self: "/v2/images/" + id, File: "/v2/images/" + id + "/file", Schema: "/v2/schemas/image", CreatedAt: now, UpdatedAt: now,
	}).ID
}
