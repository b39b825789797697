package workload

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func TestFeatureGates(t *testing.T) {
	defaults := func() map[string]bool { return featureGates(nil) }
	assert.Len(t, defaults(), 11)
	for sentence, test := range map[string]struct {
		configured map[string]bool
		want       map[string]bool
	}{
		"nothing is set":               {nil, nil},
		"some are set":                 {map[string]bool{"RemoveVali": true, "IstioTLSTermination": false}, map[string]bool{"RemoveVali": true, "IstioTLSTermination": false}},
		"one is set that nobody knows": {map[string]bool{"New": true}, map[string]bool{"New": true}},
		"all alpha ones are set but one": {
			map[string]bool{"AllAlpha": true, "RemoveVali": false},
			map[string]bool{
				"AllAlpha": true, "RemoveVali": false, "DefaultSeccompProfile": true, "PrometheusHealthChecks": true, "RemoveHTTPProxyLegacyPort": true,
				"VPNBondingModeRoundRobin": true, "VictoriaLogsBackend": true,
			},
		},
		"all beta ones are unset but one": {
			map[string]bool{"AllBeta": false, "IstioTLSTermination": true},
			map[string]bool{
				"AllBeta": false, "IstioTLSTermination": true, "CustomDNSServerInNodeLocalDNS": false, "DisableNginxIngressInSeed": false,
				"OpenTelemetryCollector": false,
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			want := defaults()
			maps.Copy(want, test.want)
			assert.Equal(t, want, featureGates(test.configured))
		})
	}
}

func TestReadSeedFacts_FeatureGates(t *testing.T) {
	for sentence, test := range map[string]struct {
		volume, content string
		change          map[string]bool
		wantErr         string
	}{
		"gardenlet's configuration":             {"gardenlet-config", "featureGates: {RemoveVali: true}\nother: {things: x}\n", map[string]bool{"RemoveVali": true}, ""},
		"a configuration without gates":         {"gardenlet-config", "seedConfig: {}\n", nil, ""},
		"a configuration that is empty":         {"gardenlet-config", "", nil, ""},
		"a gardenlet of another make":           {"config", "featureGates: {RemoveVali: true}\n", nil, ""},
		"a configuration that is none":          {"gardenlet-config", "featureGates: [", nil, "reading gardenlet's feature gates: decoding config.yaml in ConfigMap "},
		"a configuration with a gate that asks": {"gardenlet-config", "featureGates: {RemoveVali: maybe}", nil, "reading gardenlet's feature gates: decoding config.yaml in ConfigMap "},
		"a configuration that would cost memory": {
			"gardenlet-config", "a:\n" + strings.Repeat("-\n", 200_000), nil, "reading gardenlet's feature gates: config.yaml in ConfigMap ",
		},
		"a configuration that is gone": {"gardenlet-config", "gone", nil, "reading gardenlet's feature gates: configmaps \"gardenlet-configmap-"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestSeed(t)
			name := "gardenlet-configmap-" + s.installation.Name
			if test.content != "gone" {
				require.NoError(t, s.admin.Create(t.Context(), &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name}, Data: map[string]string{"config.yaml": test.content},
				}))
			}
			gardenlet := gardenletDeployment(test.volume, name)
			require.NoError(t, s.admin.Create(t.Context(), gardenlet))
			facts, err := ReadSeedFacts(t.Context(), s.cluster)
			require.NoError(t, s.admin.Delete(t.Context(), gardenlet))
			if test.wantErr != "" {
				assert.ErrorContains(t, err, test.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, featureGates(test.change), facts.FeatureGates)
		})
	}
}

func gardenletDeployment(volume, configMap string) *appsv1.Deployment {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet"}}
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "gardenlet"}}
	deployment.Spec.Template.Labels = deployment.Spec.Selector.MatchLabels
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "gardenlet", Image: "x"}}
	deployment.Spec.Template.Spec.Volumes = []corev1.Volume{
		{Name: "other", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: volume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: configMap},
		}}},
	}
	return deployment
}

func TestReadSeedFacts_IsGarden(t *testing.T) {
	s := newTestSeed(t)
	readIsGarden := func() bool {
		facts, err := ReadSeedFacts(t.Context(), s.cluster)
		require.NoError(t, err)
		assert.Equal(t, featureGates(nil), facts.FeatureGates, "there is no gardenlet")
		return facts.IsGarden
	}
	assert.False(t, readIsGarden(), "the seed does not know Gardens")

	installed, err := envtest.InstallCRDs(start(t).config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{gardenCRD()}})
	require.NoError(t, err)
	require.Len(t, installed, 1)
	garden := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operator.gardener.cloud/v1alpha1", "kind": "Garden", "metadata": map[string]any{"name": "garden"},
	}}
	require.NoError(t, client.IgnoreNotFound(s.admin.Delete(t.Context(), garden.DeepCopy())))
	assert.False(t, readIsGarden(), "there is no Garden")
	require.NoError(t, s.admin.Create(t.Context(), garden))
	assert.True(t, readIsGarden())
	require.NoError(t, s.admin.Delete(t.Context(), garden))
}

// gardenCRD is Gardener's as far as it matters whether there is an object.
func gardenCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gardens.operator.gardener.cloud"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "operator.gardener.cloud", Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gardens", Singular: "garden", Kind: "Garden", ListKind: "GardenList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}
