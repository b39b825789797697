package rollouts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// snapshot describes what is in an API server for its seeds, a line for each object: namespaces, what gardener-resource-manager is to apply, and what
// it has applied. Of what was not touched at all, not even versions differ from one snapshot to the next.
func (c *cluster) snapshot(t *testing.T) []string {
	t.Helper()
	var lines []string
	namespaces := &corev1.NamespaceList{}
	require.NoError(t, c.Client.List(t.Context(), namespaces))
	for _, namespace := range namespaces.Items {
		if strings.HasPrefix(namespace.Name, namespaceOf("")) {
			lines = append(lines, fmt.Sprintf("Namespace %s %s", namespace.Name, namespace.UID))
		}
	}
	managed := &resourcesv1alpha1.ManagedResourceList{}
	require.NoError(t, c.Client.List(t.Context(), managed))
	for _, object := range managed.Items {
		lines = append(lines, fmt.Sprintf("ManagedResource %s/%s %s of revision %s: %v",
			object.Namespace, object.Name, object.UID, object.Annotations[installationv1alpha1.AnnotationRevision], object.Spec.SecretRefs))
	}
	contents := &corev1.ConfigMapList{}
	require.NoError(t, c.Client.List(t.Context(), contents, client.MatchingLabels{"of": "rollouts"}))
	for _, object := range contents.Items {
		lines = append(lines, fmt.Sprintf("ConfigMap %s/%s: %v", object.Namespace, object.Name, object.Data))
	}
	deployments := &appsv1.DeploymentList{}
	require.NoError(t, c.Client.List(t.Context(), deployments))
	for _, object := range deployments.Items {
		lines = append(lines, fmt.Sprintf("Deployment %s/%s", object.Namespace, object.Name))
	}
	slices.Sort(lines)
	return lines
}

func (env *environment) snapshots(t *testing.T) [][]string {
	t.Helper()
	var all [][]string
	for _, c := range env.clusters {
		all = append(all, c.snapshot(t))
	}
	return all
}

// versions tells of each of some installations in which version its ConfigMap is, and the specification of its ManagedResource.
func (env *environment) versions(t *testing.T, sites []site, installations map[string]*gardencorev1beta1.ControllerInstallation) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, s := range sites {
		name := installations[s.seed].Name
		content, managed := &corev1.ConfigMap{}, &resourcesv1alpha1.ManagedResource{}
		require.NoError(t, s.cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespaceOf(name), Name: contentName}, content))
		require.NoError(t, s.cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: inGarden, Name: name}, managed))
		found[s.seed] = fmt.Sprintf("%s %s %s %d", content.UID, content.ResourceVersion, managed.UID, managed.Generation)
	}
	return found
}

// assertNoSecretsLeft: each Secret in the seeds is that of a ManagedResource, or gardener-resource-manager takes it away when it is ten minutes old.
func (env *environment) assertNoSecretsLeft(t *testing.T) {
	t.Helper()
	for _, c := range env.clusters {
		managed := &resourcesv1alpha1.ManagedResourceList{}
		require.NoError(t, c.Client.List(t.Context(), managed))
		used := map[string]bool{}
		for _, object := range managed.Items {
			for _, reference := range object.Spec.SecretRefs {
				used[object.Namespace+"/"+reference.Name] = true
			}
		}
		secrets := &corev1.SecretList{}
		require.NoError(t, c.Client.List(t.Context(), secrets))
		for _, secret := range secrets.Items {
			name := secret.Namespace + "/" + secret.Name
			assert.True(t, used[name] || secret.Labels[references.LabelKeyGarbageCollectable] == references.LabelValueGarbageCollectable,
				"Secret %s is of no use", name)
			delete(used, name)
		}
		assert.Empty(t, slices.Collect(maps.Keys(used)), "Secrets that ManagedResources lack")
	}
}
