package protocol

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Decode decodes the parameters of a request, and returns the operation that they name and its input. A service of the protocol "rest-json" has no such
// requests; its parameters are named as those of the protocol "query".
func Decode(service *model.Service, form url.Values) (*model.Operation, Struct, *wire.Error) {
	d := decoder{protocol: service.Protocol, refusal: refusal(service.Protocol)}
	operation := service.Operations[form.Get("Action")]
	if operation == nil {
		return nil, nil, d.refusal.unknownAction(form.Get("Action"))
	}
	root := &parameter{}
	for name, values := range form {
		if name != "Action" && name != "Version" {
			root.add(strings.Split(name, "."), values[0])
		}
	}
	shape := operation.Input
	if shape == nil {
		shape = &model.Shape{Type: model.Structure}
	}
	input, err := d.structure(shape, root)
	if err != nil {
		return operation, nil, err
	}
	return operation, input, nil
}

// parameter is a node of the tree that the dots in the names of parameters describe.
type parameter struct {
	path     string
	value    *string
	children map[string]*parameter
}

func (p *parameter) add(path []string, value string) {
	if len(path) == 0 {
		p.value = &value
		return
	}
	child := p.children[path[0]]
	if child == nil {
		if p.children == nil {
			p.children = map[string]*parameter{}
		}
		child = &parameter{path: strings.TrimPrefix(p.path+"."+path[0], ".")}
		p.children[path[0]] = child
	}
	child.add(path[1:], value)
}

// firstPath is the name of a parameter that was sent, at this node or below.
func (p *parameter) firstPath() string {
	for p.value == nil {
		p = p.children[slices.Min(keysOf(p.children))]
	}
	return p.path
}

// items returns the children in the order of their names, which are numbers.
func (p *parameter) items() ([]*parameter, bool) {
	numbers := []int{}
	for name := range p.children {
		number, err := strconv.Atoi(name)
		if err != nil || number < 1 {
			return nil, false
		}
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	out := make([]*parameter, 0, len(numbers))
	for _, number := range numbers {
		out = append(out, p.children[strconv.Itoa(number)])
	}
	return out, true
}

type decoder struct {
	protocol model.Protocol
	refusal  refusal
}

// requestName is the name of a member in parameters.
func (d decoder) requestName(m *model.Member) string {
	if d.protocol == model.EC2 {
		switch {
		case m.QueryName != "":
			return m.QueryName
		case m.LocationName != "":
			return strings.ToUpper(m.LocationName[:1]) + m.LocationName[1:]
		}
		return m.Name
	}
	if m.Shape.Type == model.List && m.IsFlattened() && m.Shape.Item.LocationName != "" {
		return m.Shape.Item.LocationName
	}
	return or(m.LocationName, m.Name)
}

func (d decoder) structure(shape *model.Shape, p *parameter) (Struct, *wire.Error) {
	out := Struct{}
	known := map[string]bool{}
	for _, name := range slices.Sorted(slices.Values(keysOf(shape.Members))) {
		member := shape.Members[name]
		wireName := d.requestName(member)
		known[wireName] = true
		sent := p.children[wireName]
		if sent == nil {
			if slices.Contains(shape.Required, name) {
				return nil, d.refusal.missing(strings.TrimPrefix(p.path+"."+wireName, "."))
			}
			continue
		}
		decoded, err := d.value(member, sent)
		if err != nil {
			return nil, err
		}
		out[name] = decoded
	}
	for _, name := range slices.Sorted(slices.Values(keysOf(p.children))) {
		if !known[name] {
			return nil, d.refusal.unknownParameter(p.children[name].firstPath())
		}
	}
	return out, nil
}

func (d decoder) value(m *model.Member, p *parameter) (any, *wire.Error) {
	switch m.Shape.Type {
	case model.Structure:
		if p.value != nil {
			return nil, d.refusal.wrongType(p.path, *p.value, model.Structure)
		}
		return d.structure(m.Shape, p)
	case model.List:
		return d.list(m, p)
	case model.Map:
		return d.mapping(m, p)
	default:
		if p.value == nil || len(p.children) > 0 {
			return nil, d.refusal.unknownParameter(p.firstPath())
		}
		return d.refusal.scalar(m, p.path, *p.value, iso8601)
	}
}

// list decodes Name.1, or Name.member.1 in the protocol "query". An empty list is sent as an empty value.
func (d decoder) list(m *model.Member, p *parameter) (any, *wire.Error) {
	out := []any{}
	if p.value != nil && *p.value != "" {
		return nil, d.refusal.wrongType(p.path, *p.value, model.List)
	}
	holder, err := d.holder(m, p, or(m.Shape.Item.LocationName, "member"))
	if err != nil || holder == nil {
		return out, err
	}
	items, ok := holder.items()
	if !ok {
		return nil, d.refusal.unknownParameter(holder.firstPath())
	}
	if len(items) > 0 && !inRange(m.Shape, float64(len(items))) {
		return nil, d.refusal.outOfRange(p.path, strconv.Itoa(len(items))+" items", m.Shape)
	}
	for _, item := range items {
		decoded, err := d.value(m.Shape.Item, item)
		if err != nil {
			return nil, err
		}
		out = append(out, decoded)
	}
	return out, nil
}

// holder returns the parameter whose children are the items of a list or map.
func (d decoder) holder(m *model.Member, p *parameter, around string) (*parameter, *wire.Error) {
	if d.protocol == model.EC2 || m.IsFlattened() {
		return p, nil
	}
	for _, name := range keysOf(p.children) {
		if name != around {
			return nil, d.refusal.unknownParameter(p.children[name].firstPath())
		}
	}
	return p.children[around], nil
}

// mapping decodes Name.entry.1.key and Name.entry.1.value.
func (d decoder) mapping(m *model.Member, p *parameter) (any, *wire.Error) {
	out := map[string]any{}
	holder, err := d.holder(m, p, "entry")
	if err != nil || holder == nil {
		return out, err
	}
	entries, ok := holder.items()
	if !ok {
		return nil, d.refusal.unknownParameter(holder.firstPath())
	}
	for _, entry := range entries {
		key, value := entry.children[or(m.Shape.Key.LocationName, "key")], entry.children[or(m.Shape.Value.LocationName, "value")]
		if key == nil || key.value == nil || value == nil || len(entry.children) != 2 {
			return nil, d.refusal.unknownParameter(entry.firstPath())
		}
		decoded, err := d.value(m.Shape.Value, value)
		if err != nil {
			return nil, err
		}
		out[*key.value] = decoded
	}
	return out, nil
}

func keysOf[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

func or(value, otherwise string) string {
	if value != "" {
		return value
	}
	return otherwise
}
