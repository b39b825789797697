package fake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// octaviaPage cuts a page. Unlike Neutron's it always has links, and from the second on one that leads back.
func octaviaPage[T any](svc *octaviaService, q *request, rows []*T, id func(*T) string) (page[T], error) {
	marker := q.values.Get("marker")
	if marker != "" && !slices.ContainsFunc(rows, func(row *T) bool { return id(row) == marker }) {
		return page[T]{}, core.BadRequest("", "Supplied pagination marker '%s' is not valid.", marker)
	}
	cut, err := paginate(rows, id, q, svc.config.pageSize)
	if err != nil {
		return page[T]{}, err
	}
	// What the caller was looking for is not in the links.
	query := []string{fmt.Sprintf("limit=%d", len(cut.rows))}
	for _, key := range []string{"sort", "sort_key"} {
		if value := q.values.Get(key); value != "" {
			query = append(query, key+"="+value)
		}
	}
	href := func(marker *T) string {
		return q.base() + q.http.URL.Path + "?" + strings.Join(append(query, "marker="+id(marker)), "&")
	}
	full := cut.links != nil
	cut.links = []map[string]string{}
	if marker != "" && len(cut.rows) > 0 {
		cut.links = append(cut.links, map[string]string{"rel": "previous", "href": href(cut.rows[0]) + "&page_reverse=True"})
	}
	if full {
		cut.links = append(cut.links, map[string]string{"rel": "next", "href": href(cut.rows[len(cut.rows)-1])})
	}
	return cut, nil
}
