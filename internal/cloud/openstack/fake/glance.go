package fake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

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

// glanceService is Glance of the fake cloud. Its methods run while the lock of the cloud is held.
type glanceService struct {
	*shared

	images  *core.Table[Image]
	filters filters
}

// newGlance serves the API of Glance on the cloud.
func newGlance(cloud *shared) *glanceService {
	svc := &glanceService{shared: cloud}
	svc.registerGlance()
	return svc
}

func (svc *glanceService) registerGlance() {
	svc.images = core.NewTable(func(i *Image) string { return i.ID })
	svc.filters = newFilters[Image](nil)
	e := endpoint{service: wire.Glance, prefix: glancePrefix}
	svc.routeWithoutToken(e, "GET /{$}", versionDocument(http.StatusMultipleChoices, glancePrefix, glanceVersions()...))
	svc.route(e, "GET /v2/images", svc.listImages)
	svc.route(e, "POST /v2/images", svc.createImage)
	svc.route(e, "GET /v2/images/{id}", func(q *request) (reply, error) {
		i := svc.images.Get(q.path("id"))
		if i == nil || !svc.readableImage(q, i) {
			return reply{}, core.NotFound("", "No image found with ID %s", q.path("id"))
		}
		return ok(*i)
	})
	svc.route(e, "DELETE /v2/images/{id}", func(q *request) (reply, error) {
		i := svc.images.Get(q.path("id"))
		switch {
		case i == nil || !svc.readableImage(q, i):
			return reply{}, core.NotFound("", "Failed to find image %s to delete", q.path("id"))
		case !q.owns(i.Owner):
			return reply{}, core.Forbidden("", "You do not own this image")
		}
		svc.images.Remove(i.ID)
		return noContent()
	})
	svc.registerFallback(e)
}

func glanceVersions() []apiVersion {
	versions := []apiVersion{{id: "v2.15", status: "CURRENT", path: "v2/", undated: true}}
	for minor := range 14 { // 2.14 never was
		versions = append(versions, apiVersion{id: fmt.Sprintf("v2.%d", minor), status: "SUPPORTED", path: "v2/", undated: true})
	}
	return versions
}

func (svc *glanceService) readableImage(q *request, i *Image) bool {
	return i.Visibility == "public" || i.Visibility == "community" || q.owns(i.Owner)
}

// createImage makes an image that waits for its data, which the fake has no use for.
func (svc *glanceService) createImage(q *request) (reply, error) {
	in := Image{Visibility: "shared", Tags: []string{}}
	if json.Unmarshal(q.body, &in) != nil {
		return reply{}, core.BadRequest("", "Malformed JSON in request body.")
	}
	if in.Visibility == "public" && !q.admin() {
		return reply{}, core.Forbidden("", "You are not authorized to complete publicize_image action.")
	}
	in.ID, in.Owner, in.Status = core.NewUUID(), q.projectID, "queued"
	return created(*svc.addImage(&in))
}

// imageParameters are the parameters of a list that are no filters.
func imageParameters() []string {
	return []string{"limit", "marker", "sort", "sort_key", "sort_dir", "tag"}
}

func (svc *glanceService) listImages(q *request) (reply, error) {
	if v := q.values.Get("visibility"); v != "" && !slices.Contains([]string{"public", "private", "shared", "community", "all"}, v) {
		return reply{}, core.BadRequest("", "Invalid visibility value: %s", v)
	}
	limit, err := imageLimit(q.values.Get("limit"))
	if err != nil {
		return reply{}, err
	}
	if err := checkImageOperators(q.values); err != nil {
		return reply{}, err
	}
	rows := svc.images.Where(func(i *Image) bool {
		return svc.readableImage(q, i) && svc.imageMatches(i, q.values) &&
			!slices.ContainsFunc(q.values["tag"], func(t string) bool { return !slices.Contains(i.Tags, t) })
	})
	if err := svc.sortImages(rows, q.values); err != nil {
		return reply{}, err
	}
	if marker := q.values.Get("marker"); marker != "" {
		if svc.images.Get(marker) == nil {
			return reply{}, core.BadRequest("", "No image found with ID %s", marker)
		}
		rows = rows[slices.IndexFunc(rows, func(i *Image) bool { return i.ID == marker })+1:]
	}
	first := imagesLink(q.http.URL.RawQuery)
	body := map[string]any{"schema": "/v2/schemas/images", "first": first}
	if rows = rows[:min(limit, len(rows))]; len(rows) == limit && limit > 0 {
		// A full page leads to the next, even if that is empty.
		separator := "?"
		if strings.Contains(first, "?") {
			separator = "&"
		}
		body["next"] = first + separator + "marker=" + rows[limit-1].ID
	}
	body["images"] = core.Copies(rows)
	return ok(body)
}

