package v1alpha1_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

const apiVersion = `"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1"`

// decoders are all Decode functions by kind, with a way to know which are strict.
func decoders() map[string]struct {
	decode  func(*runtime.RawExtension) (runtime.Object, error)
	strict  bool
	needsIt bool // refuses an empty document
} {
	type decoder = struct {
		decode  func(*runtime.RawExtension) (runtime.Object, error)
		strict  bool
		needsIt bool
	}
	return map[string]decoder{
		"InfrastructureConfig": {anyOf(v1alpha1.DecodeInfrastructureConfig), true, true},
		"ControlPlaneConfig":   {anyOf(v1alpha1.DecodeControlPlaneConfig), true, true},
		"WorkerConfig":         {anyOf(v1alpha1.DecodeWorkerConfig), true, false},
		"CloudProfileConfig":   {anyOf(v1alpha1.DecodeCloudProfileConfig), false, true},
		"InfrastructureStatus": {anyOf(v1alpha1.DecodeInfrastructureStatus), false, false},
		"InfrastructureState":  {anyOf(v1alpha1.DecodeInfrastructureState), false, false},
		"WorkerStatus":         {anyOf(v1alpha1.DecodeWorkerStatus), false, false},
	}
}

func anyOf[Document runtime.Object](decode func(*runtime.RawExtension) (Document, error)) func(*runtime.RawExtension) (runtime.Object, error) {
	return func(raw *runtime.RawExtension) (runtime.Object, error) {
		document, err := decode(raw)
		if reflect.ValueOf(document).IsNil() {
			return nil, err
		}
		return document, err
	}
}

func TestDecode_UpstreamDocuments(t *testing.T) {
	for kind, decoder := range decoders() {
		t.Run(kind, func(t *testing.T) {
			document := upstreamDocument(t, kind)

			object, err := decoder.decode(&runtime.RawExtension{Raw: document})
			require.NoError(t, err)
			encoded, err := v1alpha1.Encode(object)
			require.NoError(t, err)

			want := fields(t, document)
			if kind == "InfrastructureConfig" {
				// Defaulting replaces the deprecated field.
				delete(want["networks"].(map[string]any), "worker")
				want["networks"].(map[string]any)["nodePortSourceRanges"] = []any{"0.0.0.0/0", "::/0"}
			}
			require.Empty(t, cmp.Diff(want, fields(t, encoded.Raw)))
		})
	}
}

func TestDecode_UnknownFields(t *testing.T) {
	for kind, decoder := range decoders() {
		t.Run(kind, func(t *testing.T) {
			document := fields(t, upstreamDocument(t, kind))
			document["notAField"] = true
			data, err := json.Marshal(document)
			require.NoError(t, err)

			object, err := decoder.decode(&runtime.RawExtension{Raw: data})
			if !decoder.strict {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, `unknown field "notAField"`)
			require.Nil(t, object)
		})
	}
}

