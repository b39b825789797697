package installationcontroller

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

func TestSelects_SeedNames(t *testing.T) {
	overlay := installationv1alpha1.ValuesOverlay{SeedNames: []string{"eu-1", "eu-2"}}
	for seed, want := range map[string]bool{"eu-1": true, "eu-2": true, "us-1": false} {
		got, err := selects(overlay, &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: seed, Labels: map[string]string{"name": "eu-1"}}})
		require.NoError(t, err)
		assert.Equal(t, want, got, seed)
	}
}
