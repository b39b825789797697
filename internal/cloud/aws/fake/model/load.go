package model

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
)

//go:embed data/*.json
var files embed.FS

// Load returns the models of all services, by name.
func Load() (map[string]*Service, error) {
	services := map[string]*Service{}
	for _, name := range []string{"ec2", "efs", "elb", "elbv2", "iam", "sts"} {
		content, err := files.ReadFile("data/" + name + ".json")
		if err != nil {
			return nil, fmt.Errorf("reading the model of %s: %w", name, err)
		}
		if services[name], err = Parse(name, content); err != nil {
			return nil, err
		}
	}
	return services, nil
}

// document is a model as JSON.
type document struct {
	Metadata struct {
		APIVersion     string `json:"apiVersion"`
		EndpointPrefix string `json:"endpointPrefix"`
		Protocol       string `json:"protocol"`
		XMLNamespace   string `json:"xmlNamespace"`
	} `json:"metadata"`
	Operations map[string]struct {
		HTTP struct {
			Method       string `json:"method"`
			RequestURI   string `json:"requestUri"`
			ResponseCode int    `json:"responseCode"`
		} `json:"http"`
		Input   *reference  `json:"input"`
		Output  *reference  `json:"output"`
		Errors  []reference `json:"errors"`
		Filters []string    `json:"filters"`
	} `json:"operations"`
	Shapes map[string]*shapeDocument `json:"shapes"`
}

type reference struct {
	Shape            string `json:"shape"`
	Location         string `json:"location"`
	LocationName     string `json:"locationName"`
	QueryName        string `json:"queryName"`
	ResultWrapper    string `json:"resultWrapper"`
	Flattened        bool   `json:"flattened"`
	IdempotencyToken bool   `json:"idempotencyToken"`
	TimestampFormat  string `json:"timestampFormat"`
}

type shapeDocument struct {
	Type            Type                 `json:"type"`
	Required        []string             `json:"required"`
	Members         map[string]reference `json:"members"`
	Member          *reference           `json:"member"`
	Key             *reference           `json:"key"`
	Value           *reference           `json:"value"`
	Flattened       bool                 `json:"flattened"`
	Enum            []string             `json:"enum"`
	Min             *float64             `json:"min"`
	Max             *float64             `json:"max"`
	TimestampFormat string               `json:"timestampFormat"`
	Error           *struct {
		Code           string `json:"code"`
		HTTPStatusCode int    `json:"httpStatusCode"`
	} `json:"error"`
}

// Parse reads a model. All shapes that it names must exist.
func Parse(name string, content []byte) (*Service, error) {
	var doc document
	if err := json.Unmarshal(content, &doc); err != nil {
		return nil, fmt.Errorf("parsing the model of %s: %w", name, err)
	}
	p := parser{doc: doc, shapes: map[string]*Shape{}}
	service := &Service{
		Name: name, SigningName: doc.Metadata.EndpointPrefix, Version: doc.Metadata.APIVersion, Protocol: Protocol(doc.Metadata.Protocol),
		XMLNamespace: doc.Metadata.XMLNamespace, Operations: map[string]*Operation{},
	}
	for name, op := range doc.Operations {
		operation := &Operation{Name: name, Errors: map[string]int{}, Filters: op.Filters, HTTP: HTTP{op.HTTP.Method, op.HTTP.RequestURI, op.HTTP.ResponseCode}}
		if op.Input != nil {
			operation.Input = p.shape(op.Input.Shape)
		}
		if op.Output != nil {
			operation.Output, operation.ResultWrapper = p.shape(op.Output.Shape), op.Output.ResultWrapper
		}
		for _, declared := range op.Errors {
			p.addError(operation, declared.Shape)
		}
		service.Operations[name] = operation
	}
	if len(p.missing) > 0 {
		return nil, fmt.Errorf("parsing the model of %s: no shapes %q", name, p.missing)
	}
	return service, nil
}

// parser builds shapes from their documents, each once, since they may be recursive.
type parser struct {
	doc     document
	shapes  map[string]*Shape
	missing []string
}

func (p *parser) shape(name string) *Shape {
	if known := p.shapes[name]; known != nil {
		return known
	}
	shape := &Shape{Name: name}
	p.shapes[name] = shape
	doc := p.doc.Shapes[name]
	if doc == nil {
		p.missing = append(p.missing, name)
		return shape
	}
	shape.Type, shape.Required, shape.Flattened, shape.Enum = doc.Type, doc.Required, doc.Flattened, doc.Enum
	shape.Min, shape.Max, shape.TimestampFormat = doc.Min, doc.Max, doc.TimestampFormat
	shape.Item, shape.Key, shape.Value = p.member("", doc.Member), p.member("", doc.Key), p.member("", doc.Value)
	if shape.Type == Structure {
		shape.Members = map[string]*Member{}
		for name, member := range doc.Members {
			shape.Members[name] = p.member(name, &member)
		}
	}
	return shape
}

func (p *parser) member(name string, r *reference) *Member {
	if r == nil {
		return nil
	}
	return &Member{
		Name: name, Location: Location(r.Location), LocationName: r.LocationName, QueryName: r.QueryName, Shape: p.shape(r.Shape), Flattened: r.Flattened,
		IdempotencyToken: r.IdempotencyToken, TimestampFormat: r.TimestampFormat,
	}
}

// addError adds an error that is declared for the operation. Without a code of its own, its code is the shape's name.
func (p *parser) addError(operation *Operation, name string) {
	code, status := name, http.StatusBadRequest
	if doc := p.doc.Shapes[name]; doc != nil && doc.Error != nil {
		code, status = cmp.Or(doc.Error.Code, name), doc.Error.HTTPStatusCode
	}
	operation.Errors[code] = status
}
