package ec2

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// describe answers a describing action: by IDs, by filters, and in pages.
func describe[T object](s *Service, c *collection[T], q *core.Request) (protocol.Struct, error) {
	ids, limit := q.In.Strings(c.ids), int(q.In.Int("MaxResults"))
	if len(ids) > 0 && limit > 0 {
		return nil, protocol.Fail("InvalidParameterCombination", "The parameter %s cannot be used with the parameter maxResults", c.ids)
	}
	items, err := visible(c, q, ids)
	if err != nil {
		return nil, err
	}
	if items, err = filterBy(c.filters, q, items); err != nil {
		return nil, err
	}
	items, next, err := page(items, q.In.String("NextToken"), limit)
	if err != nil {
		return nil, err
	}
	views := []any{}
	for _, item := range items {
		s.core.CountRead(item.common().id)
		views = append(views, c.view(item))
	}
	out := protocol.Struct{c.answer: views}
	if next != "" {
		out["NextToken"] = next
	}
	return out, nil
}

// visible returns the resources of those IDs, or all without IDs, except those that delayed consistency hides.
func visible[T object](c *collection[T], q *core.Request, ids []string) ([]T, error) {
	if len(ids) == 0 {
		return c.where(func(item T) bool { return !item.common().isMissing(q) }), nil
	}
	var out []T
	for _, item := range c.items {
		if slices.Contains(ids, item.common().id) {
			out = append(out, item)
		}
	}
	for _, id := range ids {
		item, err := c.get(id)
		if err != nil {
			return nil, err
		}
		if item.common().isMissing(q) {
			return nil, c.notFound(id)
		}
	}
	return out, nil
}

// filterBy returns the items that match all filters. A filter matches by any of its values.
func filterBy[T object](known map[string]func(T) []string, q *core.Request, items []T) ([]T, error) {
	filters, byTags := q.In.Structs("Filters"), false
	for _, filter := range filters {
		name := filter.String("Name")
		switch {
		case isTagFilter(name):
			byTags = true
		case known[name] != nil:
		case slices.Contains(q.Filters, name):
			return nil, core.NotImplemented("the filter " + name + " of " + q.Action)
		default:
			return nil, protocol.Fail("InvalidParameterValue", "The filter '%s' is invalid", name)
		}
	}
	var out []T
	for _, item := range items {
		var tags map[string]string
		if byTags {
			tags = item.common().tagsForFilter(q)
		}
		matches := !slices.ContainsFunc(filters, func(filter protocol.Struct) bool {
			name := filter.String("Name")
			values := tagValues(tags, name)
			if !isTagFilter(name) {
				values = known[name](item)
			}
			return !matchesAny(filter.Strings("Values"), values)
		})
		if matches {
			out = append(out, item)
		}
	}
	return out, nil
}

// isTagFilter knows also a filter that is no longer documented, tag-value, which clients still use.
func isTagFilter(name string) bool {
	return name == "tag-key" || name == "tag-value" || strings.HasPrefix(name, "tag:")
}

// tagValues returns what a filter by tags compares.
func tagValues(tags map[string]string, filter string) []string {
	var out []string
	for key, value := range tags {
		switch filter {
		case "tag-key":
			out = append(out, key)
		case "tag-value", "tag:" + key:
			out = append(out, value)
		}
	}
	return out
}

func matchesAny(patterns, values []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return slices.ContainsFunc(values, func(value string) bool { return matchesPattern(pattern, value) })
	})
}

// matchesPattern compares with a pattern in which * stands for any text, ? for any character, and \ escapes.
func matchesPattern(pattern, value string) bool {
	if pattern == "" {
		return value == ""
	}
	switch {
	case pattern[0] == '*':
		return matchesPattern(pattern[1:], value) || value != "" && matchesPattern(pattern, value[1:])
	case value == "":
		return false
	case pattern[0] == '?':
		return matchesPattern(pattern[1:], value[1:])
	case pattern[0] == '\\' && len(pattern) > 1:
		pattern = pattern[1:]
	}
	return pattern[0] == value[0] && matchesPattern(pattern[1:], value[1:])
}

// page returns the items after those of the former page, at most limit of them unless it is 0, and the token of the next page.
func page[T object](items []T, token string, limit int) ([]T, string, error) {
	if token != "" {
		raw, err := base64.RawURLEncoding.DecodeString(token)
		last, errNumber := strconv.Atoi(string(raw))
		if err != nil || errNumber != nil {
			return nil, "", protocol.Fail("InvalidNextToken", "The token '%s' is invalid", token)
		}
		items = slices.DeleteFunc(slices.Clone(items), func(item T) bool { return item.common().sequence <= last })
	}
	if limit == 0 || len(items) <= limit {
		return items, "", nil
	}
	last := strconv.Itoa(items[limit-1].common().sequence)
	return items[:limit], base64.RawURLEncoding.EncodeToString([]byte(last)), nil
}
