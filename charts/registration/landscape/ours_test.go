package landscape

import (
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/charts"
)

func TestOurs(t *testing.T) {
	helm := func(helm gardencorev1.HelmControllerDeployment) *gardencorev1.ControllerDeployment {
		return &gardencorev1.ControllerDeployment{Helm: &helm}
	}
	for _, name := range charts.Names() {
		archive, err := charts.Archive(name, "v0.1.0")
		require.NoError(t, err)
		assert.True(t, isOurs(gardencorev1beta1.ControllerRegistration{}, helm(gardencorev1.HelmControllerDeployment{RawChart: archive})), name)
	}
	for sentence, c := range map[string]struct {
		labels     map[string]string
		deployment *gardencorev1.ControllerDeployment
		want       bool
	}{
		"by label":                       {labels: map[string]string{"app.kubernetes.io/part-of": "trellis"}, want: true},
		"by the repository of the chart": {deployment: oci("registry.example.org/mirror/trellis/charts/worker-controller"), want: true},
		"by its reference": {
			deployment: helm(gardencorev1.HelmControllerDeployment{OCIRepository: &gardencorev1.OCIRepository{
				Ref: new("ghcr.io/trellis-garden/trellis/charts/worker-controller:0.1.0"),
			}}), want: true,
		},
		"not another's repository":        {deployment: oci("europe-docker.pkg.dev/gardener-project/releases/charts/gardener/extensions/provider-openstack")},
		"not another's chart":             {deployment: helm(gardencorev1.HelmControllerDeployment{RawChart: []byte("H4s")})},
		"not without a deployment":        {},
		"not with one of another type":    {deployment: &gardencorev1.ControllerDeployment{}},
		"not because of any other labels": {labels: map[string]string{"app.kubernetes.io/part-of": "gardener"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			registration := gardencorev1beta1.ControllerRegistration{}
			registration.Labels = c.labels
			assert.Equal(t, c.want, isOurs(registration, c.deployment))
		})
	}
}

func oci(repository string) *gardencorev1.ControllerDeployment {
	return &gardencorev1.ControllerDeployment{Helm: &gardencorev1.HelmControllerDeployment{
		OCIRepository: &gardencorev1.OCIRepository{Repository: &repository, Tag: new("0.1.0")},
	}}
}
