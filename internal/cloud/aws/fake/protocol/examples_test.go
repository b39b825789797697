package protocol

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
)

type sdkExample struct {
	ID     string         `json:"id"`
	Input  map[string]any `json:"input"`
	Output map[string]any `json:"output"`
}

// impossibleExamples are examples of AWS that do not fit AWS' own model, with the reason.
func impossibleExamples() map[string]string {
	return map[string]string{
		"ec2-create-network-interface-1": "its output has the status pending, which the model does not have",
	}
}

func readExamples(t *testing.T, service string) map[string][]sdkExample {
	t.Helper()
	content, err := os.ReadFile("testdata/examples/" + service + ".json")
	require.NoError(t, err)
	examples := map[string][]sdkExample{}
	require.NoError(t, json.Unmarshal(content, &examples))
	require.NotEmpty(t, examples)
	return examples
}

// The inputs of AWS' examples are decoded to themselves, and their outputs are encoded by the model.
func TestExamples(t *testing.T) {
	services, err := model.Load()
	require.NoError(t, err)
	for name, service := range services {
		for action, examples := range readExamples(t, name) {
			for _, example := range examples {
				t.Run(name+" "+action+" "+example.ID, func(t *testing.T) {
					if reason := impossibleExamples()[example.ID]; reason != "" {
						t.Skip(reason)
					}
					operation := service.Operations[action]
					want := Struct{}
					if operation.Input != nil && example.Input != nil {
						want = typed(t, &model.Member{Shape: operation.Input}, example.Input).(Struct)
					}
					assert.Empty(t, cmp.Diff(want, sent(t, service, operation, want, example.Input)))
					if operation.Output == nil || example.Output == nil {
						return
					}
					output := typed(t, &model.Member{Shape: operation.Output}, example.Output).(Struct)
					if service.Protocol == model.RESTJSON {
						_, err := EncodeREST(operation, output)
						assert.NoError(t, err)
						return
					}
					_, err := Encode(service, operation, output, "request-id")
					assert.NoError(t, err)
				})
			}
		}
	}
}

// sent encodes an input as a client does, and returns it as it is decoded.
func sent(t *testing.T, service *model.Service, operation *model.Operation, input Struct, raw map[string]any) Struct {
	t.Helper()
	if service.Protocol == model.RESTJSON {
		r, body := encodeREST(t, operation, input, raw)
		_, got, failure := DecodeREST(service, r, body)
		require.Nil(t, failure)
		return got
	}
	form := url.Values{"Action": {operation.Name}, "Version": {service.Version}}
	encodeInput(service.Protocol, form, "", input, operation.Input)
	_, got, failure := Decode(service, form)
	require.Nil(t, failure)
	return got
}

// encodeREST writes an input as a request, as a client does: members of the body are those of the example.
func encodeREST(t *testing.T, operation *model.Operation, input Struct, raw map[string]any) (*http.Request, []byte) {
	t.Helper()
	path, query, body := operation.HTTP.URI, url.Values{}, map[string]any{}
	for name, m := range operation.Input.Members {
		wireName := or(m.LocationName, name)
		switch {
		case !input.Has(name):
		case m.Location == model.InURI:
			path = strings.ReplaceAll(path, "{"+wireName+"}", url.PathEscape(input.String(name)))
		case m.Location == model.InQuery:
			query.Set(wireName, fmt.Sprint(input[name]))
		default:
			body[wireName] = raw[name]
		}
	}
	content, err := json.Marshal(body)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), operation.HTTP.Method, "https://example.com"+path+"?"+query.Encode(), nil)
	require.NoError(t, err)
	return r, content
}

// encodeInput writes an input as parameters, as a client does. Names are those of the decoder, which the vectors prove.
func encodeInput(protocol model.Protocol, form url.Values, prefix string, input Struct, shape *model.Shape) {
	for name, value := range input {
		member := shape.Members[name]
		wireName := decoder{protocol: protocol}.requestName(member)
		encodeValue(protocol, form, prefix+wireName, value, member)
	}
}

func encodeValue(protocol model.Protocol, form url.Values, name string, value any, m *model.Member) {
	switch value := value.(type) {
	case Struct:
		encodeInput(protocol, form, name+".", value, m.Shape)
	case []any:
		if protocol == model.Query && len(value) == 0 {
			form.Set(name, "")
		}
		if protocol == model.Query && !m.IsFlattened() {
			name += "." + or(m.Shape.Item.LocationName, "member")
		}
		for i, item := range value {
			encodeValue(protocol, form, fmt.Sprintf("%s.%d", name, i+1), item, m.Shape.Item)
		}
	case []byte:
		form.Set(name, base64.StdEncoding.EncodeToString(value))
	default:
		form.Set(name, fmt.Sprint(value))
	}
}