func TestDecode_Invalid(t *testing.T) {
	const start = `{` + apiVersion + `,"kind":"InfrastructureConfig",`
	for sentence, test := range map[string]struct {
		document string
		want     []string
	}{
		"a misspelt field is named with its path": {
			start + `"networks":{"wrokers":"10.0.0.0/8"}}`,
			[]string{`unknown field "networks.wrokers"`, "correct the name or remove the field"},
		},
		"a misspelt field deep down is named with its path": {
			start + `"networks":{"router":{"ID":"a"}}}`, []string{`unknown field "networks.router.ID"`},
		},
		"all misspelt fields are named": {
			start + `"floatingPool":"a","networks":{"worker_s":"b"}}`,
			[]string{`unknown field "floatingPool"`, `unknown field "networks.worker_s"`},
		},
		"a field given twice is named": {
			start + `"floatingPoolName":"a","floatingPoolName":"b"}`, []string{`duplicate field "floatingPoolName"`},
		},
		"a number for a string is named": {
			start + `"networks":{"workers":10}}`, []string{"networks.workers must be a string, not a JSON number", "correct the value"},
		},
		"a list for an object is named": {
			start + `"networks":[]}`, []string{"networks must be an object, not a JSON array"},
		},
		"an object for a list is named": {
			start + `"networks":{"nodePortSourceRanges":{}}}`, []string{"networks.nodePortSourceRanges must be a list, not a JSON object"},
		},
		"a string for a number is named": {
			start + `"networks":{"mtu":"1500"}}`, []string{"networks.mtu must be a whole number, not a JSON string"},
		},
		"a fraction for a whole number is named": {
			start + `"networks":{"mtu":1500.5}}`, []string{"networks.mtu must be a whole number, not a JSON number 1500.5"},
		},
		"a string for a switch is named": {
			start + `"networks":{"shareNetwork":{"enabled":"yes"}}}`, []string{"networks.shareNetwork.enabled must be true or false, not a JSON string"},
		},
		"another kind is refused, with the right one": {
			`{` + apiVersion + `,"kind":"WorkerConfig"}`,
			[]string{`kind "WorkerConfig"`, "set apiVersion to openstack.provider.extensions.gardener.cloud/v1alpha1 and kind to InfrastructureConfig"},
		},
		"another cloud's document is refused": {
			`{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":"InfrastructureConfig"}`,
			[]string{`apiVersion is "aws.provider.extensions.gardener.cloud/v1alpha1"`},
		},
		"a document without a kind is refused": {
			`{` + apiVersion + `}`, []string{`kind ""`, "kind to InfrastructureConfig"},
		},
		"a document without anything is refused": {`{}`, []string{"kind to InfrastructureConfig"}},
		"no JSON is refused":                     {`networks: {}`, []string{"not a JSON object"}},
		"JSON cut short is refused":              {start, []string{"decoding InfrastructureConfig"}},
		"nothing is refused":                     {``, []string{"a providerConfig is required"}},
		"null is refused":                        {`null`, []string{"a providerConfig is required"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			config, err := v1alpha1.DecodeInfrastructureConfig(&runtime.RawExtension{Raw: []byte(test.document)})
			require.Nil(t, config)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestDecode_Empty(t *testing.T) {
	for kind, decoder := range decoders() {
		for sentence, raw := range map[string]*runtime.RawExtension{
			"no document": nil, "an empty document": {}, "null": {Raw: []byte("null")},
		} {
			t.Run(sentence+" of kind "+kind, func(t *testing.T) {
				object, err := decoder.decode(raw)
				if decoder.needsIt {
					require.ErrorContains(t, err, "kind "+kind)
					require.Nil(t, object)
					return
				}
				require.NoError(t, err)
				require.NotNil(t, object)
			})
		}
	}
	state, err := v1alpha1.DecodeInfrastructureState(nil)
	require.NoError(t, err)
	require.NotNil(t, state.Data, "a driver writes into it")
}

func TestDecodeInfrastructureState_WithoutData(t *testing.T) {
	raw := &runtime.RawExtension{Raw: []byte(`{` + apiVersion + `,"kind":"InfrastructureState","data":null}`)}
	state, err := v1alpha1.DecodeInfrastructureState(raw)
	require.NoError(t, err)
	require.NotNil(t, state.Data)
}

func TestDecode_DecodedObjects(t *testing.T) {
	status := v1alpha1.NewInfrastructureStatus()
	status.Networks.ID = "a"
	decoded, err := v1alpha1.DecodeInfrastructureStatus(&runtime.RawExtension{Object: status})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(status, decoded))
}

func TestEncode_SetsTypeMetaOnCopy(t *testing.T) {
	state := &v1alpha1.InfrastructureState{Data: map[string]string{v1alpha1.StateKeyRouter: "a"}}
	raw, err := v1alpha1.Encode(state)
	require.NoError(t, err)
	require.JSONEq(t, `{`+apiVersion+`,"kind":"InfrastructureState","data":{"Router":"a"}}`, string(raw.Raw))
	require.Empty(t, state.Kind, "the caller's object is left alone")
}

func TestEncode_UnknownKind(t *testing.T) {
	_, err := v1alpha1.Encode(&runtime.Unknown{})
	require.Error(t, err)
}

func TestEncode_EmptyNodePortSourceRanges(t *testing.T) {
	raw := &runtime.RawExtension{Raw: []byte(`{` + apiVersion + `,"kind":"InfrastructureConfig","networks":{"nodePortSourceRanges":[]}}`)}
	config, err := v1alpha1.DecodeInfrastructureConfig(raw)
	require.NoError(t, err)
	require.NotNil(t, config.Networks.NodePortSourceRanges)
	require.Empty(t, config.Networks.NodePortSourceRanges)

	encoded, err := v1alpha1.Encode(config)
	require.NoError(t, err)
	again, err := v1alpha1.DecodeInfrastructureConfig(encoded)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(config, again), "it is not opened by a detour")
}

func upstreamDocument(t *testing.T, kind string) []byte {
	t.Helper()
	document, err := os.ReadFile(filepath.Join("testdata", "upstream", strings.ToLower(kind)+".yaml"))
	require.NoError(t, err)
	data, err := yaml.YAMLToJSON(document)
	require.NoError(t, err)
	return data
}

func fields(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var fields map[string]any
	require.NoError(t, json.Unmarshal(data, &fields))
	return fields
}

// For users, no load balancer classes and those of the CloudProfile are not the same.
func TestDecodeControlPlaneConfig_LoadBalancerClasses(t *testing.T) {
	for sentence, test := range map[string]struct {
		field string
		want  []v1alpha1.LoadBalancerClass
	}{
		"a field that is left out stays nil": {"", nil},
		"null means left out":                {`, "loadBalancerClasses": null`, nil},
		"an empty list stays an empty list":  {`, "loadBalancerClasses": []`, []v1alpha1.LoadBalancerClass{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			raw := &runtime.RawExtension{Raw: []byte(`{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1",
				"kind": "ControlPlaneConfig", "loadBalancerProvider": "octavia"` + test.field + `}`)}
			for _, decode := range []func(*runtime.RawExtension) (*v1alpha1.ControlPlaneConfig, error){
				v1alpha1.DecodeControlPlaneConfig, v1alpha1.DecodeStoredControlPlaneConfig,
			} {
				config, err := decode(raw)
				require.NoError(t, err)
				require.Equal(t, test.want, config.LoadBalancerClasses)
				require.Equal(t, test.want, config.DeepCopy().LoadBalancerClasses)
			}
		})
	}
}
