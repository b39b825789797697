package charts

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/e2e/internal/grm"
)

// uninstalled is an installation of a secondary by a ManagedResource, as gardenlet and our operator make it. The controller does not run: this test writes
// in its place what it writes, with its rights.
type uninstalled struct {
	*environment
	release  charts.Release
	objects  []*unstructured.Unstructured
	resource *unstructured.Unstructured
	// controller is a client with the rights of the controller.
	controller client.Client
}

// testUninstallSecondary deletes a ManagedResource, and then the namespace. The real gardener-resource-manager must wait for the finalizer of the ConfigMap
// that marks the installation, and keep what the controller needs until then; at last nothing may be left.
func testUninstallSecondary(t *testing.T, env *environment) {
	manager, err := grm.ForSeed(t.Context(), env.programs, filepath.Join(t.TempDir(), "grm"), env.Kubeconfig)
	require.NoError(t, err)
	t.Cleanup(manager.Kill)
	for _, chart := range observing() {
		t.Run(chart, func(t *testing.T) {
			u := install(t, env, chart)
			u.assertRightsOverOwnRights(t)
			require.NoError(t, env.Client.Delete(t.Context(), u.resource))
			u.waitFor(t, "the objects that are not kept are deleted", func() bool {
				return u.isGone(t, "Service") && u.isGone(t, "PodDisruptionBudget") && u.isGone(t, "PrometheusRule")
			})
			for _, object := range u.objects {
				if object.GetAnnotations()["resources.gardener.cloud/keep-object"] == "true" {
					read := u.read(t, object)
					require.NotNil(t, read, "%s is kept", object.GetKind())
					assert.Nil(t, read.GetDeletionTimestamp(), "%s is not being deleted", object.GetKind())
				}
			}
			require.NotNil(t, u.read(t, u.resource), "the ManagedResource waits")
			u.removeFinalizer(t)
			u.waitFor(t, "the ManagedResource is deleted", func() bool { return u.read(t, u.resource) == nil })

			require.NotNil(t, u.read(t, u.only(t, "Deployment")))
			require.NoError(t, env.Client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: u.release.Namespace}}))
			for _, object := range u.objects {
				u.waitFor(t, object.GetKind()+" "+object.GetName()+" is deleted", func() bool { return u.read(t, object) == nil })
			}
		})
	}
}

// install creates the ManagedResource of an installation, and waits until its objects exist.
func install(t *testing.T, env *environment, chart string) *uninstalled {
	t.Helper()
	u := &uninstalled{environment: env, release: charts.Release{Name: "secondary-" + chart, Namespace: "extension-secondary-" + chart}}
	u.objects = renderAs(t, u.release, chart, map[string]any{"role": "secondary"})
	u.controller = env.as(t, "system:serviceaccount:"+u.release.Namespace+":gardener-extension-"+u.release.Name)
	require.NoError(t, env.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: u.release.Namespace}}))
	manifests := map[string][]byte{}
	for i, object := range u.objects {
		manifest, err := json.Marshal(object)
		require.NoError(t, err)
		manifests[fmt.Sprintf("%d.json", i)] = manifest
	}
	named := metav1.ObjectMeta{Namespace: "garden", Name: u.release.Name}
	require.NoError(t, env.Client.Create(t.Context(), &corev1.Secret{ObjectMeta: named, Data: manifests}))
	u.resource = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource",
		"metadata": map[string]any{"namespace": named.Namespace, "name": named.Name},
		"spec":     map[string]any{"class": "seed", "keepObjects": false, "secretRefs": []any{map[string]any{"name": named.Name}}},
	}}
	require.NoError(t, env.Client.Create(t.Context(), u.resource))
	for _, object := range u.objects {
		u.waitFor(t, object.GetKind()+" "+object.GetName()+" exists", func() bool { return u.read(t, object) != nil })
	}
	return u
}

