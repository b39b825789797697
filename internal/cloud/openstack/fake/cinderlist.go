package fake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

func volumeLinks(q *request, id string) []any {
	base := q.base() + cinderPrefix
	return []any{
		map[string]any{"rel": "self", "href": base + "/v3/" + q.projectID + "/volumes/" + id},
		map[string]any{"rel": "bookmark", "href": base + "/" + q.projectID + "/volumes/" + id},
	}
}

// view is a volume as it is shown when it changes.
func (v *Volume) view(q *request) map[string]any {
	view := map[string]any{
		"id": v.ID, "name": v.Name, "description": v.Description, "user_id": v.UserID, "status": v.Status, "size": v.Size,
		"volume_type": v.VolumeType, "availability_zone": v.AvailabilityZone, "bootable": v.Bootable, "metadata": v.Metadata,
		"attachments": v.Attachments, "created_at": v.CreatedAt, "updated_at": v.UpdatedAt, "links": volumeLinks(q, v.ID),
		"encrypted": false, "multiattach": false, "snapshot_id": nil, "source_volid": nil, "replication_status": nil, "consistencygroup_id": nil,
	}
	if !v.madeByNova { // which gives empty texts
		view["name"], view["description"] = orNull(v.Name), orNull(v.Description)
	}
	return view
}

// detail is a volume as it is read.
func (v *Volume) detail(q *request) map[string]any {
	view := v.view(q)
	view["os-vol-tenant-attr:tenant_id"] = v.ProjectID
	return view
}

// listVolumes lists the newest first, unless the list asks for another order. Filters that do not exist are passed over.
func (svc *cinderService) listVolumes(q *request, detailed bool) (reply, error) {
	limit, err := volumeLimit(q.values.Get("limit"))
	if err != nil {
		return reply{}, err
	}
	rows := svc.volumes.Where(func(v *Volume) bool { return v.ProjectID == q.projectID && v.satisfies(q.values) })
	if err := sortVolumes(rows, q.values); err != nil {
		return reply{}, err
	}
	if marker := q.values.Get("marker"); marker != "" {
		if svc.volumes.Get(marker) == nil {
			return reply{}, core.NotFound("", "Volume %s could not be found.", marker)
		}
		rows = rows[slices.IndexFunc(rows, func(v *Volume) bool { return v.ID == marker })+1:]
	}
	body := map[string]any{}
	if rows = rows[:min(limit, len(rows))]; len(rows) == limit && limit > 0 {
		body["volumes_links"] = []any{map[string]any{"rel": "next", "href": nextPage(q, rows[limit-1].ID)}}
	}
	out := []any{}
	for _, v := range rows {
		svc.countPoll(v.ID)
		if detailed {
			out = append(out, v.detail(q))
			continue
		}
		out = append(out, map[string]any{"id": v.ID, "name": v.view(q)["name"], "links": volumeLinks(q, v.ID)})
	}
	body["volumes"] = out
	return ok(body)
}

// volumeLimit is how many volumes a page has (osapi_max_limit).
func volumeLimit(asked string) (int, error) {
	const most = 1000
	if asked == "" {
		return most, nil
	}
	limit, err := strconv.Atoi(asked)
	switch {
	case err != nil:
		return 0, core.BadRequest("", "limit param must be an integer")
	case limit < 0:
		return 0, core.BadRequest("", "limit param must be positive")
	}
	return min(limit, most), nil
}

// satisfies compares with filters. That for metadata is written as an object.
func (v *Volume) satisfies(query url.Values) bool {
	for key, value := range map[string]string{"name": v.Name, "status": v.Status, "bootable": v.Bootable, "size": strconv.Itoa(v.Size)} {
		if query.Has(key) && !strings.EqualFold(query.Get(key), value) {
			return false
		}
	}
	var wanted map[string]string
	if json.Unmarshal([]byte(strings.ReplaceAll(query.Get("metadata"), "'", `"`)), &wanted) == nil {
		for key, value := range wanted {
			if has, there := v.Metadata[key]; !there || has != value {
				return false
			}
		}
	}
	return true
}

func sortVolumes(rows []*Volume, query url.Values) error {
	slices.Reverse(rows)
	key, dir, _ := strings.Cut(cmp.Or(query.Get("sort"), query.Get("sort_key")+":"+query.Get("sort_dir")), ":")
	values := map[string]func(*Volume) string{
		"created_at": func(v *Volume) string { return v.CreatedAt },
		"id":         func(v *Volume) string { return v.ID },
		"name":       func(v *Volume) string { return strings.ToLower(v.Name) },
		"status":     func(v *Volume) string { return v.Status },
		"size":       func(v *Volume) string { return fmt.Sprintf("%09d", v.Size) },
		"bootable":   func(v *Volume) string { return v.Bootable },
	}
	value, known := values[cmp.Or(key, "created_at")]
	if !known {
		return core.BadRequest("", "Invalid input received: Invalid sort key")
	}
	slices.SortStableFunc(rows, func(a, b *Volume) int {
		if dir != "asc" {
			a, b = b, a
		}
		return strings.Compare(value(a), value(b))
	})
	return nil
}
