package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// FuzzDecode feeds every decoder with anything. None may panic, and what one accepts must survive another round.
func FuzzDecode(f *testing.F) {
	for kind := range decoders() {
		f.Add([]byte(`{` + apiVersion + `,"kind":"` + kind + `"}`))
		f.Add([]byte(`{` + apiVersion + `,"kind":"` + kind + `","networks":{"worker":"a","nodePortSourceRanges":[]},"data":{"a":"b"}}`))
	}
	f.Add([]byte(`null`))
	f.Add([]byte(`[`))
	f.Add([]byte(`{"kind":1}`))

	f.Fuzz(func(t *testing.T, data []byte) {
		for kind, decoder := range decoders() {
			first, err := decoder.decode(&runtime.RawExtension{Raw: data})
			if err != nil {
				require.Nil(t, first, kind)
				continue
			}
			encoded, err := v1alpha1.Encode(first)
			require.NoError(t, err, kind)
			second, err := decoder.decode(encoded)
			require.NoError(t, err, kind)
			again, err := v1alpha1.Encode(second)
			require.NoError(t, err, kind)
			require.Empty(t, cmp.Diff(string(encoded.Raw), string(again.Raw)), kind)
		}
	})
}