// assertRightsOverOwnRights asserts that the controller cannot extend its rights with the rights by which it makes the namespace their owner.
func (u *uninstalled) assertRightsOverOwnRights(t *testing.T) {
	t.Helper()
	u.waitFor(t, "the API server knows the rights", func() bool {
		unchanged := client.RawPatch(types.MergePatchType, []byte("{}"))
		return u.controller.Patch(t.Context(), u.only(t, "ClusterRole").DeepCopy(), unchanged, client.DryRunAll) == nil
	})
	patch := func(kind, change string) error {
		return u.controller.Patch(t.Context(), u.only(t, kind).DeepCopy(), client.RawPatch(types.MergePatchType, []byte(change)))
	}
	err := patch("ClusterRole", `{"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`)
	require.ErrorContains(t, err, "is attempting to grant RBAC permissions not currently held")
	// Afterwards it has no rights until the API server knows the former binding again.
	err = patch("ClusterRoleBinding", `{"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"another"}],"metadata":{"ownerReferences":[]}}`)
	require.NoError(t, err, "it may give away what it has itself")
	require.NoError(t, u.Client.Patch(t.Context(), u.only(t, "ClusterRoleBinding").DeepCopy(),
		client.RawPatch(types.MergePatchType, subjectsOf(t, u.only(t, "ClusterRoleBinding")))))
	foreign := u.only(t, "ClusterRole").DeepCopy()
	foreign.SetName("cluster-admin")
	err = u.controller.Patch(t.Context(), foreign, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`)))
	require.True(t, apierrors.IsForbidden(err), "%v", err)
}

func subjectsOf(t *testing.T, binding *unstructured.Unstructured) []byte {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"subjects": binding.Object["subjects"]})
	require.NoError(t, err)
	return patch
}

// removeFinalizer does what the controller does after it has removed its conditions.
func (u *uninstalled) removeFinalizer(t *testing.T) {
	t.Helper()
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	require.NoError(t, u.controller.Get(t.Context(), client.ObjectKey{Name: u.release.Namespace}, namespace))
	marker := u.marker(t)
	data, _, err := unstructured.NestedStringMap(marker.Object, "data")
	require.NoError(t, err)
	for key, kind := range map[string]string{"clusterRole": "ClusterRole", "clusterRoleBinding": "ClusterRoleBinding"} {
		require.Equal(t, u.only(t, kind).GetName(), data[key])
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(u.only(t, kind).GroupVersionKind())
		require.NoError(t, u.controller.Get(t.Context(), client.ObjectKey{Name: data[key]}, object))
		before := object.DeepCopy()
		object.OwnerReferences = append(object.OwnerReferences, metav1.OwnerReference{
			APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID,
		})
		require.NoError(t, u.controller.Patch(t.Context(), object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
	}
	current := u.read(t, marker)
	require.NotNil(t, current.GetDeletionTimestamp(), "the marker is being deleted")
	before := current.DeepCopy()
	current.SetFinalizers(slices.DeleteFunc(current.GetFinalizers(), func(f string) bool { return f == "trellis.extensions.gardener.cloud/observations" }))
	require.NoError(t, u.controller.Patch(t.Context(), current, client.MergeFrom(before)))
}

// marker returns the ConfigMap that marks the installation, as rendered.
func (u *uninstalled) marker(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	index := slices.IndexFunc(u.objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "ConfigMap" && len(o.GetFinalizers()) > 0
	})
	require.GreaterOrEqual(t, index, 0)
	return u.objects[index]
}

func (u *uninstalled) only(t *testing.T, kind string) *unstructured.Unstructured {
	t.Helper()
	return only(t, u.objects, kind)
}

func (u *uninstalled) isGone(t *testing.T, kind string) bool {
	t.Helper()
	return u.read(t, u.only(t, kind)) == nil
}

// read returns the current version of an object, or nil.
func (u *uninstalled) read(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	current := &unstructured.Unstructured{}
	current.SetGroupVersionKind(object.GroupVersionKind())
	err := u.Client.Get(t.Context(), client.ObjectKeyFromObject(object), current)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(t, err)
	return current
}

func (u *uninstalled) waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(timeout); !done(); time.Sleep(interval) {
		require.True(t, time.Now().Before(end), what)
	}
}
