package garden

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/registration"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// Each file of charts/registrations is applied to its cluster as an admin applies it, with strict validation.
func testForms(t *testing.T, env *environment) {
	for _, entry := range catalogue(t).Registrations {
		t.Run(entry.Name, func(t *testing.T) {
			kept := map[string][]byte{}
			for _, form := range []string{"rawchart", "v1beta1", "oci"} {
				for _, object := range objectsOf(t, entry.Name, form) {
					require.NoError(t, apply(t, env.Client, object), "%s: %s %s", form, object.GetKind(), object.GetName())
				}
				stored := deployment(entry.Name)
				require.True(t, exists(t, env.Client, stored))
				require.NotNil(t, stored.Helm, "%s: gardenlet looks at Helm charts only", form)
				kept[form] = stored.Helm.RawChart
				assert.Equal(t, entry.Name, registered(t, env, entry.Name).Spec.Deployment.DeploymentRefs[0].Name)
				env.clear(t)
			}
			assert.NotEmpty(t, kept["rawchart"])
			assert.Equal(t, kept["rawchart"], kept["v1beta1"], "the older form has the same chart")
			assert.Empty(t, kept["oci"])
		})
	}
	t.Run("Operator", func(t *testing.T) { testOperatorForm(t, env) })
	t.Run("NothingIsOverlooked", func(t *testing.T) {
		object := objectsOf(t, "worker", "oci")[1]
		require.NoError(t, unstructured.SetNestedField(object.Object, "x", "spec", "unheardOf"))
		assert.ErrorContains(t, apply(t, env.Client, object), "unheardOf")
	})
}

// testOperatorForm is for the cluster of gardener-operator, of which only the API is here.
func testOperatorForm(t *testing.T, env *environment) {
	_, err := envtest.InstallCRDs(env.cluster.Config, envtest.CRDInstallOptions{
		Paths:              []string{gardenerFile(t, "example/operator/10-crd-operator.gardener.cloud_extensions.yaml")},
		ErrorIfPathMissing: true,
	})
	require.NoError(t, err)
	for _, entry := range catalogue(t).Registrations {
		for _, object := range objectsOf(t, entry.Name, "operator") {
			assert.Equal(t, "Extension", object.GetKind())
			assert.NoError(t, apply(t, env.cluster.Client, object, client.DryRunAll), entry.Name)
			require.NoError(t, unstructured.SetNestedField(object.Object, "x", "spec", "deployment", "extension", "unheardOf"))
			assert.ErrorContains(t, apply(t, env.cluster.Client, object, client.DryRunAll), "unheardOf")
		}
	}
}

func catalogue(t *testing.T) registration.Catalogue {
	t.Helper()
	read, err := registration.Read(charts.Catalogue())
	require.NoError(t, err)
	return read
}

// objectsOf returns the objects in a file of charts/registrations.
func objectsOf(t *testing.T, name, form string) []*unstructured.Unstructured {
	t.Helper()
	path, err := repo.Path("charts", "registrations", name, form+".yaml")
	require.NoError(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var objects []*unstructured.Unstructured
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			require.NotEmpty(t, objects)
			return objects
		}
		require.NoError(t, err)
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// apply is kubectl apply --server-side --validate=strict.
func apply(t *testing.T, c client.Client, object *unstructured.Unstructured, options ...client.PatchOption) error {
	t.Helper()
	content, err := object.MarshalJSON()
	require.NoError(t, err)
	return client.WithFieldValidation(c, metav1.FieldValidationStrict).
		Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.ApplyPatchType, content), append(options, client.FieldOwner("admin"))...)
}

func registered(t *testing.T, env *environment, name string) *gardencorev1beta1.ControllerRegistration {
	t.Helper()
	found := controllerRegistration(name)
	require.True(t, exists(t, env.Client, found))
	return found
}

// gardenerFile returns the path of a file of the Gardener that this module depends on.
func gardenerFile(t *testing.T, path string) string {
	t.Helper()
	dir, err := repo.ModuleDir(t.Context(), "github.com/gardener/gardener")
	require.NoError(t, err)
	return filepath.Join(dir, path)
}
