package glance

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
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
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

// Service is Glance of the fake cloud. Its methods run while the lock of the cloud is held.
type Service struct {
	*core.Cloud

	Images  *core.Table[Image]
	filters core.Filters
}

// New serves the API of Glance on the cloud.
func New(cloud *core.Cloud) *Service {
	svc := &Service{Cloud: cloud}
	svc.registerGlance()
	return svc
}

func (svc *Service) registerGlance() {
	svc.Images = core.NewTable(func(i *Image) string { return i.ID })
	svc.filters = core.NewFilters[Image](nil)
	e := core.Endpoint{Service: services.Glance, Prefix: core.GlancePrefix}
	svc.RouteWithoutToken(e, "GET /{$}", core.VersionDocument(http.StatusMultipleChoices, core.GlancePrefix, glanceVersions()...))
	svc.Route(e, "GET /v2/images", svc.listImages)
	svc.Route(e, "POST /v2/images", svc.createImage)
	svc.Route(e, "GET /v2/images/{id}", func(q *core.Request) (core.Reply, error) {
		i := svc.Images.Get(q.Path("id"))
		if i == nil || !svc.ReadableImage(q, i) {
			return core.Reply{}, core.NotFound("", "No image found with ID %s", q.Path("id"))
		}
		return core.OK(*i)
	})
	svc.Route(e, "DELETE /v2/images/{id}", func(q *core.Request) (core.Reply, error) {
		i := svc.Images.Get(q.Path("id"))
		switch {
		case i == nil || !svc.ReadableImage(q, i):
			return core.Reply{}, core.NotFound("", "Failed to find image %s to delete", q.Path("id"))
		case !q.Owns(i.Owner):
			return core.Reply{}, core.Forbidden("", "You do not own this image")
		}
		svc.Images.Remove(i.ID)
		return core.NoContent()
	})
	svc.RegisterFallback(e)
}

func glanceVersions() []core.ApiVersion {
	versions := []core.ApiVersion{{ID: "v2.15", Status: "CURRENT", Path: "v2/", Undated: true}}
	for minor := range 14 { // 2.14 never was
		versions = append(versions, core.ApiVersion{ID: fmt.Sprintf("v2.%d", minor), Status: "SUPPORTED", Path: "v2/", Undated: true})
	}
	return versions
}

// ReadableImage reports whether the caller may read an image.
func (svc *Service) ReadableImage(q *core.Request, i *Image) bool {
	return i.Visibility == "public" || i.Visibility == "community" || q.Owns(i.Owner)
}

// createImage creates an image that waits for its data, which the fake does not use.
func (svc *Service) createImage(q *core.Request) (core.Reply, error) {
	in := Image{Visibility: "shared", Tags: []string{}}
	if json.Unmarshal(q.Body, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed JSON in request body.")
	}
	if in.Visibility == "public" && !q.Admin() {
		return core.Reply{}, core.Forbidden("", "You are not authorized to complete publicize_image action.")
	}
	in.ID, in.Owner, in.Status = core.NewUUID(), q.ProjectID, "queued"
	return core.Created(*svc.addImage(&in))
}

// imageParameters are parameters of a list that are not filters.
func imageParameters() []string {
	return []string{"limit", "marker", "sort", "sort_key", "sort_dir", "tag"}
}

func (svc *Service) listImages(q *core.Request) (core.Reply, error) {
	if v := q.Values.Get("visibility"); v != "" && !slices.Contains([]string{"public", "private", "shared", "community", "all"}, v) {
		return core.Reply{}, core.BadRequest("", "Invalid visibility value: %s", v)
	}
	limit, err := imageLimit(q.Values.Get("limit"))
	if err != nil {
		return core.Reply{}, err
	}
	if err := checkImageOperators(q.Values); err != nil {
		return core.Reply{}, err
	}
	rows := svc.Images.Where(func(i *Image) bool {
		return svc.ReadableImage(q, i) && svc.imageMatches(i, q.Values) &&
			!slices.ContainsFunc(q.Values["tag"], func(t string) bool { return !slices.Contains(i.Tags, t) })
	})
	if err := svc.SortImages(rows, q.Values); err != nil {
		return core.Reply{}, err
	}
	if marker := q.Values.Get("marker"); marker != "" {
		if svc.Images.Get(marker) == nil {
			return core.Reply{}, core.BadRequest("", "No image found with ID %s", marker)
		}
		rows = rows[slices.IndexFunc(rows, func(i *Image) bool { return i.ID == marker })+1:]
	}
	first := imagesLink(q.HTTP.URL.RawQuery)
	body := map[string]any{"schema": "/v2/schemas/images", "first": first}
	if rows = rows[:min(limit, len(rows))]; len(rows) == limit && limit > 0 {
		// A full page has a link to the next, even if that is empty.
		separator := "?"
		if strings.Contains(first, "?") {
			separator = "&"
		}
		body["next"] = first + separator + "marker=" + rows[limit-1].ID
	}
	body["images"] = core.Copies(rows)
	return core.OK(body)
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

// checkImageOperators refuses unknown operators. Whatever precedes a colon is one.
func checkImageOperators(query url.Values) error {
	for key, values := range query {
		operator, _, found := strings.Cut(values[len(values)-1], ":")
		if found && hasOperators(key) && operator != "in" && operator != "eq" {
			return core.BadRequest("", "Unable to filter by unknown operator '%s'.", operator)
		}
	}
	return nil
}

// imageOperands are the alternatives in a filter.
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

// imageMatches reports whether an image matches the filters of a list, by any property, without case.
func (svc *Service) imageMatches(i *Image, query url.Values) bool {
	for key, values := range query {
		if slices.Contains(imageParameters(), key) || key == "visibility" && values[0] == "all" {
			continue
		}
		index, known := svc.filters.Fields[key]
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

// SortImages sorts the newest first, unless the list has another order.
func (svc *Service) SortImages(rows []*Image, query url.Values) error {
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
	core.SortRows(svc.filters, rows, url.Values{"sort_key": keys, "sort_dir": dirs})
	return nil
}

func (svc *Service) addImage(i *Image) *Image {
	base := "/v2/images/" + i.ID
	i.Self, i.File, i.Schema = base, base+"/file", "/v2/schemas/image"
	i.CreatedAt = core.Timestamp(svc.Now())
	i.UpdatedAt = i.CreatedAt
	return svc.Images.Add(i)
}

// AddPublicImage adds a public image and returns its ID.
func (svc *Service) AddPublicImage(name, architecture, owner string) string {
	return svc.addImage(&Image{
		ID: core.NewUUID(), Name: name, Status: "active", Visibility: "public", Owner: owner, ContainerFormat: "bare", DiskFormat: "qcow2",
		MinDisk: 1, Size: 1 << 16, Checksum: core.NewHexID(), Architecture: architecture, Tags: []string{},
	}).ID
}
