package core

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Filters compares rows of one type with the filters of a list, by their JSON names.
type Filters struct {
	Row    reflect.Type
	Fields map[string][]int
	own    fieldMatcher
}

// fieldMatcher compares a field with a service's own type; known is false for all others.
type fieldMatcher func(field any, values []string) (matched, known bool)

// NewFilters returns filters over the JSON fields of T. own matches fields other than by equality.
func NewFilters[T any](own fieldMatcher) Filters {
	row := reflect.TypeFor[T]()
	return Filters{Row: row, Fields: JsonFields(row), own: own}
}

// Reserved reports whether a query parameter is not a filter.
func Reserved(key string) bool {
	switch key {
	case "limit", "marker", "page_reverse", "sort_key", "sort_dir", "fields", "tags", "tags-any", "not-tags", "not-tags-any":
		return true
	}
	return false
}

// Unknown returns the query parameters that are neither reserved nor attributes, sorted.
func (f Filters) Unknown(q url.Values) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(q)) {
		if _, isField := f.Fields[key]; !isField && !Reserved(key) {
			out = append(out, key)
		}
	}
	return out
}

// Match reports whether a row (a struct value) matches all filters. The values of one filter are alternatives.
func (f Filters) Match(row reflect.Value, q url.Values) bool {
	for key, values := range q {
		index, isField := f.Fields[key]
		if !isField || Reserved(key) {
			continue
		}
		if !f.matchField(row.FieldByIndex(index), values) {
			return false
		}
	}
	return true
}

// matchField compares strings without case, as OpenStack's databases do.
func (f Filters) matchField(field reflect.Value, values []string) bool {
	is := func(have string) bool {
		return slices.ContainsFunc(values, func(want string) bool { return strings.EqualFold(have, want) })
	}
	if v, isList := reflect.TypeAssert[[]string](field); isList {
		return slices.ContainsFunc(v, is)
	}
	if f.own != nil {
		if matched, known := f.own(field.Interface(), values); known {
			return matched
		}
	}
	switch field.Kind() {
	case reflect.String:
		return is(field.String())
	case reflect.Int:
		return is(strconv.FormatInt(field.Int(), 10))
	case reflect.Bool:
		return slices.ContainsFunc(values, func(s string) bool {
			want, err := strconv.ParseBool(strings.ToLower(s))
			return err == nil && want == field.Bool()
		})
	default:
		return false
	}
}

// MatchTags implements the four tag filters; each has a comma-separated list.
func MatchTags(tags []string, q url.Values) bool {
	has := func(t string) bool { return slices.Contains(tags, t) }
	hasNot := func(t string) bool { return !has(t) }
	for _, key := range []string{"tags", "tags-any", "not-tags", "not-tags-any"} {
		if q.Get(key) == "" {
			continue
		}
		wanted := strings.Split(strings.Join(q[key], ","), ",")
		all := !slices.ContainsFunc(wanted, hasNot)
		some := slices.ContainsFunc(wanted, has)
		matched := map[string]bool{"tags": all, "tags-any": some, "not-tags": !all, "not-tags-any": !some}
		if !matched[key] {
			return false
		}
	}
	return true
}

// SortRows sorts by the sort_key parameters, if there are any; otherwise rows stay in the order of creation.
func SortRows[T any](f Filters, rows []*T, q url.Values) {
	keys, dirs := q["sort_key"], q["sort_dir"]
	if len(keys) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b *T) int {
		for i, key := range keys {
			index, isField := f.Fields[key]
			if !isField {
				continue
			}
			order := CompareFields(reflect.ValueOf(a).Elem().FieldByIndex(index), reflect.ValueOf(b).Elem().FieldByIndex(index))
			if i < len(dirs) && dirs[i] == "desc" {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
}

// Page is a page of a list.
type Page[T any] struct {
	Rows  []*T
	Links []map[string]string
}

// Paginate returns the page that limit and marker request, or that the cloud's page size enforces.
func Paginate[T any](rows []*T, id func(*T) string, q *Request, pageSize int) (Page[T], *wire.Error) {
	limit, _ := strconv.Atoi(q.Values.Get("limit"))
	if limit <= 0 || pageSize > 0 && limit > pageSize {
		limit = pageSize
	}
	if marker := q.Values.Get("marker"); marker != "" {
		at := slices.IndexFunc(rows, func(r *T) bool { return id(r) == marker })
		if at < 0 {
			return Page[T]{}, BadRequest("InvalidInput", "Invalid input for operation: marker %s not found.", marker)
		}
		rows = rows[at+1:]
	}
	if limit <= 0 || len(rows) < limit {
		return Page[T]{Rows: rows}, nil
	}
	// Neutron has a link to a next page whenever this one is full, even if the next is empty.
	rows = rows[:limit]
	query := maps.Clone(q.Values)
	query.Set("marker", id(rows[limit-1]))
	query.Set("limit", strconv.Itoa(limit))
	href := q.Base() + q.HTTP.URL.Path + "?" + query.Encode()
	return Page[T]{Rows: rows, Links: []map[string]string{{"rel": "next", "href": href}}}, nil
}

// OnlyFields keeps only the named attributes of the elements of a list, which is any JSON-encodable slice.
func OnlyFields(list any, fields []string) (any, error) {
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	var all []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	for _, one := range all {
		maps.DeleteFunc(one, func(key string, _ json.RawMessage) bool { return !slices.Contains(fields, key) })
	}
	return all, nil
}

// NextPage is the URL of a list with another marker, as Nova and Cinder write it.
func NextPage(q *Request, marker string) string {
	query := maps.Clone(q.Values)
	query.Del("marker")
	if len(query) > 0 {
		return q.Base() + q.HTTP.URL.Path + "?" + query.Encode() + "&marker=" + url.QueryEscape(marker)
	}
	return q.Base() + q.HTTP.URL.Path + "?marker=" + url.QueryEscape(marker)
}

// ListReply returns a list under its name, reduced to the requested fields, with links to other pages.
func ListReply[T any](many string, rows []T, links []map[string]string, q *Request) (Reply, error) {
	body := map[string]any{many: rows}
	if fields := q.Values["fields"]; len(fields) > 0 {
		cut, err := OnlyFields(rows, fields)
		if err != nil {
			return Reply{}, fmt.Errorf("cutting %s to fields: %w", many, err)
		}
		body[many] = cut
	}
	if links != nil {
		body[many+"_links"] = links
	}
	return OK(body)
}

// CompareFields orders two values of a field.
func CompareFields(a, b reflect.Value) int {
	switch a.Kind() {
	case reflect.Int:
		return cmp.Compare(a.Int(), b.Int())
	case reflect.Bool:
		return cmp.Compare(strconv.FormatBool(a.Bool()), strconv.FormatBool(b.Bool()))
	default:
		return cmp.Compare(a.String(), b.String())
	}
}
