package managedresource

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/definitions"
)

func TestManifests(t *testing.T) {
	scheme, err := contracttest.NewScheme()
	require.NoError(t, err)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "one"}}
	deployment.Status.Replicas = 3
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "system:one", "creationTimestamp": nil},
		"status": map[string]any{"phase": "Ready"},
	}}

	files, err := manifests([]client.Object{deployment, widget}, scheme)
	require.NoError(t, err)
	require.Len(t, files, 2)
	assert.JSONEq(t, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"system:one"}}`,
		string(files["widget____system_one.json"]), "a name may hold what the key of a Secret may not")
	written := map[string]any{}
	require.NoError(t, json.Unmarshal(files["deployment__kube-system__one.json"], &written))
	assert.Equal(t, "apps/v1", written["apiVersion"], "the kind of typed objects is looked up")
	assert.Equal(t, "Deployment", written["kind"])
	assert.NotContains(t, written, "status")
	assert.NotContains(t, written["metadata"], "creationTimestamp")

	assert.Contains(t, widget.Object, "status", "objects that are shared are left alone")
	assert.Equal(t, int32(3), deployment.Status.Replicas)
	again, err := manifests([]client.Object{deployment, widget}, scheme)
	require.NoError(t, err)
	assert.Equal(t, files, again)

	read, err := definitions.Read(fstest.MapFS{"widget.yaml": {Data: []byte(
		"apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: 'system:one', creationTimestamp: null}\nstatus: {phase: Ready}\n")}}, ".")
	require.NoError(t, err)
	encoded, err := definitions.Encode(read)
	require.NoError(t, err)
	again, err = manifests([]client.Object{deployment, encoded[0].DeepCopyObject().(client.Object)}, scheme)
	require.NoError(t, err)
	assert.Equal(t, files, again, "what is encoded once is written the same")

	_, err = manifests([]client.Object{deployment, deployment}, scheme)
	assert.EqualError(t, err, "deployment__kube-system__one.json is there twice")
	_, err = manifests([]client.Object{&extensionsv1alpha1.Worker{}}, runtime.NewScheme())
	assert.ErrorContains(t, err, "no kind is registered")
}
