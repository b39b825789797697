package protocol

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
)

// vectorSuite is a group of AWS' own test vectors with a model.
type vectorSuite struct {
	Description string          `json:"description"`
	Metadata    json.RawMessage `json:"metadata"`
	Shapes      json.RawMessage `json:"shapes"`
	Cases       []vectorCase    `json:"cases"`
}

type vectorCase struct {
	Given  json.RawMessage `json:"given"`
	Params any             `json:"params"`
	Result any             `json:"result"`
	// Serialized is the request that a client sends for the params, Response the response that it reads as the result.
	Serialized struct {
		URI     string            `json:"uri"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	} `json:"serialized"`
	Response struct {
		Status  int               `json:"status_code"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	} `json:"response"`
}

// skippedVectors are vectors that do not apply to a server, with the reason.
func skippedVectors() map[string]string {
	const (
		token = "the client invents a token that the parameters do not have, so the request does not give the parameters"
		empty = "a client must send an empty value for an enumeration; this server refuses values that are not in the model"
		outer = "the wrapper is an attribute of the shape, which no model of a service has"
	)
	const (
		payload = "no model in use has a payload: a member that is the whole body"
		value   = "no model in use has JSON inside of a text"
		headers = "no model in use has a map of headers"
		lenient = "a client accepts what is not in the model: a value of an enumeration, a location of a shape, another format of a time"
		reader  = "it says what a client ignores, which this server does not send"
	)
	return map[string]string{
		"input rest-json Idempotency token auto fill 1": token,
		"input rest-json Enum 0":                        empty,
		"input rest-json Streaming payload 0":           payload,
		"input rest-json Blob payload 0":                payload,
		"input rest-json Blob payload 1":                payload,
		"input rest-json Structure payload 0":           payload,
		"input rest-json Structure payload 1":           payload,
		"input rest-json String payload 0":              payload,
		"input rest-json Content-Type and body 2":       payload,
		"input rest-json Content-Type and body 3":       payload,
		"input rest-json Content-Type and body 4":       payload,
		"input rest-json Content-Type and body 5":       payload,
		"input rest-json Content-Type and body 6":       payload,
		"output rest-json JSON payload 0":               payload,
		"output rest-json Streaming payload 0":          payload,
		"input rest-json JSON value trait 0":            value,
		"input rest-json JSON value trait 1":            value,
		"output rest-json JSON value trait 0":           value,
		"output rest-json JSON value trait 1":           value,
		"output rest-json Scalar members 0":             lenient,
		"output rest-json Enum 0":                       lenient,
		"output rest-json Supports header maps 0":       headers,
		"output rest-json Ignores extra data 0":         reader,
		"output rest-json Ignores undefined output 0":   reader,
		"input ec2 Idempotency token auto fill 1":       token,
		"input query Idempotency token auto fill 1":     token,
		"input ec2 Enum 0":                              empty,
		"input query Enum 0":                            empty,
		"output query Flattened list of structures 0":   outer,
	}
}

// forEachVector calls test for each vector that is not skipped, with its service and operation.
func forEachVector(t *testing.T, direction string, protocol model.Protocol, test func(*testing.T, *model.Service, *model.Operation, vectorCase)) {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("testdata/vectors/%s-%s.json", direction, protocol))
	require.NoError(t, err)
	var suites []vectorSuite
	require.NoError(t, json.Unmarshal(content, &suites))
	require.NotEmpty(t, suites)
	for _, suite := range suites {
		for i, vector := range suite.Cases {
			name := fmt.Sprintf("%s %s %s %d", direction, protocol, strings.TrimPrefix(suite.Description, string(protocol)+" "), i)
			t.Run(name, func(t *testing.T) {
				if reason := skippedVectors()[name]; reason != "" {
					t.Skip(reason)
				}
				var given struct{ Name string }
				require.NoError(t, json.Unmarshal(vector.Given, &given))
				service, err := model.Parse("vector", fmt.Appendf(nil, `{"metadata": %s, "operations": {%q: %s}, "shapes": %s}`,
					suite.Metadata, given.Name, vector.Given, suite.Shapes))
				require.NoError(t, err)
				test(t, service, service.Operations[given.Name], vector)
			})
		}
	}
}

func TestDecode_Vectors(t *testing.T) {
	for _, protocol := range []model.Protocol{model.EC2, model.Query} {
		forEachVector(t, "input", protocol, func(t *testing.T, service *model.Service, operation *model.Operation, vector vectorCase) {
			form, err := url.ParseQuery(vector.Serialized.Body)
			require.NoError(t, err)
			got, input, failure := Decode(service, form)
			require.Nil(t, failure)
			assert.Same(t, operation, got)
			want := typed(t, &model.Member{Shape: operation.Input}, vector.Params)
			assert.Empty(t, cmp.Diff(want, any(input)))
		})
	}
}

