package v1alpha1_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

const apiVersion = `"apiVersion":"calico.networking.extensions.gardener.cloud/v1alpha1"`

func fields(t *testing.T, document []byte) map[string]any {
	t.Helper()
	var result map[string]any
	require.NoError(t, json.Unmarshal(document, &result))
	return result
}

func TestDecodeNetworkConfig_UpstreamDocuments(t *testing.T) {
	paths, err := filepath.Glob("testdata/upstream/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			source, err := os.ReadFile(path)
			require.NoError(t, err)
			document, err := yaml.YAMLToJSON(source)
			require.NoError(t, err)

			config, err := v1alpha1.DecodeNetworkConfig(&runtime.RawExtension{Raw: document})
			require.NoError(t, err)
			encoded, err := v1alpha1.Encode(config)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(fields(t, document), fields(t, encoded.Raw)))
		})
	}
}

func TestDecodeNetworkConfig_Empty(t *testing.T) {
	for sentence, raw := range map[string]*runtime.RawExtension{
		"no document":                    nil,
		"an empty document":              {},
		"null":                           {Raw: []byte(`null`)},
		"no field":                       {Raw: []byte(`{` + apiVersion + `,"kind":"NetworkConfig"}`)},
		"neither kind nor apiVersion":    {Raw: []byte(`{}`)},
		"a kind alone":                   {Raw: []byte(`{"kind":"NetworkConfig"}`)},
		"an apiVersion alone":            {Raw: []byte(`{` + apiVersion + `}`)},
		"an object instead of its bytes": {Object: &v1alpha1.NetworkConfig{TypeMeta: v1alpha1.NewNetworkConfig().TypeMeta}},
	} {
		t.Run(sentence, func(t *testing.T) {
			config, err := v1alpha1.DecodeNetworkConfig(raw)
			require.NoError(t, err)
			require.Equal(t, v1alpha1.NewNetworkConfig(), config)
		})
	}
}

func TestDecodeNetworkConfig_Invalid(t *testing.T) {
	for sentence, test := range map[string]struct {
		document string
		want     []string
	}{
		"a misspelt field":             {`{"ipv4":{"mod":"Never"}}`, []string{`unknown field "ipv4.mod"`, "correct the name or remove the field"}},
		"a field in other letters":     {`{"ipAutoDetectionMethod":"first-found"}`, []string{`unknown field "ipAutoDetectionMethod"`}},
		"a switch that is none":        {`{"overlay":{"enabled":"yes"}}`, []string{"overlay.enabled must be true or false", "correct the value"}},
		"a number for the MTU":         {`{"vethMTU":1450}`, []string{"vethMTU must be a string", "correct the value"}},
		"the configuration of another": {`{"apiVersion":"cilium.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkConfig"}`, []string{"set apiVersion to calico.networking"}},
		"another kind":                 {`{` + apiVersion + `,"kind":"NetworkStatus"}`, []string{"kind to NetworkConfig"}},
		"a version that there is not":  {`{"apiVersion":"v1","kind":"NetworkConfig"}`, []string{"set apiVersion to calico.networking"}},
		"a list":                       {`[]`, []string{"decoding NetworkConfig"}},
		"a quantity that is none":      {`{"autoScaling":{"resources":{"node":{"cpu":"much"}}}}`, []string{"decoding NetworkConfig", "quantities"}},
		"a field that is there twice":  {`{"backend":"bird","backend":"none"}`, []string{`duplicate field "backend"`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			config, err := v1alpha1.DecodeNetworkConfig(&runtime.RawExtension{Raw: []byte(test.document)})
			require.Nil(t, config)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestDecodeNetworkStatus(t *testing.T) {
	t.Run("what is written is read again", func(t *testing.T) {
		status := v1alpha1.NewNetworkStatus()
		status.Effective, status.Overridden = config(t, `"backend":"none","ipv4":{"mode":"Always"}`).Default(unrestrictedContext())
		encoded, err := v1alpha1.Encode(status)
		require.NoError(t, err)
		read, err := v1alpha1.DecodeNetworkStatus(encoded)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(status, read))
	})
	t.Run("upstream's is empty", func(t *testing.T) {
		read, err := v1alpha1.DecodeNetworkStatus(&runtime.RawExtension{Raw: []byte(`{` + apiVersion + `,"kind":"NetworkStatus"}`)})
		require.NoError(t, err)
		require.Equal(t, v1alpha1.NewNetworkStatus(), read)
	})
	t.Run("fields of later versions are ignored", func(t *testing.T) {
		read, err := v1alpha1.DecodeNetworkStatus(&runtime.RawExtension{Raw: []byte(`{` + apiVersion + `,"kind":"NetworkStatus","later":1}`)})
		require.NoError(t, err)
		require.Equal(t, v1alpha1.NewNetworkStatus(), read)
	})
	t.Run("none is an empty one", func(t *testing.T) {
		read, err := v1alpha1.DecodeNetworkStatus(nil)
		require.NoError(t, err)
		require.Equal(t, v1alpha1.NewNetworkStatus(), read)
	})
}
