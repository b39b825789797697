package installations

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	gardenletfeatures "github.com/gardener/gardener/pkg/gardenlet/features"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	"github.com/gardener/gardener/pkg/utils/managedresources"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/component-base/featuregate"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// installedObjects are all objects of an installation in a seed, in YAML, by kind and role. Left out is what differs between any two: the name of
// the installation, tokens and times; and the operator's annotation with the revision.
type installedObjects map[string]string

// installedObjectsOf reads them.
func installedObjectsOf(t *testing.T, s *site, installation *gardencorev1beta1.ControllerInstallation) installedObjects {
	t.Helper()
	p := installedObjects{}
	namespace := namespaceOf(installation)
	if exists(t, s.Client, namespace) {
		delete(namespace.Labels, corev1.LabelMetadataName)
		p.add(t, "Namespace", installation.Name, map[string]any{"labels": namespace.Labels, "annotations": namespace.Annotations})
	}
	p.addManagedResource(t, s, installation)
	secrets := &corev1.SecretList{}
	require.NoError(t, s.Client.List(t.Context(), secrets, client.InNamespace(namespace.Name)))
	for _, secret := range secrets.Items {
		p.addSecret(t, installation, &secret)
	}
	return p
}

func (p installedObjects) addManagedResource(t *testing.T, s *site, installation *gardencorev1beta1.ControllerInstallation) {
	t.Helper()
	managed := managedResourceOf(installation)
	if !exists(t, s.Client, managed) {
		return
	}
	secretRefs := managed.Spec.SecretRefs
	managed.Spec.SecretRefs = nil // their names are hashes of what is in them, and so are the references in annotations
	maps.DeleteFunc(managed.Annotations, func(name, _ string) bool {
		return name == installationv1alpha1.AnnotationRevision || strings.HasPrefix(name, references.AnnotationKeyPrefix)
	})
	if !ptr.Deref(managed.Spec.KeepObjects, false) {
		managed.Spec.KeepObjects = nil // is the same
	}
	p.add(t, "ManagedResource", installation.Name, map[string]any{
		"labels": managed.Labels, "annotations": len(managed.Annotations), "spec": managed.Spec, "secrets": len(secretRefs),
		"deleted": managed.DeletionTimestamp != nil,
	})
	for _, reference := range secretRefs {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: reference.Name, Namespace: "garden"}}
		if !exists(t, s.Client, secret) {
			return // the objects cannot be told
		}
		p.add(t, "Secret of the ManagedResource", installation.Name, map[string]any{"type": secret.Type, "immutable": secret.Immutable})
	}
	objects, err := managedresources.GetObjects(t.Context(), s.Client, "garden", installation.Name)
	if apierrors.IsNotFound(err) {
		return // somebody has just taken it away
	}
	require.NoError(t, err)
	for _, object := range objects {
		id := object.GetObjectKind().GroupVersionKind().Kind + " " + object.GetNamespace() + "/" + object.GetName()
		p.add(t, strings.ReplaceAll(id, installation.Name, "<installation>"), installation.Name, compared(t, object))
	}
}

// addSecret leaves out the content that gardenlet fills in.
func (p installedObjects) addSecret(t *testing.T, installation *gardencorev1beta1.ControllerInstallation, secret *corev1.Secret) {
	t.Helper()
	data := maps.Clone(secret.Data)
	if _, filled := data["token"]; filled {
		data["token"] = nil
	}
	delete(data, "bundle.crt")
	delete(secret.Annotations, "serviceaccount.resources.gardener.cloud/token-renew-timestamp")
	p.add(t, "Secret "+secret.Name, installation.Name, map[string]any{
		"labels": secret.Labels, "annotations": secret.Annotations, "type": secret.Type, "immutable": secret.Immutable, "data": data,
	})
}

func (p installedObjects) add(t *testing.T, id, installation string, content any) {
	t.Helper()
	p[id] = strings.ReplaceAll(yamlOf(t, content), installation, "<installation>")
}

// compared leaves out feature gates that are not gardenlet's: here it shares a process with others.
func compared(t *testing.T, object client.Object) any {
	t.Helper()
	configMap, ok := object.(*corev1.ConfigMap)
	if !ok || configMap.Data[dumpedValues] == "" {
		return object
	}
	values := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(configMap.Data[dumpedValues]), &values))
	gates, _, err := unstructured.NestedMap(values, "gardener", "gardenlet", "featureGates")
	require.NoError(t, err)
	maps.DeleteFunc(gates, func(name string, _ any) bool {
		return !slices.Contains(gardenletfeatures.GetFeatures(), featuregate.Feature(name))
	})
	require.Equal(t, true, gates[enabledFeatureGate])
	require.NoError(t, unstructured.SetNestedMap(values, gates, "gardener", "gardenlet", "featureGates"))
	configMap.Data[dumpedValues] = yamlOf(t, values)
	return configMap
}

// snapshot has the UID of each object of an installation in the seed, and the generation of those that have one.
func snapshot(t *testing.T, s *site, installation *gardencorev1beta1.ControllerInstallation) map[string]string {
	t.Helper()
	managed := managedResourceOf(installation)
	require.True(t, exists(t, s.Client, managed))
	namespace := namespaceOf(installation)
	require.True(t, exists(t, s.Client, namespace))
	found := map[string]string{"ManagedResource": string(managed.UID), "Namespace": string(namespace.UID)}
	for _, reference := range managed.Status.Resources {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: reference.Name, Namespace: reference.Namespace}}
		object.SetGroupVersionKind(reference.GroupVersionKind())
		require.True(t, exists(t, s.Client, object), "%v", reference)
		found[reference.Kind+" "+reference.Namespace+"/"+reference.Name] = string(object.UID) + " " + yamlOf(t, object.Generation)
	}
	return found
}

func yamlOf(t *testing.T, content any) string {
	t.Helper()
	// Encoded as JSON, since types of Gardener and values from YAML differ otherwise.
	document, err := json.Marshal(content)
	require.NoError(t, err)
	written, err := yaml.JSONToYAML(document)
	require.NoError(t, err)
	return string(written)
}

func contentOf(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}