func TestEncode_Vectors(t *testing.T) {
	for _, protocol := range []model.Protocol{model.EC2, model.Query} {
		forEachVector(t, "output", protocol, func(t *testing.T, service *model.Service, operation *model.Operation, vector vectorCase) {
			output, ok := typed(t, &model.Member{Shape: operation.Output}, vector.Result).(Struct)
			require.True(t, ok)
			encoded, err := Encode(service, operation, output, "request-id")
			require.NoError(t, err)
			var want, got element
			require.NoError(t, xml.Unmarshal([]byte(vector.Response.Body), &want))
			require.NoError(t, xml.Unmarshal(encoded, &got))
			hasMaps := strings.Contains(t.Name(), "map")
			assert.Empty(t, cmp.Diff(canonical(want, hasMaps), canonical(got, hasMaps)))
		})
	}
}

func TestDecodeREST_Vectors(t *testing.T) {
	forEachVector(t, "input", model.RESTJSON, func(t *testing.T, service *model.Service, operation *model.Operation, vector vectorCase) {
		r, err := http.NewRequestWithContext(t.Context(), operation.HTTP.Method, "https://example.com"+vector.Serialized.URI, nil)
		require.NoError(t, err)
		for name, value := range vector.Serialized.Headers {
			r.Header.Set(name, value)
		}
		got, input, failure := DecodeREST(service, r, []byte(vector.Serialized.Body))
		require.Nil(t, failure)
		assert.Same(t, operation, got)
		want := any(Struct{})
		if operation.Input != nil && vector.Params != nil {
			want = withoutNil(typed(t, &model.Member{Shape: operation.Input}, vector.Params).(Struct))
		}
		assert.Empty(t, cmp.Diff(want, any(input)))
	})
}

// withoutNil removes members that were not sent.
func withoutNil(s Struct) Struct {
	maps.DeleteFunc(s, func(_ string, value any) bool { return value == nil })
	return s
}

func TestEncodeREST_Vectors(t *testing.T) {
	forEachVector(t, "output", model.RESTJSON, func(t *testing.T, _ *model.Service, operation *model.Operation, vector vectorCase) {
		output := Struct{}
		if operation.Output != nil && vector.Result != nil {
			output = typed(t, &model.Member{Shape: operation.Output}, vector.Result).(Struct)
		}
		encoded, err := EncodeREST(operation, output)
		require.NoError(t, err)
		assert.Equal(t, vector.Response.Status, encoded.Status)
		for name, value := range vector.Response.Headers {
			assert.Equal(t, value, encoded.Header.Get(name), name)
		}
		if vector.Response.Body == "" {
			assert.Empty(t, encoded.Body)
			return
		}
		assert.JSONEq(t, vector.Response.Body, string(encoded.Body))
	})
}

// typed converts a value of a JSON file to the Go types of this package.
func typed(t *testing.T, m *model.Member, value any) any {
	t.Helper()
	if value == nil {
		return nil
	}
	switch m.Shape.Type {
	case model.Structure:
		out := Struct{}
		for name, member := range value.(map[string]any) {
			require.Contains(t, m.Shape.Members, name)
			out[name] = typed(t, m.Shape.Members[name], member)
		}
		return out
	case model.List:
		out := []any{}
		for _, item := range value.([]any) {
			out = append(out, typed(t, m.Shape.Item, item))
		}
		return out
	case model.Map:
		out := map[string]any{}
		for key, item := range value.(map[string]any) {
			out[key] = typed(t, m.Shape.Value, item)
		}
		return out
	case model.Integer, model.Long:
		return int64(value.(float64))
	case model.Blob:
		return []byte(value.(string))
	case model.Timestamp:
		if text, ok := value.(string); ok {
			format := iso8601
			if !strings.Contains(text, "T") { // as examples of the protocol "rest-json" have them
				format = unixTimestamp
			}
			parsed, err := parseTime(format, text)
			require.NoError(t, err)
			return parsed
		}
		return time.Unix(int64(math.Round(value.(float64))), 0).UTC()
	default:
		return value
	}
}

// element is an XML element.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

// canonical writes an element with its children sorted by name, since the order of members has no meaning. The order of elements with the same name is
// that of a list, and is kept; that of the entries of maps is not. The ID of the request is left out: the vectors of the protocol "ec2" have another
// element for it than the service, and some of the protocol "query" have none.
func canonical(e element, maps bool) string {
	groups := map[string][]string{}
	for _, child := range e.Children {
		if name := child.XMLName.Local; !strings.EqualFold(name, "requestId") && name != "ResponseMetadata" {
			groups[name] = append(groups[name], canonical(child, maps))
		}
	}
	text := strings.TrimSpace(e.Text)
	for _, name := range slices.Sorted(slices.Values(keysOf(groups))) {
		if maps {
			slices.Sort(groups[name])
		}
		text += "\n" + name + " {" + strings.Join(groups[name], ", ") + "}"
	}
	return text
}
