package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Exchange is one request and its answer in words that are the same for every cloud that behaves the same.
type Exchange struct {
	// Request is "POST network /v2.0/networks".
	Request string
	Status  int
	// Attributes are the values in the answer by their paths, such as `network.tags[0]` → `"a"`. Texts are quoted. How long a list
	// is stands under its path with a #.
	Attributes map[string]string
}

// recorder writes down what passes in one case.
type recorder struct {
	placeholders placeholders
	off          bool
	all          []Exchange
}

// add writes down one request, unless the recorder is off; whatever has an ID gets its word in any case.
func (r *recorder) add(a *Response, s Service, path string, sent any) {
	r.placeholders.learnResponse(a, path, sent)
	if r.off {
		return
	}
	method, _, _ := strings.Cut(a.request, " ")
	attributes := map[string]string{}
	if a.Body != nil {
		r.flatten(attributes, "", "", a.Body)
	} else if body := strings.TrimSpace(string(a.Raw)); body != "" {
		attributes["body"] = strconv.Quote(r.placeholders.replace(body))
	}
	if a.Status >= 300 || a.Body != nil {
		attributes["Content-Type"], _, _ = strings.Cut(a.Header.Get("Content-Type"), ";")
	}
	r.all = append(r.all, Exchange{
		Request: fmt.Sprintf("%s %s %s", method, s, r.placeholders.replace(path)), Status: a.Status, Attributes: attributes,
	})
}

// flatten notes every value below a path. The key is the name of the attribute whose value it is: it decides about words.
func (r *recorder) flatten(attributes map[string]string, path, key string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			attributes[path] = "{}"
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			at := r.placeholders.replace(k)
			if path != "" {
				at = path + "." + at
			}
			r.flatten(attributes, at, k, v[k])
		}
	case []any:
		attributes[path+"#"] = strconv.Itoa(len(v))
		for i, item := range r.sorted(key, v) {
			r.flatten(attributes, fmt.Sprintf("%s[%d]", path, i), key, item)
		}
	case string:
		attributes[path] = strconv.Quote(r.placeholders.forValue(key, v))
	case json.Number:
		attributes[path] = r.placeholders.forNumber(key, v.String())
	case nil:
		attributes[path] = "null"
	default:
		attributes[path] = fmt.Sprint(v)
	}
}

// sorted puts a list into an order that does not depend on IDs: few lists of OpenStack have one.
func (r *recorder) sorted(key string, list []any) []any {
	type item struct {
		sortedBy string
		value    any
	}
	keyed := make([]item, 0, len(list))
	for _, value := range list {
		keyed = append(keyed, item{r.sortKey(key, value), value})
	}
	slices.SortStableFunc(keyed, func(a, b item) int { return strings.Compare(a.sortedBy, b.sortedBy) })
	sorted := make([]any, 0, len(list))
	for _, one := range keyed {
		sorted = append(sorted, one.value)
	}
	return sorted
}

// sortKey goes by attributes that every cloud shows, since those that only one shows would lead to another order.
func (r *recorder) sortKey(key string, value any) string {
	object, ok := value.(map[string]any)
	if !ok {
		return r.placeholders.forValue(key, text(value))
	}
	if len(object) == 1 { // Nova wraps key pairs
		for _, inner := range object {
			if wrapped, ok := inner.(map[string]any); ok {
				object = wrapped
			}
		}
	}
	parts := []string{}
	for _, attribute := range []string{
		"name", "rel", "description", "direction", "ethertype", "protocol", "port_range_min", "remote_ip_prefix", "device_owner",
		"cidr", "start", "destination", "ip_address", "type", "interface", "address", "id",
	} {
		if inner, ok := object[attribute]; ok {
			parts = append(parts, attribute+"="+r.placeholders.forValue(attribute, text(inner)))
		}
	}
	return strings.Join(parts, " ")
}
