package protocol

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
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
					form := url.Values{"Action": {action}, "Version": {service.Version}}
					encodeInput(service.Protocol, form, "", want, operation.Input)
					_, got, failure := Decode(service, form)
					require.Nil(t, failure)
					assert.Empty(t, cmp.Diff(want, got))
					if operation.Output == nil || example.Output == nil {
						return
					}
					output := typed(t, &model.Member{Shape: operation.Output}, example.Output).(Struct)
					_, err := Encode(service, operation, output, "request-id")
					assert.NoError(t, err)
				})
			}
		}
	}
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
