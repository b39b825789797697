package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// FuzzDecode feeds every decoder with anything. None may panic, and what one accepts must survive another round.
func FuzzDecode(f *testing.F) {
	for _, decoder := range decoders() {
		start := `{` + apiVersion + `,"kind":"` + decoder.kind + `"`
		for _, rest := range []string{
			``, `,"networks":{"vpc":{"id":""},"zones":[{"name":"a","workers":""}]},"elasticFileSystem":{"enabled":true,"ID":"a"}`,
			`,"data":{"Zones/a/Suffix":"z0"}`, `,"machineImages":[{"versions":[{"regions":[],"capabilityFlavors":[{}]}]}]`,
			`,"cpuOptions":{"coreCount":null},"networkInterfaces":[{"networkCardIndexRange":{"from":-1}}]`,
		} {
			f.Add([]byte(start + rest + `}`))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, decoder := range decoders() {
			first, err := decoder.decode(&runtime.RawExtension{Raw: data})
			if err != nil {
				require.Nil(t, first, name)
				continue
			}
			encoded, err := v1alpha1.Encode(first)
			require.NoError(t, err, name)
			second, err := decoder.decode(encoded)
			require.NoError(t, err, name)
			again, err := v1alpha1.Encode(second)
			require.NoError(t, err, name)
			require.Equal(t, string(encoded.Raw), string(again.Raw), name)
		}
	})
}
