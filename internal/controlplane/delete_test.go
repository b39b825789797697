package controlplane_test

import (
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
)

func TestDelete_Order(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	h.Writes()
	h.Delete()
	writes := h.Writes()
	position := func(write string) int {
		for i, candidate := range writes {
			if candidate == write {
				return i
			}
		}
		require.Fail(t, "it was not written", "%s: %q", write, writes)
		return 0
	}
	wantWrites := []string{
		"DELETE /managedresources/" + controlplanetest.StorageClasses,
		"DELETE /managedresources/" + controlplanetest.ShootCRDs,
		"DELETE /managedresources/" + controlplanetest.ShootObjects,
		"DELETE /managedresources/" + controlplanetest.Seed,
		"DELETE /secrets/" + cloudConfig + "-{sum}",
		"DELETE /secrets/ca-provider-example-controlplane-{sum}",
		"PATCH /controlplanes/one/status to Succeeded",
		"PATCH /controlplanes/one",
	}
	for i := 1; i < len(wantWrites); i++ {
		assert.Less(t, position(wantWrites[i-1]), position(wantWrites[i]), "%s comes after %s", wantWrites[i-1], wantWrites[i])
	}
}

func TestDelete_MissingInputs(t *testing.T) {
	refuse := func(*controlplane.Shoot) field.ErrorList {
		return field.ErrorList{field.Required(field.NewPath("example"), "")}
	}
	for sentence, prepare := range map[string]func(*testing.T, *driver, *controlplanetest.Harness){
		"with a configuration that became invalid": func(_ *testing.T, d *driver, _ *controlplanetest.Harness) { d.validate = refuse },
		"with credentials that are gone": func(t *testing.T, _ *driver, h *controlplanetest.Harness) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: v1beta1constants.SecretNameCloudProvider}}
			require.NoError(t, h.Client.Delete(t.Context(), secret))
		},
		"with a part that somebody has deleted already": func(t *testing.T, _ *driver, h *controlplanetest.Harness) {
			for _, name := range []string{controlplanetest.StorageClasses, controlplanetest.ShootCRDs, controlplanetest.ShootObjects} {
				resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: name}}
				require.NoError(t, h.Client.Delete(t.Context(), resource))
				require.NoError(t, h.Manager.Reconcile(t.Context(), name))
			}
			require.NoError(t, h.Manager.CollectGarbage(t.Context()))
		},
		"with an identity that somebody has deleted already": func(t *testing.T, _ *driver, h *controlplanetest.Harness) {
			require.NoError(t, h.Client.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(h.Namespace),
				client.MatchingLabels{"manager-identity": "provider-example-controlplane"}))
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			d := &driver{}
			h := newHarness(t, d).Start()
			h.Create()
			prepare(t, d, h)
			h.Delete()
		})
	}
}

func TestDelete_KeepsUnownedObjects(t *testing.T) {
	labels := map[string]string{
		"resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "shoot",
		"managed-by": "secrets-manager", "manager-identity": "gardenlet",
		"resources.gardener.cloud/garbage-collectable-reference": "true",
	}
	h := newHarness(t, &driver{}, func(subject *controlplanetest.Subject) {
		subject.Inputs.Existing = func(namespace string) []client.Object {
			meta := metav1.ObjectMeta{Namespace: namespace, Name: "shoot-access-kube-controller-manager", Labels: labels}
			collectable := "reference.resources.gardener.cloud/secret-aaaaaaaa"
			return []client.Object{
				&corev1.Secret{ObjectMeta: meta},
				&resourcesv1alpha1.ManagedResource{
					ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shoot-core", Annotations: map[string]string{collectable: meta.Name}},
					Spec:       resourcesv1alpha1.ManagedResourceSpec{SecretRefs: []corev1.LocalObjectReference{{Name: meta.Name}}},
				},
			}
		}
	}).Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	require.NoError(t, h.Destroy(t.Context()))
	require.NoError(t, h.WaitGone(t.Context()))
	assert.Equal(t, []string{"left behind: ManagedResource shoot-core"}, h.Leftovers(), "and the Secret is not counted, it was there before")
	key := client.ObjectKey{Namespace: h.Namespace, Name: "shoot-access-kube-controller-manager"}
	require.NoError(t, h.Client.Get(t.Context(), key, &corev1.Secret{}))
}
