package validation_test

import (
	"os"
	"path/filepath"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/apis/installation/validation"
)

// FuzzControllerDeploymentConfig feeds the decoder with anything. What it accepts survives another round, and is validated and defaulted without a
// panic. What is valid can be worked with, and stays valid with defaults, but for the wave that they add.
func FuzzControllerDeploymentConfig(f *testing.F) {
	const head = `{"apiVersion":"installation.trellis.garden/v1alpha1","kind":"ControllerDeploymentConfig"`
	f.Add([]byte(`null`))
	f.Add([]byte(head + `,"chart":"H4sIAAAAAAAA"}`))
	f.Add([]byte(head + `,"ociRepository":{"repository":"localhost:5000/a","tag":"1","digest":"sha256:` + digits + `"},"values":{"gardener":null}}`))
	f.Add([]byte(head + `,"ociRepository":{"ref":"oci://[::1]:5000/aa:1@sha256:"},"valuesOverlays":[null,{"name":"a","values":[]}]}`))
	f.Add([]byte(head + `,"chart":"","rollout":{"waves":[{"name":"rest"},{"seedSelector":{"matchLabels":{"":" "}}}],"maxUnavailable":"007%"}}`))
	f.Add([]byte(head + `,"chart":"AA==","rollout":{"waves":[{"name":"a","seedSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}}]}}`))
	f.Add([]byte(head + `,"chart":"AA==","rollout":{"healthGate":{"deadline":"-0s","tolerance":"1ns"},"rollback":"Never"},"uninstall":{},"historyLimit":-0}`))
	f.Add(example(f))

	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := v1alpha1.DecodeControllerDeploymentConfig(&runtime.RawExtension{Raw: data})
		if err != nil {
			require.Nil(t, config)
			return
		}
		requireRoundTrip(t, config)

		path := field.NewPath("providerConfig")
		written := config.DeepCopy()
		errs := validation.ValidateControllerDeploymentConfig(config, path)
		require.Empty(t, cmp.Diff(written, config), "validation changes nothing")
		requireSelectorsMatchKubernetes(t, config)

		v1alpha1.Default(config)
		twice := config.DeepCopy()
		v1alpha1.Default(twice)
		require.Empty(t, cmp.Diff(config, twice))
		if len(errs) > 0 {
			return
		}
		waves := config.Rollout.Waves
		require.Equal(t, v1alpha1.RestWave, waves[len(waves)-1].Name)
		for _, wave := range waves {
			share, err := intstr.GetScaledValueFromIntOrPercent(wave.MaxUnavailable, 1, true)
			require.NoError(t, err)
			require.Positive(t, share)
			_, err = metav1.LabelSelectorAsSelector(wave.SeedSelector)
			require.NoError(t, err)
		}
		config.Rollout.Waves = waves[:len(waves)-1]
		require.Empty(t, validation.ValidateControllerDeploymentConfig(config, path), "defaults are valid")
	})
}

func requireRoundTrip(t *testing.T, config *v1alpha1.ControllerDeploymentConfig) {
	t.Helper()
	encoded, err := v1alpha1.Encode(config)
	require.NoError(t, err)
	second, err := v1alpha1.DecodeControllerDeploymentConfig(encoded)
	require.NoError(t, err)
	again, err := v1alpha1.Encode(second)
	require.NoError(t, err)
	require.Equal(t, string(encoded.Raw), string(again.Raw))
}

// requireSelectorsMatchKubernetes accepts and refuses what Kubernetes' own function does.
func requireSelectorsMatchKubernetes(t *testing.T, config *v1alpha1.ControllerDeploymentConfig) {
	t.Helper()
	if config.Rollout == nil {
		return
	}
	for _, wave := range config.Rollout.Waves {
		if wave.SeedSelector == nil {
			continue
		}
		alone := &v1alpha1.ControllerDeploymentConfig{
			Chart:   []byte{0},
			Rollout: &v1alpha1.Rollout{Waves: []v1alpha1.Wave{{Name: "a", SeedSelector: wave.SeedSelector}}},
		}
		trellisErrors := validation.ValidateControllerDeploymentConfig(alone, nil)
		kubernetes := metav1validation.ValidateLabelSelector(wave.SeedSelector, metav1validation.LabelSelectorValidationOptions{}, nil)
		require.Equal(t, len(kubernetes) == 0, len(trellisErrors) == 0, "we say %v, Kubernetes says %v", trellisErrors, kubernetes)
	}
}

// example is the configuration that the reference page shows.
func example(f *testing.F) []byte {
	f.Helper()
	source, err := os.ReadFile(filepath.Join("..", "v1alpha1", "testdata", "examples", "1-v1beta1.yaml"))
	require.NoError(f, err)
	var deployment gardencorev1beta1.ControllerDeployment
	require.NoError(f, yaml.Unmarshal(source, &deployment))
	return deployment.ProviderConfig.Raw
}
