package v1alpha1_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

const apiVersion = `"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1"`

// decoder is a Decode function.
type decoder struct {
	decode   func(*runtime.RawExtension) (runtime.Object, error)
	kind     string
	strict   bool // refuses unknown fields
	required bool // refuses an absent document
}

// decoders are all Decode functions by name.
func decoders() map[string]decoder {
	return map[string]decoder{
		"InfrastructureConfig":          {anyOf(v1alpha1.DecodeInfrastructureConfig), "InfrastructureConfig", true, true},
		"stored InfrastructureConfig":   {anyOf(v1alpha1.DecodeStoredInfrastructureConfig), "InfrastructureConfig", false, true},
		"ControlPlaneConfig":            {anyOf(v1alpha1.DecodeControlPlaneConfig), "ControlPlaneConfig", true, false},
		"stored ControlPlaneConfig":     {anyOf(v1alpha1.DecodeStoredControlPlaneConfig), "ControlPlaneConfig", false, false},
		"WorkerConfig":                  {anyOf(v1alpha1.DecodeWorkerConfig), "WorkerConfig", true, false},
		"stored WorkerConfig":           {anyOf(v1alpha1.DecodeStoredWorkerConfig), "WorkerConfig", false, false},
		"CloudProfileConfig":            {anyOf(v1alpha1.DecodeCloudProfileConfigStrictly), "CloudProfileConfig", true, true},
		"stored CloudProfileConfig":     {anyOf(v1alpha1.DecodeCloudProfileConfig), "CloudProfileConfig", false, true},
		"BackupBucketConfig":            {anyOf(v1alpha1.DecodeBackupBucketConfig), "BackupBucketConfig", true, false},
		"stored BackupBucketConfig":     {anyOf(v1alpha1.DecodeStoredBackupBucketConfig), "BackupBucketConfig", false, false},
		"WorkloadIdentityConfig":        {anyOf(v1alpha1.DecodeWorkloadIdentityConfig), "WorkloadIdentityConfig", true, true},
		"stored WorkloadIdentityConfig": {anyOf(v1alpha1.DecodeStoredWorkloadIdentityConfig), "WorkloadIdentityConfig", false, true},
		"InfrastructureStatus":          {anyOf(v1alpha1.DecodeInfrastructureStatus), "InfrastructureStatus", false, false},
		"InfrastructureState":           {anyOf(v1alpha1.DecodeInfrastructureState), "InfrastructureState", false, false},
		"WorkerStatus":                  {anyOf(v1alpha1.DecodeWorkerStatus), "WorkerStatus", false, false},
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

// TestDecode_UpstreamDocuments has every field of every kind: none is lost, and none is added.
func TestDecode_UpstreamDocuments(t *testing.T) {
	for name, decoder := range decoders() {
		t.Run(name, func(t *testing.T) {
			document := upstreamDocument(t, decoder.kind)
			object, err := decoder.decode(&runtime.RawExtension{Raw: document})
			require.NoError(t, err)
			encoded, err := v1alpha1.Encode(object)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(jsonFields(t, document), jsonFields(t, encoded.Raw)))
		})
	}
}

func TestUpstreamDocuments_HaveEveryField(t *testing.T) {
	for name, decoder := range decoders() {
		t.Run(name, func(t *testing.T) {
			object, err := decoder.decode(&runtime.RawExtension{Raw: upstreamDocument(t, decoder.kind)})
			require.NoError(t, err)
			assert.Empty(t, unset(reflect.ValueOf(object).Elem(), ""))
		})
	}
}

// unset lists the fields that are not set in value, nor in any entry of the lists in it.
func unset(value reflect.Value, path string) []string {
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() {
			return []string{path}
		}
		return unset(value.Elem(), path)
	case reflect.Slice:
		missing := map[string]int{}
		for i := range value.Len() {
			for _, name := range unset(value.Index(i), path+"[]") {
				missing[name]++
			}
		}
		maps.DeleteFunc(missing, func(_ string, count int) bool { return count < value.Len() })
		if value.Len() == 0 {
			missing[path]++
		}
		return slices.Sorted(maps.Keys(missing))
	case reflect.Struct:
		var missing []string
		for field, of := range value.Fields() {
			if field.IsExported() && !strings.HasPrefix(field.Type.PkgPath(), "k8s.io/") {
				missing = append(missing, unset(of, path+"."+field.Name)...)
			}
		}
		return missing
	case reflect.Map:
		if value.Len() == 0 {
			return []string{path}
		}
	}
	return nil
}

func TestDecode_Examples(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "examples", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			document := readYAML(t, path)
			kind, _ := jsonFields(t, document)["kind"].(string)
			require.Contains(t, decoders(), kind)
			_, err := decoders()[kind].decode(&runtime.RawExtension{Raw: document})
			require.NoError(t, err)
		})
	}
}

