package cinder

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

func volumeLinks(q *core.Request, id string) []any {
	base := q.Base() + core.CinderPrefix
	return []any{
		map[string]any{"rel": "self", "href": base + "/v3/" + q.ProjectID + "/volumes/" + id},
		map[string]any{"rel": "bookmark", "href": base + "/" + q.ProjectID + "/volumes/" + id},
	}
}

// view is a volume in the response to a change.
func (v *Volume) view(q *core.Request) map[string]any {
	view := map[string]any{
		"id": v.ID, "name": v.Name, "description": v.Description, "user_id": v.UserID, "status": v.Status, "size": v.Size,
		"volume_type": v.VolumeType, "availability_zone": v.AvailabilityZone, "bootable": v.Bootable, "metadata": v.Metadata,
		"attachments": v.Attachments, "created_at": v.CreatedAt, "updated_at": v.UpdatedAt, "links": volumeLinks(q, v.ID),
		"encrypted": false, "multiattach": false, "snapshot_id": nil, "source_volid": nil, "replication_status": nil, "consistencygroup_id": nil,
	}
	if !v.MadeByNova { // which gives empty texts
		view["name"], view["description"] = core.OrNull(v.Name), core.OrNull(v.Description)
	}
	return view
}

// detail is a volume in the response to a read.
func (v *Volume) detail(q *core.Request) map[string]any {
	view := v.view(q)
	view["os-vol-tenant-attr:tenant_id"] = v.ProjectID
	return view
}

// listVolumes lists the newest first, unless the list has another order. Unknown filters are ignored.
func (svc *Service) listVolumes(q *core.Request, detailed bool) (core.Reply, error) {
	limit, err := volumeLimit(q.Values.Get("limit"))
	if err != nil {
		return core.Reply{}, err
	}
	rows := svc.Volumes.Where(func(v *Volume) bool { return v.ProjectID == q.ProjectID && v.satisfies(q.Values) })
	if err := sortVolumes(rows, q.Values); err != nil {
		return core.Reply{}, err
	}
	if marker := q.Values.Get("marker"); marker != "" {
		if svc.Volumes.Get(marker) == nil {
			return core.Reply{}, core.NotFound("", "Volume %s could not be found.", marker)
		}
		rows = rows[slices.IndexFunc(rows, func(v *Volume) bool { return v.ID == marker })+1:]
	}
	body := map[string]any{}
	if rows = rows[:min(limit, len(rows))]; len(rows) == limit && limit > 0 {
		body["volumes_links"] = []any{map[string]any{"rel": "next", "href": core.NextPage(q, rows[limit-1].ID)}}
	}
	out := []any{}
	for _, v := range rows {
		svc.CountPoll(v.ID)
		if detailed {
			out = append(out, v.detail(q))
			continue
		}
		out = append(out, map[string]any{"id": v.ID, "name": v.view(q)["name"], "links": volumeLinks(q, v.ID)})
	}
	body["volumes"] = out
	return core.OK(body)
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

// satisfies reports whether the volume matches the filters. The filter for metadata is written as an object.
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
