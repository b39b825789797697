package protocol

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Route returns the operation of a service of the protocol "rest-json" that a request is for, and the values in its path; nil if there is none.
func Route(service *model.Service, method string, u *url.URL) (operation *model.Operation, labels map[string]string) {
	for _, name := range slices.Sorted(slices.Values(keysOf(service.Operations))) {
		candidate := service.Operations[name]
		path, _, _ := strings.Cut(candidate.HTTP.URI, "?")
		if labels, matches := matchPath(or(path, "/"), u.EscapedPath()); matches && candidate.HTTP.Method == method {
			return candidate, labels
		}
	}
	return nil, nil
}

// matchPath compares the segments of a path with those of a pattern, in which a name in braces stands for any value.
func matchPath(pattern, path string) (labels map[string]string, matches bool) {
	wanted, got := strings.Split(pattern, "/"), strings.Split(or(path, "/"), "/")
	if len(wanted) != len(got) {
		return nil, false
	}
	labels = map[string]string{}
	for i, segment := range wanted {
		name, isLabel := strings.CutPrefix(segment, "{")
		if !isLabel {
			if segment != got[i] {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(got[i])
		if err != nil || value == "" {
			return nil, false
		}
		labels[strings.TrimSuffix(name, "}")] = value
	}
	return labels, true
}

// DecodeREST decodes a request of the protocol "rest-json", and returns its operation and input.
func DecodeREST(service *model.Service, r *http.Request, body []byte) (*model.Operation, Struct, *wire.Error) {
	refuse := refusal(service.Protocol)
	operation, labels := Route(service, r.Method, r.URL)
	if operation == nil {
		return nil, nil, refuse.unknownRequest(r.Method, r.URL.EscapedPath())
	}
	d := restDecoder{refusal: refuse, labels: labels, query: r.URL.Query(), header: r.Header}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &d.body); err != nil {
			return operation, nil, refuse.malformed(err)
		}
	}
	_, fixed, _ := strings.Cut(operation.HTTP.URI, "?")
	for name := range strings.SplitSeq(fixed, "&") {
		name, _, _ = strings.Cut(name, "=")
		delete(d.query, name)
	}
	input, err := d.input(operation.Input)
	return operation, input, err
}

// restDecoder takes the members of an input from the parts of a request. What it takes from the query and the body it removes.
type restDecoder struct {
	refusal refusal
	labels  map[string]string
	query   url.Values
	header  http.Header
	body    map[string]json.RawMessage
}

func (d *restDecoder) input(shape *model.Shape) (Struct, *wire.Error) {
	if shape == nil {
		shape = &model.Shape{Type: model.Structure}
	}
	out := Struct{}
	names := slices.Sorted(slices.Values(keysOf(shape.Members)))
	// A map takes what is left of the query.
	slices.SortStableFunc(names, func(a, b string) int { return rank(shape.Members[a]) - rank(shape.Members[b]) })
	for _, name := range names {
		decoded, err := d.member(shape.Members[name])
		switch {
		case err != nil:
			return nil, err
		case decoded != nil:
			out[name] = decoded
		case slices.Contains(shape.Required, name):
			return nil, d.refusal.missing(or(shape.Members[name].LocationName, name))
		}
	}
	for _, rest := range [][]string{keysOf(d.query), keysOf(d.body)} {
		if len(rest) > 0 {
			return nil, d.refusal.unknownParameter(slices.Min(rest))
		}
	}
	return out, nil
}

func rank(m *model.Member) int {
	if m.Shape.Type == model.Map {
		return 1
	}
	return 0
}

// member decodes a member, or returns nil if the request does not have it.
func (d *restDecoder) member(m *model.Member) (any, *wire.Error) {
	name := or(m.LocationName, m.Name)
	switch m.Location {
	case model.InURI:
		if text, sent := d.labels[name]; sent {
			return d.refusal.scalar(m, name, text, iso8601)
		}
		return nil, nil
	case model.InHeader:
		if values := d.header.Values(name); len(values) > 0 {
			return d.refusal.scalar(m, name, values[0], rfc822)
		}
		return nil, nil
	case model.InQuery:
		return d.fromQuery(m, name)
	default:
		raw, sent := d.body[name]
		delete(d.body, name)
		if !sent {
			return nil, nil
		}
		return d.refusal.json(m, name, raw)
	}
}

// fromQuery decodes a scalar, a list by its repeated name, or a map that has all other parameters.
func (d *restDecoder) fromQuery(m *model.Member, name string) (any, *wire.Error) {
	if m.Shape.Type == model.Map {
		out := map[string]any{}
		for key, values := range d.query {
			decoded, err := d.texts(m.Shape.Value, key, values)
			if err != nil {
				return nil, err
			}
			out[key] = decoded
		}
		clear(d.query)
		return out, nil
	}
	values, sent := d.query[name]
	delete(d.query, name)
	if !sent {
		return nil, nil
	}
	return d.texts(m, name, values)
}

// texts decodes the values of a parameter in the query.
func (d *restDecoder) texts(m *model.Member, name string, values []string) (any, *wire.Error) {
	if m.Shape.Type != model.List {
		return d.refusal.scalar(m, name, values[0], iso8601)
	}
	out := []any{}
	for _, value := range values {
		decoded, err := d.refusal.scalar(m.Shape.Item, name, value, iso8601)
		if err != nil {
			return nil, err
		}
		out = append(out, decoded)
	}
	return d.refusal.inLimits(m, name, out)
}
