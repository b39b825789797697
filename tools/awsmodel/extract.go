package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// definition is a service's model: the parts of api-2.json that the fake uses.
type definition struct {
	Metadata   metadata             `json:"metadata"`
	Operations map[string]operation `json:"operations"`
	Shapes     map[string]shape     `json:"shapes"`
}

type metadata struct {
	APIVersion     string `json:"apiVersion"`
	EndpointPrefix string `json:"endpointPrefix"`
	Protocol       string `json:"protocol"`
	ServiceID      string `json:"serviceId"`
	XMLNamespace   string `json:"xmlNamespace"`
}

type operation struct {
	Name string `json:"name"`
	// HTTP is kept for the protocol "rest-json" alone: requests of the others have no method and path of their own.
	HTTP   *httpTrait  `json:"http,omitempty"`
	Input  *reference  `json:"input,omitempty"`
	Output *reference  `json:"output,omitempty"`
	Errors []reference `json:"errors,omitempty"`
	// Filters are the names of the filters that the documentation of the operation has; "tag" stands for all with the prefix "tag:".
	Filters []string `json:"filters,omitempty"`
}

// httpTrait says which request is for an operation, and the status of its successful response.
type httpTrait struct {
	Method       string `json:"method"`
	RequestURI   string `json:"requestUri"`
	ResponseCode int    `json:"responseCode,omitempty"`
}

// reference is a use of a shape. Which of its fields are set depends on where it is.
type reference struct {
	Shape            string `json:"shape"`
	Location         string `json:"location,omitempty"`
	LocationName     string `json:"locationName,omitempty"`
	QueryName        string `json:"queryName,omitempty"`
	ResultWrapper    string `json:"resultWrapper,omitempty"`
	Flattened        bool   `json:"flattened,omitempty"`
	IdempotencyToken bool   `json:"idempotencyToken,omitempty"`
	TimestampFormat  string `json:"timestampFormat,omitempty"`
}

type shape struct {
	Type            string               `json:"type"`
	Required        []string             `json:"required,omitempty"`
	Members         map[string]reference `json:"members,omitempty"`
	Member          *reference           `json:"member,omitempty"`
	Key             *reference           `json:"key,omitempty"`
	Value           *reference           `json:"value,omitempty"`
	LocationName    string               `json:"locationName,omitempty"`
	Flattened       bool                 `json:"flattened,omitempty"`
	Enum            []string             `json:"enum,omitempty"`
	Min             *json.Number         `json:"min,omitempty"`
	Max             *json.Number         `json:"max,omitempty"`
	TimestampFormat string               `json:"timestampFormat,omitempty"`
	Error           *errorTrait          `json:"error,omitempty"`
}

// errorTrait says how an error is encoded.
type errorTrait struct {
	Code           string `json:"code,omitempty"`
	HTTPStatusCode int    `json:"httpStatusCode"`
	SenderFault    bool   `json:"senderFault,omitempty"`
}

// references lists the shapes that a shape uses.
func (s shape) references() []reference {
	used := slices.Collect(maps.Values(s.Members))
	for _, r := range []*reference{s.Member, s.Key, s.Value} {
		if r != nil {
			used = append(used, *r)
		}
	}
	return used
}

// extract returns the operations of those names, with all shapes that they use.
func extract(api definition, operations []string) (definition, error) {
	out := definition{Metadata: api.Metadata, Operations: map[string]operation{}, Shapes: map[string]shape{}}
	var pending []reference
	for _, name := range operations {
		op, found := api.Operations[name]
		if !found {
			return definition{}, fmt.Errorf("no operation %s", name)
		}
		if api.Metadata.Protocol != restJSON {
			op.HTTP = nil
		}
		out.Operations[name] = op
		pending = append(pending, op.Errors...)
		for _, r := range []*reference{op.Input, op.Output} {
			if r != nil {
				pending = append(pending, *r)
			}
		}
	}
	for len(pending) > 0 {
		name := pending[0].Shape
		pending = pending[1:]
		if _, known := out.Shapes[name]; known {
			continue
		}
		used, found := api.Shapes[name]
		if !found {
			return definition{}, fmt.Errorf("no shape %s", name)
		}
		out.Shapes[name] = used
		pending = append(pending, used.references()...)
	}
	return out, nil
}

// addNewer adds members, shapes and operations that are newer than the model. It refuses what the model has already.
func addNewer(api definition, newer map[string]shape, operations map[string]operation) error {
	for name, added := range operations {
		if _, found := api.Operations[name]; found {
			return fmt.Errorf("the model has %s already", name)
		}
		api.Operations[name] = added
	}
	for name, added := range newer {
		known, found := api.Shapes[name]
		if !found {
			api.Shapes[name] = added
			continue
		}
		for member, r := range added.Members {
			if _, found := known.Members[member]; found || known.Members == nil {
				return fmt.Errorf("the model has %s of %s already", member, name)
			}
			known.Members[member] = r
		}
	}
	return nil
}

// documentation is the part of docs-2.json that is read.
type documentation struct {
	Shapes map[string]struct {
		Refs map[string]string `json:"refs"` // HTML, by "shape$member"
	} `json:"shapes"`
}

// addFilters adds the names of filters, which are in the documentation only, to the operations of a model.
func addFilters(api definition, docs documentation) {
	item := regexp.MustCompile(`<li>\s*<p>\s*<code>([^<]+)</code>`)
	for name, op := range api.Operations {
		if op.Input == nil {
			continue
		}
		for _, member := range []string{"Filters", "Filter"} {
			text := docs.Shapes["FilterList"].Refs[op.Input.Shape+"$"+member]
			for _, match := range item.FindAllStringSubmatch(text, -1) {
				op.Filters = append(op.Filters, match[1])
			}
		}
		slices.Sort(op.Filters)
		api.Operations[name] = op
	}
}

// encode writes a line per operation and shape, so that changes can be read.
func encode(d definition) []byte {
	var b bytes.Buffer
	b.WriteString("{\n\"metadata\": ")
	b.Write(compact(d.Metadata))
	b.WriteString(",\n\"operations\": {\n")
	writeLines(&b, d.Operations)
	b.WriteString("},\n\"shapes\": {\n")
	writeLines(&b, d.Shapes)
	b.WriteString("}\n}\n")
	return b.Bytes()
}

func writeLines[V any](b *bytes.Buffer, values map[string]V) {
	for i, name := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(b, "%q: %s", name, compact(values[name]))
	}
	b.WriteString("\n")
}

// compact encodes without white space. Everything here can be encoded.
func compact(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) //nolint:errchkjson // the types of a model can be encoded
	return bytes.TrimSpace(b.Bytes())
}

// exampleFile is examples-1.json.
type exampleFile struct {
	Examples map[string][]example `json:"examples"`
}

type example struct {
	ID     string          `json:"id"`
	Title  string          `json:"title"`
	Input  json.RawMessage `json:"input,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
}

// selectExamples returns the examples of the operations of those names.
func selectExamples(all exampleFile, operations []string) map[string][]example {
	selected := map[string][]example{}
	for _, name := range operations {
		if examples := all.Examples[name]; len(examples) > 0 {
			selected[name] = examples
		}
	}
	return selected
}

// encodeExamples writes a line per operation.
func encodeExamples(examples map[string][]example) []byte {
	var b bytes.Buffer
	b.WriteString("{\n")
	writeLines(&b, examples)
	b.WriteString("}\n")
	return b.Bytes()
}
