package workload

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func dashboard(name string, bytes int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"x": strings.Repeat("<", bytes)},
	}}
}

func TestContentSecrets(t *testing.T) {
	role := objectOf(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "system:a/b ü`+strings.Repeat("x", 250)+`"}}`)
	objects := []*unstructured.Unstructured{dashboard("two", 700_000), role, dashboard("one", 700_000), dashboard("three", 10)}
	secrets, err := contentSecrets(Installation{Name: "network-abcde", Registration: "network"}, objects)
	require.NoError(t, err)

	var keys []string
	var found int
	for _, secret := range secrets {
		var size int
		for key, value := range secret.Data {
			assert.LessOrEqual(t, len(key), 253)
			keys = append(keys, key)
			size += len(value)
			found++
		}
		assert.LessOrEqual(t, size, corev1.MaxSecretSize)
		assert.Regexp(t, "^managedresource-network-abcde-[0-9a-f]{8}$", secret.Name)
		assert.Equal(t, "garden", secret.Namespace)
	}
	assert.Len(t, secrets, 2)
	assert.Equal(t, len(objects), found)
	slices.Sort(keys)
	assert.Equal(t, []string{
		"0000-clusterrole-system_a_b__" + strings.Repeat("x", 176) + ".json",
		"0001-configmap-one.json", "0002-configmap-three.json", "0003-configmap-two.json",
	}, keys)

	slices.Reverse(objects)
	again, err := contentSecrets(Installation{Name: "network-abcde", Registration: "network"}, objects)
	require.NoError(t, err)
	assert.Equal(t, secrets, again, "the order of the objects does not matter")
}

func TestContentSecrets_NoObjects(t *testing.T) {
	secrets, err := contentSecrets(Installation{Name: "network-abcde"}, nil)
	require.NoError(t, err)
	require.Len(t, secrets, 1, "a ManagedResource refers to something")
	assert.Empty(t, secrets[0].Data)
}

func TestContentSecrets_TooLarge(t *testing.T) {
	_, err := contentSecrets(Installation{Name: "network-abcde"}, []*unstructured.Unstructured{dashboard("huge", corev1.MaxSecretSize)})
	found, ok := problem.In(err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, problem.ChartTooLarge, found.Reason)
	assert.Equal(t, "ConfigMap huge has a manifest of 1048657 bytes, and 1048576 are possible", found.Message)
}

func TestApply_ManySecrets(t *testing.T) {
	s := newTestSeed(t)
	require.NoError(t, s.apply(dashboard("one", 900_000), dashboard("two", 900_000), dashboard("three", 900_000)))
	resource := s.managedResource()
	assert.Len(t, resource.Spec.SecretRefs, 3)
	assert.Len(t, s.secrets(), 3)
	assert.Len(t, resource.Annotations, 1+3, "the collector of unused Secrets knows all of them")
	s.takeWrites()
	require.NoError(t, s.apply(dashboard("three", 900_000), dashboard("one", 900_000), dashboard("two", 900_000)))
	assert.Empty(t, s.takeWrites())
	require.NoError(t, s.apply(dashboard("one", 900_000)))
	assert.Equal(t, []string{"patch ManagedResource " + s.installation.Name}, s.takeWrites())
	assert.Len(t, s.managedResource().Spec.SecretRefs, 1)
}