func TestDecode_UnknownFields(t *testing.T) {
	for name, decoder := range decoders() {
		t.Run(name, func(t *testing.T) {
			document := jsonFields(t, upstreamDocument(t, decoder.kind))
			document["notAField"] = true
			data, err := json.Marshal(document)
			require.NoError(t, err)

			object, err := decoder.decode(&runtime.RawExtension{Raw: data})
			if !decoder.strict {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, `unknown field "notAField": correct the name or remove the field`)
			require.Nil(t, object)
		})
	}
}

func TestDecode_Absent(t *testing.T) {
	for name, decoder := range decoders() {
		for sentence, raw := range map[string]*runtime.RawExtension{"no document": nil, "an empty document": {}, "null": {Raw: []byte("null")}} {
			t.Run(name+", "+sentence, func(t *testing.T) {
				object, err := decoder.decode(raw)
				if decoder.required {
					require.ErrorContains(t, err, "give one with apiVersion aws.provider.extensions.gardener.cloud/v1alpha1 and kind "+decoder.kind)
					require.Nil(t, object)
					return
				}
				require.NoError(t, err)
				require.NotNil(t, object)
			})
		}
	}
}

func TestDecode_Invalid(t *testing.T) {
	const infrastructure, worker = `{` + apiVersion + `,"kind":"InfrastructureConfig",`, `{` + apiVersion + `,"kind":"WorkerConfig",`
	for sentence, test := range map[string]struct{ kind, document, want string }{
		"a misspelt field of a zone":      {"InfrastructureConfig", infrastructure + `"networks":{"zones":[{"workerSubnetID":"a"}]}}`, `unknown field "networks.zones[0].workerSubnetID"`},
		"a field of another letter case":  {"InfrastructureConfig", infrastructure + `"networks":{"vpc":{"ID":"a"}}}`, `unknown field "networks.vpc.ID"`},
		"an object for a list":            {"InfrastructureConfig", infrastructure + `"networks":{"zones":{}}}`, "networks.zones must be a list, not a JSON object"},
		"a string for a switch":           {"InfrastructureConfig", infrastructure + `"enableECRAccess":"yes"}`, "enableECRAccess must be true or false, not a JSON string"},
		"a string for a number":           {"WorkerConfig", worker + `"volume":{"iops":"100"}}`, "volume.iops must be a whole number, not a JSON string"},
		"an implausible quantity":         {"WorkerConfig", worker + `"nodeTemplate":{"capacity":{"cpu":"1e2147483647"}}}`, "there is nothing of which anybody has"},
		"another kind":                    {"WorkerConfig", infrastructure[:len(infrastructure)-1] + `}`, "set apiVersion to aws.provider.extensions.gardener.cloud/v1alpha1 and kind to WorkerConfig"},
		"a document of another cloud":     {"WorkerConfig", `{"apiVersion":"example.org/v1alpha1","kind":"WorkerConfig"}`, `apiVersion is "example.org/v1alpha1"`},
		"something that is not an object": {"WorkerConfig", `7`, "not a JSON object"},
	} {
		t.Run(sentence, func(t *testing.T) {
			object, err := decoders()[test.kind].decode(&runtime.RawExtension{Raw: []byte(test.document)})
			require.Nil(t, object)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestDecodeInfrastructureState_WithoutData(t *testing.T) {
	for _, raw := range []*runtime.RawExtension{nil, {Raw: []byte(`{` + apiVersion + `,"kind":"InfrastructureState","data":null}`)}} {
		state, err := v1alpha1.DecodeInfrastructureState(raw)
		require.NoError(t, err)
		require.NotNil(t, state.Data, "a driver writes into it")
	}
}

func TestEncode_SetsTypeMetaOnCopy(t *testing.T) {
	state := &v1alpha1.InfrastructureState{Data: map[string]string{v1alpha1.StateKeyVPC: "a"}}
	raw, err := v1alpha1.Encode(state)
	require.NoError(t, err)
	require.JSONEq(t, `{`+apiVersion+`,"kind":"InfrastructureState","data":{"VPC":"a"}}`, string(raw.Raw))
	require.Empty(t, state.Kind, "the caller's object is left alone")
}

func upstreamDocument(t *testing.T, kind string) []byte {
	t.Helper()
	return readYAML(t, filepath.Join("testdata", "upstream", strings.ToLower(kind)+".yaml"))
}

func readYAML(t *testing.T, path string) []byte {
	t.Helper()
	document, err := os.ReadFile(path)
	require.NoError(t, err)
	data, err := yaml.YAMLToJSON(document)
	require.NoError(t, err)
	return data
}

func jsonFields(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var fields map[string]any
	require.NoError(t, json.Unmarshal(data, &fields))
	return fields
}
