package landscape

import (
	"encoding/json"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/charts"
)

func TestInspect_TrellisRegistrations(t *testing.T) {
	helm := func(helm gardencorev1.HelmControllerDeployment) *gardencorev1.ControllerDeployment {
		return &gardencorev1.ControllerDeployment{Helm: &helm}
	}
	for _, name := range charts.Names() {
		archive, err := charts.Archive(name, "v0.1.0")
		require.NoError(t, err)
		assert.True(t, isTrellis(gardencorev1beta1.ControllerRegistration{}, helm(gardencorev1.HelmControllerDeployment{RawChart: archive})), name)
	}
	archive, err := charts.Archive("worker-controller", "v0.1.0")
	require.NoError(t, err)
	inline, err := json.Marshal(map[string]any{"chart": archive})
	require.NoError(t, err)
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
		"not another's repository":      {deployment: oci("europe-docker.pkg.dev/gardener-project/releases/charts/gardener/extensions/provider-openstack")},
		"not another's chart":           {deployment: helm(gardencorev1.HelmControllerDeployment{RawChart: []byte("H4s")})},
		"not without a deployment":      {},
		"by the chart, of our own type": {deployment: custom("trellis", string(inline)), want: true},
		"by its repository, of our own type": {
			deployment: custom("trellis", `{"ociRepository": {"ref": "ghcr.io/trellis-garden/trellis/charts/worker-controller:0.1.0"}}`), want: true,
		},
		"not another's chart of our own type": {
			deployment: custom("trellis", `{"ociRepository": {"repository": "registry.example.org/charts/provider-openstack"}}`),
		},
		"not what cannot be read":         {deployment: custom("other", `{"chart": {"from": "somewhere"}}`)},
		"not with one of another type":    {deployment: &gardencorev1.ControllerDeployment{}},
		"not because of any other labels": {labels: map[string]string{"app.kubernetes.io/part-of": "gardener"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			registration := gardencorev1beta1.ControllerRegistration{}
			registration.Labels = c.labels
			assert.Equal(t, c.want, isTrellis(registration, c.deployment))
		})
	}
}

func TestInspect_Installer(t *testing.T) {
	for sentence, c := range map[string]struct {
		deployment *gardencorev1.ControllerDeployment
		want       string
	}{
		"gardenlet, by a chart":                       {oci("registry.example.org/charts/x"), "helm"},
		"gardenlet, where it is not said":             {&gardencorev1.ControllerDeployment{}, "helm"},
		"our operator":                                {custom("trellis", "{}"), "trellis"},
		"gardenlet, whatever is left of another type": {left(custom("trellis", "{}")), "helm"},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, c.want, installerOf(c.deployment)) })
	}
}

// custom is one of a type that is not Gardener's own, as version v1 has it.
func custom(typ, providerConfig string) *gardencorev1.ControllerDeployment {
	deployment := &gardencorev1.ControllerDeployment{}
	deployment.Annotations = map[string]string{
		gardencorev1.MigrationControllerDeploymentType: typ, gardencorev1.MigrationControllerDeploymentProviderConfig: providerConfig,
	}
	return deployment
}

func left(deployment *gardencorev1.ControllerDeployment) *gardencorev1.ControllerDeployment {
	deployment.Helm = &gardencorev1.HelmControllerDeployment{}
	return deployment
}

func oci(repository string) *gardencorev1.ControllerDeployment {
	return &gardencorev1.ControllerDeployment{Helm: &gardencorev1.HelmControllerDeployment{
		OCIRepository: &gardencorev1.OCIRepository{Repository: &repository, Tag: new("0.1.0")},
	}}
}
