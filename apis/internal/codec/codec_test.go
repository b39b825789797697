package codec_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/codec"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

func TestDecode_NoObject(t *testing.T) {
	for document, want := range map[string]string{
		`"text"`:              "not a JSON object with apiVersion and kind, but a JSON string",
		`5`:                   "not a JSON object with apiVersion and kind, but a JSON number",
		`true`:                "not a JSON object with apiVersion and kind, but a JSON bool",
		`[{}]`:                "not a JSON object with apiVersion and kind, but a JSON array",
		`{"apiVersion":5}`:    "apiVersion must be a string, not a JSON number",
		`{"kind":["a"]}`:      "kind must be a string, not a JSON array",
		`{"kind":`:            "not a JSON object with apiVersion and kind: unexpected end of JSON input",
		`{"apiVersion":"//"}`: "unexpected GroupVersion string",
	} {
		t.Run(document, func(t *testing.T) {
			raw := &runtime.RawExtension{Raw: []byte(document)}
			for _, mode := range []codec.Mode{{}, {IgnoreUnknownFields: true}, {KindOptional: true}} {
				_, err := codec.Decode(v1alpha1.AddToScheme, raw, &v1alpha1.WorkerConfig{}, mode)
				require.ErrorContains(t, err, "decoding WorkerConfig: ")
				assert.ErrorContains(t, err, want)
				for _, goWord := range []string{"Go ", "struct", "v1alpha1.", "unmarshal"} {
					assert.NotContains(t, err.Error(), goWord)
				}
			}
			_, err := v1alpha1.DecodeWorkerConfig(raw)
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "Go ")
		})
	}
}

func TestFieldErrors(t *testing.T) {
	path := field.NewPath("spec", "providerConfig")
	_, err := v1alpha1.DecodeControlPlaneConfig(&runtime.RawExtension{Raw: []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1",
		"kind":"ControlPlaneConfig","one":1,"loadBalancerClasses":[{"two":2}],"loadBalancerProvider":"a","loadBalancerProvider":"b"}`)})
	var texts []string
	for _, fieldError := range codec.FieldErrors(path, err) {
		texts = append(texts, fieldError.Error())
	}
	const start, end = "spec.providerConfig: Invalid value: decoding ControlPlaneConfig: ", ": correct the name or remove the field"
	assert.ElementsMatch(t, []string{
		start + `unknown field "one"` + end, start + `unknown field "loadBalancerClasses[0].two"` + end, start + `duplicate field "loadBalancerProvider"` + end,
	}, texts)

	_, err = v1alpha1.DecodeControlPlaneConfig(nil)
	assert.Len(t, codec.FieldErrors(path, err), 1)
}
