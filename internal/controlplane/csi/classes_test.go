package csi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/controlplane/csi"
)

func TestClasses(t *testing.T) {
	storage := []storagev1.StorageClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "default", Annotations: map[string]string{csi.DefaultStorageClassAnnotation: "true"}}, Provisioner: "example.csi.example.org"},
		{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: "example.csi.example.org", Parameters: map[string]string{"type": "fast"}},
	}
	snapshots := []csi.SnapshotClass{
		{Name: "default", Driver: "example.csi.example.org", Default: true, DeletionPolicy: "Delete", Parameters: map[string]string{"type": "slow"}},
		{Name: "keep", Driver: "example.csi.example.org", DeletionPolicy: "Retain"},
	}
	objects := csi.Classes(storage, snapshots)
	checkGolden(t, "classes.yaml", objects)
	for _, object := range objects {
		assert.Equal(t, "true", object.GetAnnotations()["resources.gardener.cloud/ignore"], object.GetName())
	}
	assert.NotContains(t, storage[0].Annotations, "resources.gardener.cloud/ignore", "what was given is not changed")
	assert.NotContains(t, snapshots[0].Object().GetAnnotations(), "resources.gardener.cloud/ignore")
}

func TestCRDs(t *testing.T) {
	objects, err := csi.CRDs()
	require.NoError(t, err)
	var names []string
	for _, object := range objects {
		names = append(names, object.GetName())
		content := object.Object
		assert.Equal(t, "apiextensions.k8s.io/v1", content["apiVersion"])
		assert.Contains(t, object.GetAnnotations(), "api-approved.kubernetes.io", "the API server demands it for groups of Kubernetes")
		assert.NotContains(t, content, "status")
		assert.Equal(t, map[string]string{"v1": "stored", "v1beta1": ""}, servedVersions(t, content))
	}
	assert.Equal(t, []string{
		"volumesnapshotclasses.snapshot.storage.k8s.io", "volumesnapshotcontents.snapshot.storage.k8s.io", "volumesnapshots.snapshot.storage.k8s.io",
	}, names)
}

// servedVersions says which versions there are, and which of them are served and stored.
func servedVersions(t *testing.T, crd map[string]any) map[string]string {
	t.Helper()
	versions, found, err := unstructured.NestedSlice(crd, "spec", "versions")
	require.NoError(t, err)
	require.True(t, found)
	states := map[string]string{}
	for _, version := range versions {
		version := version.(map[string]any)
		state := ""
		if version["served"] == true && version["storage"] == true {
			state = "stored"
		}
		states[version["name"].(string)] = state
	}
	return states
}
