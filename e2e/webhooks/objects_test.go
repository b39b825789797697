package webhooks

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/components"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

// golden reads an object before or after it is tuned from the files of the driver, e.g. "1.36", "osc-reconcile.before". Package
// components makes sure that Gardener deploys those before.
func golden(t *testing.T, version, name, namespace string) *unstructured.Unstructured {
	t.Helper()
	path, err := repo.Path("internal", "controlplane", "openstack", "testdata", "tuning", version, name+".yaml")
	require.NoError(t, err)
	object := &unstructured.Unstructured{}
	text := strings.ReplaceAll(readFile(t, path), components.Namespace, namespace)
	require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
	return object
}

// stored returns the API server's version of an object.
func (env *environment) stored(t *testing.T, object client.Object) *unstructured.Unstructured {
	t.Helper()
	found, err := env.find(t.Context(), object)
	require.NoError(t, err)
	return found
}

func (env *environment) find(ctx context.Context, object client.Object) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	return found, env.Client.Get(ctx, client.ObjectKeyFromObject(object), found)
}

// untouched returns what the API server makes of an object where nobody changes it: it fills in defaults.
func (env *environment) untouched(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	object = object.DeepCopy()
	object.SetNamespace(env.reference)
	require.NoError(t, env.Client.Create(t.Context(), object, client.DryRunAll))
	return object
}

// content returns what an object says, without where and when it is stored, and when gardenlet has looked at it.
func content(object *unstructured.Unstructured) map[string]any {
	object = object.DeepCopy()
	for _, name := range []string{
		"namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "deletionTimestamp",
		"deletionGracePeriodSeconds", "finalizers",
	} {
		unstructured.RemoveNestedField(object.Object, "metadata", name)
	}
	unstructured.RemoveNestedField(object.Object, "metadata", "annotations", "gardener.cloud/timestamp")
	return object.Object
}
