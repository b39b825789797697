package network

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/managedresources"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
	"github.com/trellis-garden/trellis/internal/golden"
)

// resourceMatrix is a ManagedResource of the shoot that contains one rendering after another, resourceDefinitions one with Calico's CRDs.
const (
	resourceMatrix      = "matrix"
	resourceDefinitions = "matrix-definitions"
)

// matrix holds the golden manifests of the driver.
type matrix struct {
	// Cases are shoots, by a sentence.
	Cases map[string]struct {
		Manifests []string `json:"manifests"`
		Refused   string   `json:"refused"`
	} `json:"cases"`
	// manifests are the objects in YAML, by file.
	manifests map[string][]string
}

func readMatrix(t *testing.T) *matrix {
	t.Helper()
	folder, err := repo.Path("internal", "network", "calico", "testdata", "matrix")
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(folder, "cases.yaml"))
	require.NoError(t, err)
	m := &matrix{manifests: map[string][]string{}}
	require.NoError(t, yaml.Unmarshal(content, m))
	files, err := os.ReadDir(filepath.Join(folder, "manifests"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := golden.Read(filepath.Join(folder, "manifests", file.Name()))
		require.NoError(t, err)
		m.manifests[file.Name()] = strings.Split(text, "---\n")
	}
	return m
}

// objects returns the different objects of all manifests, by their YAML.
func (m *matrix) objects(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	all := map[string]*unstructured.Unstructured{}
	for file, documents := range m.manifests {
		for _, document := range documents {
			if all[document] == nil {
				objects := decode(t, []byte(document))
				require.Len(t, objects, 1, file)
				all[document] = objects[0]
			}
		}
	}
	return all
}

// testDryRun sends every object of all golden manifests to the shoot's API server as a dry run, with strict field validation.
func testDryRun(t *testing.T, env *environment) {
	objects, checked := readMatrix(t).objects(t), map[string]int{}
	for _, object := range objects {
		assert.NoError(t, env.dryRun(t, env.Cluster.Client, object), "%s %s", object.GetKind(), object.GetName())
		checked[object.GetKind()]++
	}
	for _, kind := range []string{
		"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ConfigMap", "DaemonSet", "Deployment", "Service",
		"PodDisruptionBudget", "NetworkPolicy", "VerticalPodAutoscaler", "IPPool",
	} {
		assert.Positive(t, checked[kind], kind)
	}
	t.Run("objects for the seed", func(t *testing.T) { env.dryRunMonitoring(t) })
	t.Run("reports misspelled fields", func(t *testing.T) {
		for _, object := range objects {
			misspelled := object.DeepCopy()
			if object.GetKind() == "DaemonSet" {
				require.NoError(t, unstructured.SetNestedField(misspelled.Object, true, "spec", "template", "spec", "hostNetworks"))
				assert.ErrorContains(t, env.dryRun(t, env.Cluster.Client, misspelled), "hostNetworks")
			}
			if object.GetKind() == "IPPool" {
				require.NoError(t, unstructured.SetNestedField(misspelled.Object, "64", "spec", "blockSize"))
				assert.ErrorContains(t, env.dryRun(t, env.Cluster.Client, misspelled), "blockSize")
			}
		}
	})
}

// dryRunMonitoring does the same with the golden files of monitoring, and the seed.
func (env *environment) dryRunMonitoring(t *testing.T) {
	folder, err := repo.Path("internal", "network", "calico", "testdata", "monitoring")
	require.NoError(t, err)
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	checked := map[string]int{}
	for _, file := range files {
		text, err := golden.Read(filepath.Join(folder, file.Name()))
		require.NoError(t, err)
		for _, object := range decode(t, []byte(text)) {
			object.SetNamespace(env.Shoot.Namespace())
			assert.NoError(t, env.dryRun(t, env.seed.Client, object), "%s: %s %s", file.Name(), object.GetKind(), object.GetName())
			checked[object.GetKind()]++
		}
	}
	for _, kind := range []string{"ScrapeConfig", "PrometheusRule", "ConfigMap"} {
		assert.Positive(t, checked[kind], kind)
	}
}

// dryRun applies an object as a dry run.
func (env *environment) dryRun(t *testing.T, c client.Client, object *unstructured.Unstructured) error {
	t.Helper()
	content, err := object.MarshalJSON()
	require.NoError(t, err)
	return c.Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.ApplyPatchType, content),
		client.DryRunAll, client.ForceOwnership, client.FieldOwner("matrix"), client.FieldValidation(metav1.FieldValidationStrict))
}

