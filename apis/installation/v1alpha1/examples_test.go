package v1alpha1_test

import (
	"os"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apis/core/install"
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/apis/installation/validation"
)

// The examples of the reference page have the same content in both forms, and are valid.

func TestExamples(t *testing.T) {
	older, newer := &gardencorev1beta1.ControllerDeployment{}, &gardencorev1.ControllerDeployment{}
	read(t, "testdata/examples/1-v1beta1.yaml", older)
	read(t, "testdata/examples/2-v1.yaml", newer)

	t.Run("the older form", func(t *testing.T) {
		require.Equal(t, v1alpha1.DeploymentType, older.Type)
		requireValid(t, &older.ProviderConfig)
	})
	t.Run("the newer form", func(t *testing.T) {
		require.Equal(t, v1alpha1.DeploymentType, newer.Annotations[gardencorev1.MigrationControllerDeploymentType])
		requireValid(t, &runtime.RawExtension{Raw: []byte(newer.Annotations[gardencorev1.MigrationControllerDeploymentProviderConfig])})
	})
	t.Run("Gardener makes the newer of the older one", func(t *testing.T) {
		scheme := runtime.NewScheme()
		install.Install(scheme)
		internal, got := &core.ControllerDeployment{}, &gardencorev1.ControllerDeployment{}
		require.NoError(t, scheme.Convert(older, internal, nil))
		require.NoError(t, scheme.Convert(internal, got, nil))

		const key = gardencorev1.MigrationControllerDeploymentProviderConfig
		require.JSONEq(t, newer.Annotations[key], got.Annotations[key])
		got.TypeMeta, got.Annotations[key] = newer.TypeMeta, newer.Annotations[key]
		require.Empty(t, cmp.Diff(newer, got))
	})
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	source, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(source, into))
}

func requireValid(t *testing.T, raw *runtime.RawExtension) {
	t.Helper()
	config, err := v1alpha1.DecodeControllerDeploymentConfig(raw)
	require.NoError(t, err)
	require.Empty(t, validation.ValidateControllerDeploymentConfig(config, field.NewPath("providerConfig")))
}
