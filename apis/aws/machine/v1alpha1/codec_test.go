package v1alpha1_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
)

// TestCodec_UpstreamJSON decodes and encodes specifications in the form of the existing machine driver, in which each field appears.
func TestCodec_UpstreamJSON(t *testing.T) {
	for _, name := range []string{"everything", "least"} {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join("testdata", name+".json"))
			require.NoError(t, err)
			content = bytes.TrimSpace(content)
			spec, err := v1alpha1.DecodeProviderSpec(&runtime.RawExtension{Raw: content})
			require.NoError(t, err)
			encoded, err := v1alpha1.EncodeProviderSpec(spec)
			require.NoError(t, err)
			require.Equal(t, string(content), string(encoded.Raw))
			if name == "everything" {
				assert.Empty(t, spec.Validate(field.NewPath("providerSpec")))
			}
		})
	}
}

func TestDecodeProviderSpec(t *testing.T) {
	spec, err := v1alpha1.DecodeProviderSpec(&runtime.RawExtension{Raw: []byte(`{"ami":"ami-1","ofTheFuture":1}`)})
	require.NoError(t, err)
	assert.Equal(t, "ami-1", spec.AMI)
	for sentence, raw := range map[string]*runtime.RawExtension{
		"nothing":         nil,
		"an empty one":    {},
		"no JSON":         {Raw: []byte("ami: 1")},
		"another version": {Raw: []byte(`{"apiVersion":"mcm.gardener.cloud/v1"}`)},
	} {
		_, err := v1alpha1.DecodeProviderSpec(raw)
		assert.Error(t, err, sentence)
	}
}

func TestNetworkInterface_IsEFA(t *testing.T) {
	for kind, want := range map[string]bool{"interface": false, "efa": true, "efa-only": true} {
		assert.Equal(t, want, v1alpha1.NetworkInterface{InterfaceType: &kind}.IsEFA(), kind)
	}
	assert.False(t, v1alpha1.NetworkInterface{}.IsEFA())
}
