package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/examplenet/v1alpha1"
)

const header = `"apiVersion":"example-net.example.org/v1alpha1","kind":"NetworkConfig"`

func TestDecodeNetworkConfig(t *testing.T) {
	for sentence, test := range map[string]struct {
		raw  *runtime.RawExtension
		want v1alpha1.NetworkConfig
	}{
		"no document":  {raw: nil},
		"no field set": {raw: &runtime.RawExtension{Raw: []byte(`{` + header + `}`)}},
		"all fields": {
			raw:  &runtime.RawExtension{Raw: []byte(`{` + header + `,"encapsulation":"ipip","agent":true,"routes":true}`)},
			want: v1alpha1.NetworkConfig{Encapsulation: v1alpha1.EncapsulationIPIP, Agent: true, Routes: true},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			config, err := v1alpha1.DecodeNetworkConfig(test.raw)
			require.NoError(t, err)
			test.want.TypeMeta = v1alpha1.NewNetworkConfig().TypeMeta
			assert.Equal(t, &test.want, config)
		})
	}
}

func TestDecodeNetworkConfig_Invalid(t *testing.T) {
	for sentence, test := range map[string]struct{ document, want string }{
		"a misspelt field": {`{` + header + `,"encapsulaton":"ipip"}`, `unknown field "encapsulaton"`},
		"a wrong type":     {`{` + header + `,"agent":"yes"}`, "agent must be true or false"},
		"no kind":          {`{"encapsulation":"ipip"}`, "set apiVersion to example-net.example.org/v1alpha1 and kind to NetworkConfig"},
		"another kind":     {`{"apiVersion":"example-net.example.org/v1alpha1","kind":"NetworkStatus"}`, "kind to NetworkConfig"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := v1alpha1.DecodeNetworkConfig(&runtime.RawExtension{Raw: []byte(test.document)})
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestNetworkConfig_Default(t *testing.T) {
	config := v1alpha1.NewNetworkConfig()
	assert.Equal(t, v1alpha1.EncapsulationVXLAN, config.Default().Encapsulation)
	assert.Empty(t, config.Encapsulation, "the user's configuration stays as it is")

	config.Encapsulation = v1alpha1.EncapsulationIPIP
	assert.Equal(t, config, config.Default())
}
