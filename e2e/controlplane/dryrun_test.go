package controlplane

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
	"github.com/trellis-garden/trellis/internal/golden"
)

// testDryRun sends the objects of all golden files to real API servers as dry runs, including those of the oldest and the newest Kubernetes.
func testDryRun(t *testing.T, env *environment) {
	root, err := repo.Path("internal", "controlplane")
	require.NoError(t, err)
	checked := map[string]int{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(path, "testdata") || !slices.Contains([]string{".yaml", ".diff"}, filepath.Ext(path)) {
			return err
		}
		content, err := golden.Read(path)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, root+string(filepath.Separator))
		for _, object := range decode(t, []byte(content)) {
			env.dryRun(t, name, object)
			checked[object.GetKind()]++
		}
		for _, part := range []string{"1.32-seed", "1.32-shoot", "1.36-seed", "1.36-shoot"} {
			if strings.Contains(name, part) {
				checked[part]++
			}
		}
		return nil
	}))
	for _, what := range []string{
		"1.32-seed", "1.32-shoot", "1.36-seed", "1.36-shoot",
		"Deployment", "PodDisruptionBudget", "VerticalPodAutoscaler", "Service", "ServiceMonitor", "PrometheusRule", // of the seed
		"DaemonSet", "CSIDriver", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ServiceAccount", "Secret",
		"StorageClass", "VolumeSnapshotClass", // of the shoot
	} {
		assert.Positive(t, checked[what], what)
	}
	env.assertStrict(t)
}

// assertStrict asserts that a dry run would find errors.
func (env *environment) assertStrict(t *testing.T) {
	t.Helper()
	objects := env.manifests(t, resourceSeed)
	at := slices.IndexFunc(objects, func(object *unstructured.Unstructured) bool { return object.GetKind() == "Deployment" })
	require.NotEqual(t, -1, at)
	misspelled, contradictory := objects[at].DeepCopy(), objects[at].DeepCopy()
	require.NoError(t, unstructured.SetNestedField(misspelled.Object, int64(2), "spec", "replica"))
	assert.ErrorContains(t, env.dryRunCreate(t, misspelled), "unknown field", "a field that there is not")
	require.NoError(t, unstructured.SetNestedField(contradictory.Object, "other", "spec", "selector", "matchLabels", "app"))
	assert.True(t, apierrors.IsInvalid(env.dryRunCreate(t, contradictory)), "an object whose name is taken is looked at, too")
}

// dryRunLive does the same with the present content of ManagedResources, and returns its names.
func (env *environment) dryRunLive(t *testing.T) (names []string) {
	t.Helper()
	for _, name := range managedResources() {
		for _, object := range env.manifests(t, name) {
			env.dryRun(t, name, object)
			names = append(names, object.GetKind()+" "+object.GetName())
		}
	}
	return names
}

// manifests returns the content of a ManagedResource.
func (env *environment) manifests(t *testing.T, name string) (objects []*unstructured.Unstructured) {
	t.Helper()
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: name}}
	require.True(t, env.get(t, resource), name)
	for _, ref := range resource.Spec.SecretRefs {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: ref.Name}}
		require.True(t, env.get(t, secret), ref.Name)
		for _, content := range secret.Data {
			objects = append(objects, decode(t, content)...)
		}
	}
	return objects
}

func (env *environment) dryRun(t *testing.T, where string, object *unstructured.Unstructured) {
	t.Helper()
	assert.NoError(t, env.dryRunCreate(t, object), "%s: %s %s", where, object.GetKind(), object.GetName())
}

// dryRunCreate creates the object as a dry run. "Already exists" is a success: the object was validated before.
func (env *environment) dryRunCreate(t *testing.T, object *unstructured.Unstructured) error {
	t.Helper()
	c := env.Cluster.Client
	if env.isOfSeed(object) {
		c = env.seed.Client
	}
	if object = object.DeepCopy(); object.GetNamespace() != "" && object.GetNamespace() != metav1.NamespaceSystem {
		object.SetNamespace(env.Shoot.Namespace())
	}
	err := c.Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// isOfSeed reports whether an object is for the seed. The shoot of this test has no CRDs of the vertical pod autoscaler; the seed has.
func (env *environment) isOfSeed(object *unstructured.Unstructured) bool {
	if object.GetKind() == "VerticalPodAutoscaler" {
		return true
	}
	return object.GetNamespace() != "" && object.GetNamespace() != metav1.NamespaceSystem
}

// decode reads all objects of a file.
func decode(t *testing.T, content []byte) (objects []*unstructured.Unstructured) {
	t.Helper()
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		require.NoError(t, err)
		if object.GetKind() != "" {
			objects = append(objects, object)
		}
	}
}