// testMultus enables Multus, and disables it again; users' objects of it stay. The CRDs are recorded for later parts.
func testMultus(t *testing.T, env *environment) {
	env.addNodes(t)
	env.configure(map[string]any{"multus": map[string]any{"enabled": true, "installCNIPlugins": true}})
	env.reconcile(t)
	env.awaitRolledOut(t)
	assert.ElementsMatch(t, []string{first, second}, env.nodesOf(t, "multus"))
	env.keepDefinitions(t)
	env.Shoot.NetworkConfig = nil
	env.reconcile(t)
	clusterstest.Eventually(t, "Multus is gone", func() bool { return env.podsOf(t, "multus") == nil })
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: strings.TrimPrefix(kindOfMultus, "/")}}
	assert.True(t, clusterstest.Get(t, env.Cluster.Client, definition))
}

// testRenderings lets the shoot's gardener-resource-manager apply each golden manifest over the previous one. There is no Network and no node. Objects
// that a manifest no longer has are kept: waiting for their deletion would take minutes.
func testRenderings(t *testing.T, env *environment) {
	m := readMatrix(t)
	env.define(t)
	require.NotEmpty(t, m.manifests)
	begun, applied, objects := time.Now(), map[string]string{}, m.objects(t)
	for _, file := range slices.Sorted(maps.Keys(m.manifests)) {
		for _, document := range m.manifests[file] {
			object := objects[document]
			applied[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = document
		}
		env.putResource(t, resourceMatrix, []byte(strings.Join(slices.Sorted(maps.Values(applied)), "---\n")))
		env.requireApplied(t, file)
	}
	t.Logf("%d manifests of %d shoots were applied in %s", len(m.manifests), len(m.Cases), time.Since(begun).Round(time.Second))
	for _, name := range []string{resourceMatrix, resourceDefinitions} {
		require.NoError(t, managedresources.DeleteForShoot(t.Context(), env.seed.Client, env.Shoot.Namespace(), name))
		clusterstest.Eventually(t, name+" is gone", func() bool { return !env.get(t, managedResource(name)) })
	}
	env.deleteResourceSecrets(t)
}

// requireApplied waits until a manifest is applied, and fails with the conditions of one that is not.
func (env *environment) requireApplied(t *testing.T, file string) {
	t.Helper()
	if assert.Eventually(t, func() bool { return env.isApplied(t, resourceMatrix) }, time.Minute, 20*time.Millisecond) {
		return
	}
	resource := managedResource(resourceMatrix)
	env.get(t, resource)
	require.FailNowf(t, "a manifest is not applied", "%s: %v", file, resource.Status.Conditions)
}

// deleteResourceSecrets deletes the Secrets of the ManagedResources here, which gardener-resource-manager would do after ten minutes.
func (env *environment) deleteResourceSecrets(t *testing.T) {
	t.Helper()
	secrets := &corev1.SecretList{}
	require.NoError(t, env.seed.Client.List(t.Context(), secrets, client.InNamespace(env.Shoot.Namespace())))
	for _, secret := range secrets.Items {
		if strings.Contains(secret.Name, resourceMatrix) {
			require.NoError(t, client.IgnoreNotFound(env.seed.Client.Delete(t.Context(), &secret)))
		}
	}
}

// putResource writes a ManagedResource of the shoot.
func (env *environment) putResource(t *testing.T, name string, content []byte) {
	t.Helper()
	data := map[string][]byte{"content.yaml": content}
	require.NoError(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error { // with gardener-resource-manager
		return managedresources.CreateForShoot(t.Context(), env.seed.Client, env.Shoot.Namespace(), name, "test", false, data)
	}))
}

// isApplied reports whether the present content of a ManagedResource is applied.
func (env *environment) isApplied(t *testing.T, name string) bool {
	resource := managedResource(name)
	if !env.get(t, resource) || resource.Status.ObservedGeneration != resource.Generation {
		return false
	}
	for _, condition := range resource.Status.Conditions {
		if condition.Type == resourcesv1alpha1.ResourcesApplied {
			return condition.Status == gardencorev1beta1.ConditionTrue
		}
	}
	return false
}

// define creates Calico's CRDs in the shoot, as they were in a Network.
func (env *environment) define(t *testing.T) {
	t.Helper()
	require.NotEmpty(t, env.definitions)
	env.putResource(t, resourceDefinitions, slices.Concat(env.definitions, env.definitionOfMultus))
	clusterstest.Eventually(t, "Calico's kinds are known", func() bool { return env.isApplied(t, resourceDefinitions) })
}

// keepDefinitions records Calico's CRDs for later parts, and Multus'.
func (env *environment) keepDefinitions(t *testing.T) {
	t.Helper()
	env.definitions, env.definitionOfMultus = nil, nil
	for _, object := range env.manifests(t, resourceShoot) {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		content, err := yaml.Marshal(object.Object)
		require.NoError(t, err)
		content = append([]byte("\n---\n"), content...)
		if strings.HasSuffix(object.GetName(), "."+groupOfMultus) {
			env.definitionOfMultus = content
		} else {
			env.definitions = append(env.definitions, content...)
		}
	}
	require.NotEmpty(t, env.definitionOfMultus)
}