// imageLimit is how many images a page has (limit_param_default, api_limit_max).
func imageLimit(asked string) (int, error) {
	if asked == "" {
		return 25, nil
	}
	limit, err := strconv.Atoi(asked)
	switch {
	case err != nil:
		return 0, core.BadRequest("", "limit param must be an integer")
	case limit < 0:
		return 0, core.BadRequest("", "limit param must be positive")
	}
	return min(limit, 1000), nil
}

// imagesLink repeats the parameters of a list without its marker.
func imagesLink(query string) string {
	var kept []string
	for parameter := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(parameter, "=")
		if plain, err := url.QueryUnescape(value); err == nil && key != "" && key != "marker" {
			kept = append(kept, key+"="+url.QueryEscape(plain))
		}
	}
	if len(kept) == 0 {
		return "/v2/images"
	}
	return "/v2/images?" + strings.Join(kept, "&")
}

// hasOperators reports whether a filter may begin with an operator and a colon.
func hasOperators(filter string) bool {
	return slices.Contains([]string{"name", "id", "status", "container_format", "disk_format"}, filter)
}

// checkImageOperators refuses operators that do not exist. Whatever stands before a colon is one.
func checkImageOperators(query url.Values) error {
	for key, values := range query {
		operator, _, found := strings.Cut(values[len(values)-1], ":")
		if found && hasOperators(key) && operator != "in" && operator != "eq" {
			return core.BadRequest("", "Unable to filter by unknown operator '%s'.", operator)
		}
	}
	return nil
}

// imageOperands are the alternatives of a filter.
func imageOperands(value string) []string {
	operator, operand, found := strings.Cut(value, ":")
	switch {
	case !found:
		return []string{value}
	case operator == "eq":
		return []string{operand}
	}
	var alternatives []string
	for one := range strings.SplitSeq(operand, ",") {
		alternatives = append(alternatives, strings.Trim(one, `"`))
	}
	return alternatives
}

// imageMatches compares an image with the filters of a list. Any property is one, and capitals make no difference.
func (svc *glanceService) imageMatches(i *Image, query url.Values) bool {
	for key, values := range query {
		if slices.Contains(imageParameters(), key) || key == "visibility" && values[0] == "all" {
			continue
		}
		index, known := svc.filters.fields[key]
		if !known {
			return false
		}
		wanted := []string{values[len(values)-1]}
		if hasOperators(key) {
			wanted = imageOperands(wanted[0])
		}
		has := fmt.Sprint(reflect.ValueOf(i).Elem().FieldByIndex(index).Interface())
		if !slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, has) }) {
			return false
		}
	}
	return true
}

// sortImages puts the newest first, unless the list asks for something else.
func (svc *glanceService) sortImages(rows []*Image, query url.Values) error {
	slices.Reverse(rows)
	keys, dirs := query["sort_key"], query["sort_dir"]
	for one := range strings.SplitSeq(query.Get("sort"), ",") {
		if key, dir, _ := strings.Cut(one, ":"); key != "" {
			keys, dirs = append(keys, key), append(dirs, cmp.Or(dir, "desc"))
		}
	}
	for _, key := range keys {
		if possible := []string{"name", "status", "container_format", "disk_format", "size", "id", "created_at", "updated_at"}; !slices.Contains(possible, key) {
			return core.BadRequest("", "Invalid sort key: %s. It must be one of the following: %s.", key, strings.Join(possible, ", "))
		}
	}
	for _, dir := range dirs {
		if dir != "asc" && dir != "desc" {
			return core.BadRequest("", "Invalid sort direction: %s", dir)
		}
	}
	for len(dirs) < len(keys) {
		dirs = append(dirs, "desc")
	}
	sortRows(svc.filters, rows, url.Values{"sort_key": keys, "sort_dir": dirs})
	return nil
}

func (svc *glanceService) addImage(i *Image) *Image {
	base := "/v2/images/" + i.ID
	i.Self, i.File, i.Schema = base, base+"/file", "/v2/schemas/image"
	i.CreatedAt = timestamp(svc.now())
	i.UpdatedAt = i.CreatedAt
	return svc.images.Add(i)
}

// addPublicImage adds a public image and returns its ID.
func (svc *glanceService) addPublicImage(name, architecture, owner string) string {
	return svc.addImage(&Image{
		ID: core.NewUUID(), Name: name, Status: "active", Visibility: "public", Owner: owner, ContainerFormat: "bare", DiskFormat: "qcow2",
		MinDisk: 1, Size: 1 << 16, Checksum: core.NewHexID(), Architecture: architecture, Tags: []string{},
	}).ID
}
