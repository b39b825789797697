package registered

import (
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

const header = `"apiVersion": "installation.trellis.garden/v1alpha1", "kind": "ControllerDeploymentConfig"`

func newDeployment(deploymentType, config string) *gardencorev1.ControllerDeployment {
	return &gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "network", Annotations: map[string]string{
		gardencorev1.MigrationControllerDeploymentType:           deploymentType,
		gardencorev1.MigrationControllerDeploymentProviderConfig: config,
	}}}
}

func TestIsOurs(t *testing.T) {
	helm := newDeployment("trellis", "{}")
	helm.Helm = &gardencorev1.HelmControllerDeployment{}
	for sentence, tt := range map[string]struct {
		deployment *gardencorev1.ControllerDeployment
		ours       bool
	}{
		"ours":                       {newDeployment("trellis", "{}"), true},
		"somebody else's type":       {newDeployment("flux", "{}"), false},
		"helm, and a left-over type": {helm, false},
		"nothing is said":            {&gardencorev1.ControllerDeployment{}, false},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, tt.ours, IsOurs(tt.deployment)) })
	}
}

func TestConfigOf_Invalid(t *testing.T) {
	for sentence, tt := range map[string]struct{ config, said string }{
		"nothing":           {``, "providerConfig is required"},
		"an unknown field":  {`{` + header + `, "chart": "aGk=", "wave": []}`, `"wave"`},
		"another kind":      {`{"apiVersion": "v1", "kind": "Secret"}`, "set apiVersion to installation.trellis.garden/v1alpha1"},
		"neither of charts": {`{` + header + `}`, "providerConfig"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := ConfigOf(newDeployment("trellis", tt.config))
			found, ok := problem.In(err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, problem.ProviderConfigInvalid, found.Reason)
			assert.Contains(t, found.Message, "ControllerDeployment network")
			assert.Contains(t, found.Message, tt.said)
		})
	}
}

func TestOriginOf(t *testing.T) {
	origin := func(change func(*gardencorev1.ControllerDeployment, *installationv1alpha1.ControllerDeploymentConfig)) string {
		deployment := newDeployment("trellis", `{`+header+`, "chart": "aGk=", "values": {"a": 1}}`)
		config, err := ConfigOf(deployment)
		require.NoError(t, err)
		change(deployment, config)
		result, err := OriginOf(deployment, config)
		require.NoError(t, err)
		return result
	}
	before := origin(func(*gardencorev1.ControllerDeployment, *installationv1alpha1.ControllerDeploymentConfig) {})
	assert.Equal(t, before, origin(func(_ *gardencorev1.ControllerDeployment, config *installationv1alpha1.ControllerDeploymentConfig) {
		config.Rollout.Paused = true
	}), "how it is rolled out is no matter of the revision")
	for sentence, change := range map[string]func(*gardencorev1.ControllerDeployment, *installationv1alpha1.ControllerDeploymentConfig){
		"chart": func(_ *gardencorev1.ControllerDeployment, config *installationv1alpha1.ControllerDeploymentConfig) {
			config.Chart = []byte("x")
		},
		"values": func(_ *gardencorev1.ControllerDeployment, config *installationv1alpha1.ControllerDeploymentConfig) {
			config.Values.Raw = []byte(`{"a": 2}`)
		},
		"tag": func(_ *gardencorev1.ControllerDeployment, config *installationv1alpha1.ControllerDeploymentConfig) {
			config.OCIRepository = &installationv1alpha1.OCIRepository{Ref: "registry/charts:v2"}
		},
		"access to the garden": func(deployment *gardencorev1.ControllerDeployment, _ *installationv1alpha1.ControllerDeploymentConfig) {
			deployment.InjectGardenKubeconfig = new(true)
		},
	} {
		t.Run(sentence, func(t *testing.T) { assert.NotEqual(t, before, origin(change)) })
	}
}

func TestReferenceOf(t *testing.T) {
	for reference, repository := range map[string]*installationv1alpha1.OCIRepository{
		"registry/charts/network:v1":         {Ref: "oci://registry/charts/network:v1"},
		"registry:5000/network@sha256:abc":   {Repository: "registry:5000/network", Tag: "v1", Digest: "sha256:abc"},
		"registry:5000/network:v1":           {Repository: "oci://registry:5000/network", Tag: "v1"},
		"registry:5000/network/a@sha256:def": {Ref: "registry:5000/network/a@sha256:def"},
	} {
		assert.Equal(t, reference, referenceOf(repository))
	}
	for reference, digested := range map[string]string{
		"registry:5000/network:v1":         "registry:5000/network@sha256:new",
		"registry:5000/network":            "registry:5000/network@sha256:new",
		"registry:5000/network@sha256:old": "registry:5000/network@sha256:new",
		"registry/network:v1@sha256:old":   "registry/network@sha256:new",
	} {
		assert.Equal(t, digested, withDigest(reference, "sha256:new"))
	}
}

func TestConfigOf_SecretInOverlayWithSeedSelector(t *testing.T) {
	deployment := newDeployment("trellis", `{`+header+`, "chart": "aGk=", "valuesOverlays": [
		{"name": "prod", "seedSelector": {"matchLabels": {"stage": "prod"}}, "values": {"password": "{{ .resources.login.data.password }}"}}]}`)
	deployment.Resources = []gardencorev1.NamedResourceReference{{
		Name: "login", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "login"},
	}}
	_, err := ConfigOf(deployment)
	found, ok := problem.In(err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, problem.ProviderConfigInvalid, found.Reason)
	assert.Contains(t, found.Message, "providerConfig.valuesOverlays[0].seedSelector: Forbidden")
	assert.Contains(t, found.Message, "name the seeds in seedNames instead")
}
