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

// testDryRun lets real API servers look at the objects of all golden files, those of the oldest and of the newest Kubernetes
// among them. Nothing is stored.
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

// assertStrict makes sure that the look would find faults.
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

// dryRunLive does the same with what gardener-resource-manager is told to apply, and returns the names of it.
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

// manifests returns what a ManagedResource holds.
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

// dryRunCreate asks whether the object could be created as it is. One whose name is taken has been found to be without fault.
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

// isOfSeed tells where an object belongs. The shoot of this test has no vertical autoscaler, so that its API server knows
// nothing of the kind; the seed's does.
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
