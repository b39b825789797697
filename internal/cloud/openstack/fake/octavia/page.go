package octavia

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// octaviaPage returns a page. Unlike Neutron's it always has links, and from the second on one to the previous.
func octaviaPage[T any](svc *Service, q *core.Request, rows []*T, id func(*T) string) (core.Page[T], error) {
	marker := q.Values.Get("marker")
	if marker != "" && !slices.ContainsFunc(rows, func(row *T) bool { return id(row) == marker }) {
		return core.Page[T]{}, core.BadRequest("", "Supplied pagination marker '%s' is not valid.", marker)
	}
	cut, err := core.Paginate(rows, id, q, svc.Config.PageSize)
	if err != nil {
		return core.Page[T]{}, err
	}
	// The links do not contain the filters.
	query := []string{fmt.Sprintf("limit=%d", len(cut.Rows))}
	for _, key := range []string{"sort", "sort_key"} {
		if value := q.Values.Get(key); value != "" {
			query = append(query, key+"="+value)
		}
	}
	href := func(marker *T) string {
		return q.Base() + q.HTTP.URL.Path + "?" + strings.Join(append(query, "marker="+id(marker)), "&")
	}
	full := cut.Links != nil
	cut.Links = []map[string]string{}
	if marker != "" && len(cut.Rows) > 0 {
		cut.Links = append(cut.Links, map[string]string{"rel": "previous", "href": href(cut.Rows[0]) + "&page_reverse=True"})
	}
	if full {
		cut.Links = append(cut.Links, map[string]string{"rel": "next", "href": href(cut.Rows[len(cut.Rows)-1])})
	}
	return cut, nil
}
