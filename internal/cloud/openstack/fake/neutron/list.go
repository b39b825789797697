package neutron

import (
	"cmp"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// unfilterable reports whether an attribute cannot be used as a filter.
func unfilterable(key string) bool {
	switch key {
	case "subnets", "availability_zones", "availability_zone_hints", "ipv4_address_scope", "ipv6_address_scope",
		"port_security_enabled", "allocation_pools", "dns_nameservers", "host_routes", "service_types", "prefixes",
		"allowed_address_pairs", "binding:vnic_type", "routes", "external_gateway_info", "stateful", "security_group_rules":
		return true
	}
	return false
}

// checkFilters refuses query parameters that are neither reserved nor attributes to filter by, and values of the wrong type.
func checkFilters(f core.Filters, q url.Values) *wire.Error {
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(q)) {
		if core.Reserved(key) {
			continue
		}
		index, isField := f.Fields[key]
		if !isField || unfilterable(key) {
			unknown = append(unknown, key)
			continue
		}
		for _, value := range q[key] {
			if err := checkFilter(f.Row.FieldByIndex(index).Type, value); err != nil {
				return err
			}
		}
	}
	if len(unknown) > 0 {
		return core.BadRequest("HTTPBadRequest", "%s is invalid attribute for filtering", pythonList(unknown))
	}
	return nil
}

func checkFilter(kind reflect.Type, value string) *wire.Error {
	switch kind.Kind() {
	case reflect.Bool:
		if _, err := strconv.ParseBool(strings.ToLower(value)); err != nil {
			return invalid("'%s' cannot be converted to boolean", value)
		}
	case reflect.Int:
		if _, err := strconv.Atoi(value); err != nil {
			return invalid("'%s' is not an integer", value)
		}
	}
	return nil
}

// pythonList formats strings as Python formats a list of them.
func pythonList(texts []string) string { return "['" + strings.Join(texts, "', '") + "']" }

// order is how a list is sorted: by the given attributes, and then by ID.
type order[T any] func(a, b *T) int

// unsortable reports whether an attribute cannot be used for sorting.
func unsortable(key string) bool {
	switch key {
	case "description", "tags", "revision_number", "created_at", "updated_at", "shared", "router:external", "is_default", "fixed_ips",
		"security_groups", "availability_zone_hints":
		return true
	}
	return unfilterable(key)
}

func orderOf[T any](f core.Filters, id func(*T) string, q url.Values) (order[T], *wire.Error) {
	given := func(key string) []string { return core.Without(q[key], func(value string) bool { return value == "" }) }
	keys, dirs := given("sort_key"), given("sort_dir")
	if len(keys) != len(dirs) {
		return nil, core.BadRequest("HTTPBadRequest", "The number of sort_keys and sort_dirs must be same")
	}
	if wrong := core.Without(keys, func(key string) bool { return f.Fields[key] != nil && !unsortable(key) }); len(wrong) > 0 {
		return nil, core.BadRequest("HTTPBadRequest", "%s is invalid attribute for sort_keys", pythonList(wrong))
	}
	if wrong := core.Without(dirs, func(dir string) bool { return dir == "asc" || dir == "desc" }); len(wrong) > 0 {
		return nil, core.BadRequest("HTTPBadRequest", "%s is invalid value for sort_dirs, valid value is 'asc' and 'desc'", pythonList(wrong))
	}
	return func(a, b *T) int {
		for i, key := range keys {
			x, y := reflect.ValueOf(a).Elem().FieldByIndex(f.Fields[key]), reflect.ValueOf(b).Elem().FieldByIndex(f.Fields[key])
			if way := core.CompareFields(x, y); way != 0 && dirs[i] == "desc" {
				return -way
			} else if way != 0 {
				return way
			}
		}
		return cmp.Compare(id(a), id(b))
	}, nil
}

// neutronPage returns the page of a sorted list that limit and marker request, or that the cloud's page size enforces. A marker without a limit is
// ignored.
func neutronPage[T any](rows []*T, k *collection[T], by order[T], q *core.Request, pageSize int) (core.Page[T], *wire.Error) {
	limit, err := neutronLimit(q.Values, pageSize)
	if err != nil || limit == 0 {
		return core.Page[T]{Rows: rows}, err
	}
	back := strings.EqualFold(q.Values.Get("page_reverse"), "true")
	if id := q.Values.Get("marker"); id != "" {
		marker := k.rows.Get(id)
		if marker == nil || !k.readable(q.Identity, marker) {
			return core.Page[T]{}, k.missing(id)
		}
		rows = core.Without(rows, func(row *T) bool {
			way := by(row, marker)
			return back && way >= 0 || !back && way <= 0
		})
	}
	switch {
	case back:
		rows = rows[max(0, len(rows)-limit):]
	case len(rows) > limit:
		rows = rows[:limit]
	}
	return core.Page[T]{Rows: rows, Links: neutronLinks(rows, k.rows.ID, q, len(rows) == limit, back)}, nil
}

func neutronLimit(q url.Values, pageSize int) (int, *wire.Error) {
	sent := cmp.Or(q.Get("limit"), "0")
	limit, err := strconv.Atoi(sent)
	if err != nil || limit < 0 {
		return 0, core.BadRequest("BadRequest", "Bad limit request: Limit must be an integer 0 or greater and not '%s'.", sent)
	}
	if pageSize > 0 && (limit == 0 || limit > pageSize) {
		limit = pageSize
	}
	return limit, nil
}

// neutronLinks are links to the previous and next page. They may be empty: only a page that is not full is known to be the last one in its
// direction.
func neutronLinks[T any](rows []*T, id func(*T) string, q *core.Request, full, back bool) []map[string]string {
	var links []map[string]string
	link := func(rel string, at int) {
		query := core.Without(strings.Split(q.HTTP.URL.RawQuery, "&"), func(parameter string) bool {
			return parameter == "" || strings.HasPrefix(parameter, "marker=") || strings.HasPrefix(parameter, "page_reverse=")
		})
		if len(rows) > 0 {
			query = append(query, "marker="+id(rows[at]))
		}
		if rel == "previous" {
			query = append(query, "page_reverse=True")
		}
		links = append(links, map[string]string{"rel": rel, "href": q.Base() + q.HTTP.URL.Path + "?" + strings.Join(query, "&")})
	}
	if full || back {
		link("next", len(rows)-1)
	}
	if full || !back {
		link("previous", 0)
	}
	return links
}

// matchFixedIPs requires an address in one of the given subnets that is one of the given addresses.
func matchFixedIPs(ips []FixedIP, values []string) bool {
	wanted := url.Values{}
	for _, value := range values {
		key, one, _ := strings.Cut(value, "=")
		wanted.Add(key, one)
	}
	subnets, addresses, parts := wanted["subnet_id"], wanted["ip_address"], wanted["ip_address_substr"]
	if subnets == nil && addresses == nil && parts == nil {
		return true
	}
	return slices.ContainsFunc(ips, func(ip FixedIP) bool {
		holds := func(part string) bool { return strings.Contains(ip.IPAddress, part) }
		return (subnets == nil || slices.Contains(subnets, ip.SubnetID)) &&
			(addresses == nil || slices.Contains(addresses, ip.IPAddress)) &&
			(parts == nil || slices.ContainsFunc(parts, holds))
	})
}

// matchOwn compares fields with Neutron's own types.
func matchOwn(field any, values []string) (matched, known bool) {
	ips, known := field.([]FixedIP)
	return known && matchFixedIPs(ips, values), known
}
