package shoots_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/shoots"
)

func TestHasInfrastructure(t *testing.T) {
	worker, controlPlane := gardencorev1beta1.Worker{Name: "a"}, gardencorev1beta1.Worker{Name: "b", ControlPlane: &gardencorev1beta1.WorkerControlPlane{}}
	for sentence, test := range map[string]struct {
		spec gardencorev1beta1.ShootSpec
		want bool
	}{
		"a shoot with workers":                           {gardencorev1beta1.ShootSpec{Provider: gardencorev1beta1.Provider{Workers: []gardencorev1beta1.Worker{worker}}}, true},
		"a shoot without workers":                        {gardencorev1beta1.ShootSpec{}, false},
		"a self-hosted shoot with machines of its own":   {gardencorev1beta1.ShootSpec{Provider: gardencorev1beta1.Provider{Workers: []gardencorev1beta1.Worker{worker, controlPlane}}}, false},
		"a self-hosted shoot with machines of the cloud": {gardencorev1beta1.ShootSpec{CredentialsBindingName: new("c"), Provider: gardencorev1beta1.Provider{Workers: []gardencorev1beta1.Worker{controlPlane}}}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, shoots.HasInfrastructure(&gardencorev1beta1.Shoot{Spec: test.spec}))
		})
	}
}

func TestSizeInGiB(t *testing.T) {
	for text, want := range map[string]int{"50Gi": 50, "1": 1, "1500Mi": 2, "20G": 19} {
		size, err := shoots.SizeInGiB(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, size, text)
	}
	for _, text := range []string{"", "0", "-1Gi", "big", "2Ei", "1e-2147483640"} {
		_, err := shoots.SizeInGiB(text)
		assert.Error(t, err, text)
	}
}

func TestCanonical(t *testing.T) {
	assert.Nil(t, shoots.Canonical(nil))
	one, other := &runtime.RawExtension{Raw: []byte(`{"a":1.50,"b":[]}`)}, &runtime.RawExtension{Raw: []byte(`{ "b": [], "a": 1.50 }`)}
	assert.Equal(t, shoots.Canonical(one), shoots.Canonical(other))
	assert.NotEqual(t, shoots.Canonical(one), shoots.Canonical(&runtime.RawExtension{Raw: []byte(`{"a":1.5,"b":[]}`)}), "numbers stay as they are written")
	assert.Equal(t, `{`, string(shoots.Canonical(&runtime.RawExtension{Raw: []byte(`{`)}).Raw))
}
