package controlplane_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
)

func TestLifecycle(t *testing.T) {
	controlplanetest.Run(t, controlplane.APIServer().Get(t), subjectOf(t, &driver{}))
}

func TestReconcile_KubernetesUpdate(t *testing.T) {
	version := func(version string) func(*gardencorev1beta1.Shoot) {
		return func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Kubernetes.Version = version }
	}
	h := newHarness(t, &driver{})
	h.ChangeShoot(version(oldestKubernetes))
	h.Start()
	h.Create()
	h.Manager.Seed().ClearHistory()
	h.Manager.Shoot().ClearHistory()
	h.ChangeShoot(version(newestKubernetes))
	h.Reconcile()
	assert.ElementsMatch(t, []string{"changed Deployment " + ccmName, "changed Deployment " + csiController}, h.Manager.Seed().History(), "they have other images")
	assert.Empty(t, h.Manager.Shoot().History())
}

func TestReconcile_WriteOrder(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	writes := h.Writes()
	inOrder := func(first, second string) {
		t.Helper()
		before, after := slices.Index(writes, first), slices.Index(writes, second)
		require.NotEqual(t, -1, before, "%s: %q", first, writes)
		require.NotEqual(t, -1, after, "%s: %q", second, writes)
		assert.Less(t, before, after, "%s comes after %s", first, second)
	}
	for _, name := range []string{
		controlplanetest.Seed, controlplanetest.ShootObjects, controlplanetest.ShootCRDs, controlplanetest.StorageClasses,
	} {
		inOrder("POST /secrets/managedresource-"+name+"-{sum}", "POST /managedresources/"+name)
	}
	for _, name := range []string{
		cloudConfig + "-{sum}", "shoot-access-" + ccmName, "ca-provider-example-controlplane-{sum}", ccmCertificate + "-{sum}",
	} {
		inOrder("POST /secrets/"+name, "POST /managedresources/"+controlplanetest.Seed)
	}
	inOrder("POST /managedresources/"+controlplanetest.ShootCRDs, "POST /managedresources/"+controlplanetest.StorageClasses)
	assert.Equal(t, "PATCH /controlplanes/one", writes[1], "there is a finalizer before there is anything to finalize")
}

// contents returns what the process has made in the namespace: all but tokens, keys, times and what the API server adds.
func contents(t *testing.T, h *controlplanetest.Harness) map[string]string {
	t.Helper()
	resources, secrets := &resourcesv1alpha1.ManagedResourceList{}, &corev1.SecretList{}
	require.NoError(t, h.Client.List(t.Context(), resources, client.InNamespace(h.Namespace)))
	require.NoError(t, h.Client.List(t.Context(), secrets, client.InNamespace(h.Namespace)))
	all := map[string]string{}
	note := func(name string, parts ...any) {
		encoded, err := json.Marshal(parts)
		require.NoError(t, err)
		all[name] = string(encoded)
	}
	for _, resource := range resources.Items {
		note("ManagedResource "+resource.Name, resource.Spec, resource.Labels, resource.Annotations)
	}
	for _, secret := range secrets.Items {
		if strings.HasPrefix(secret.Name, "shoot-access-") || secret.Type == corev1.SecretTypeTLS {
			secret.Data = nil
		}
		maps.DeleteFunc(secret.Labels, func(label, _ string) bool { return strings.HasSuffix(label, "-time") })
		note("Secret "+secret.Name, secret.Data, secret.Labels, secret.Annotations, secret.Type, secret.Immutable)
	}
	return all
}

func TestReconcile_Deterministic(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	first := contents(t, h)
	secrets := &corev1.SecretList{}
	require.NoError(t, h.Client.List(t.Context(), secrets, client.InNamespace(h.Namespace), client.MatchingLabels{"persist": "true"}))
	require.Len(t, secrets.Items, 1)
	h.Delete()
	h.Manager.Shoot().ClearHistory()
	ca := secrets.Items[0]
	ca.ResourceVersion, ca.UID = "", ""
	require.NoError(t, h.Client.Create(t.Context(), &ca))
	h.Create()
	assert.Empty(t, cmp.Diff(first, contents(t, h)))
}

func TestReconcile_CredentialsChanged(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	config := mounted(t, h, "Deployment", ccmName, cloudConfig)
	h.Manager.Seed().ClearHistory()
	h.Manager.Shoot().ClearHistory()
	h.Writes()

	login := &corev1.Secret{}
	require.NoError(t, h.Client.Get(t.Context(), client.ObjectKey{Namespace: h.Namespace, Name: "cloudprovider"}, login))
	login.Data["key"] = []byte("another")
	require.NoError(t, h.Client.Update(t.Context(), login))
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()

	assert.Equal(t, []string{
		"PATCH /controlplanes/one",
		"POST /secrets/" + cloudConfig + "-{sum}",
		"POST /secrets/managedresource-extension-controlplane-seed-{sum}",
		"PATCH /managedresources/extension-controlplane-seed",
		"DELETE /secrets/managedresource-extension-controlplane-seed-{sum}",
		"PATCH /controlplanes/one/status",
	}, contracttest.WithoutProgress(h.Writes()))
	assert.ElementsMatch(t, []string{"changed Deployment " + ccmName, "changed Deployment " + csiController}, h.Manager.Seed().History())
	assert.Empty(t, h.Manager.Shoot().History())
	assert.NotEqual(t, config, mounted(t, h, "Deployment", ccmName, cloudConfig), "the Deployment uses what it used before")
	require.NoError(t, h.Client.Get(t.Context(), client.ObjectKey{Namespace: h.Namespace, Name: config}, &corev1.Secret{}),
		"pods that are there yet may start again")
	h.Ready()
	err := h.Client.Get(t.Context(), client.ObjectKey{Namespace: h.Namespace, Name: config}, &corev1.Secret{})
	assert.NoError(t, client.IgnoreNotFound(err))
	assert.Error(t, err, "the collector knows that nobody needs it")
}

func TestReconcile_ComponentRemoved(t *testing.T) {
	d := &driver{}
	h := newHarness(t, d).Start()
	h.Create()
	h.Writes()
	d.change = func(plan *controlplane.Plan, _ *controlplane.Shoot) {
		plan.CSIDrivers[0].Controller.Sidecars.Snapshotter = nil
	}
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	writes := h.Writes()
	changed := slices.Index(writes, "PATCH /managedresources/extension-controlplane-seed")
	for _, name := range []string{"csi-snapshotter", "csi-snapshot-controller"} {
		removed := slices.Index(writes, "DELETE /secrets/shoot-access-"+name)
		require.NotEqual(t, -1, removed, "%q", writes)
		assert.Less(t, changed, removed, "access goes before those who use it have been replaced")
	}
	assert.Nil(t, h.Manager.Seed().Get("Deployment", "csi-snapshot-controller"))
	assert.NotNil(t, h.Manager.Seed().Get("Deployment", ccmName))
}

func TestReconcile_ReferencedResources(t *testing.T) {
	secret := func(h *controlplanetest.Harness) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: "ref-manila"}, Data: map[string][]byte{"username": []byte("manila")},
		}
	}
	refers := func(name, kind, object string) func(*gardencorev1beta1.Shoot) {
		return func(shoot *gardencorev1beta1.Shoot) {
			shoot.Spec.Resources = append(shoot.Spec.Resources, gardencorev1beta1.NamedResourceReference{
				Name: name, ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: kind, Name: object},
			})
		}
	}
	seen := make(chan map[string]map[string][]byte, 100)
	d := &driver{references: []string{"manila", "missing", "map"}}
	d.change = func(_ *controlplane.Plan, shoot *controlplane.Shoot) { seen <- shoot.Referenced }
	h := newHarness(t, d, func(subject *controlplanetest.Subject) {
		subject.Inputs.Existing = func(namespace string) []client.Object {
			return []client.Object{secret(&controlplanetest.Harness{Namespace: namespace})}
		}
	})
	h.ChangeShoot(refers("manila", "Secret", "manila"), refers("missing", "Secret", "missing"), refers("map", "ConfigMap", "manila"), refers("other", "Secret", "manila"))
	h.Start()
	object := h.Create()
	assert.Equal(t, map[string]map[string][]byte{"manila": {"username": []byte("manila")}}, <-seen)
	assert.Equal(t, []gardencorev1beta1.NamedResourceReference{{
		Name: "manila", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "ref-manila"},
	}}, object.Status.Resources)

	require.NoError(t, h.Client.Delete(t.Context(), secret(h)))
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	assert.Empty(t, h.Succeeded().Status.Resources, "what is not there would keep the shoot from travelling")
}

func TestReconcile_RevertsManualChanges(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	resource := &resourcesv1alpha1.ManagedResource{}
	key := client.ObjectKey{Namespace: h.Namespace, Name: controlplanetest.ShootObjects}
	require.NoError(t, h.Client.Get(t.Context(), key, resource))
	resource.Spec.KeepObjects = new(true)
	metav1.SetMetaDataAnnotation(&resource.ObjectMeta, "example.org/note", "mine")
	require.NoError(t, h.Client.Update(t.Context(), resource))
	access := &corev1.Secret{}
	accessKey := client.ObjectKey{Namespace: h.Namespace, Name: "shoot-access-" + ccmName}
	require.NoError(t, h.Client.Get(t.Context(), accessKey, access))
	labels := access.Labels
	access.Labels = nil
	require.NoError(t, h.Client.Update(t.Context(), access))

	h.Reconcile()
	require.NoError(t, h.Client.Get(t.Context(), key, resource))
	assert.Equal(t, "mine", resource.Annotations["example.org/note"], "what does no harm stays")
	require.NoError(t, h.Client.Get(t.Context(), accessKey, access))
	assert.Equal(t, labels, access.Labels)
	assert.NotEmpty(t, access.Data, "the token is left alone")
}

func TestReconcile_RecreatesDeletedManagedResource(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	h.Manager.SetHibernated(true)
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: controlplanetest.StorageClasses}}
	require.NoError(t, h.Client.Delete(t.Context(), resource))
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	object := h.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		return errorUnless(o.Status.LastError != nil, "no error yet")
	})
	assert.Equal(t, "deploying storage classes in the shoot: ManagedResource extension-controlplane-storageclasses is still being deleted",
		object.Status.LastError.Description)
	assert.Empty(t, object.Status.LastError.Codes, "no user can do anything about it")
	h.Manager.SetHibernated(false)
	require.NoError(t, h.Manager.ReconcileAll(t.Context()))
	h.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		return errorUnless(o.Status.LastError == nil, "it is still an error")
	})
	h.Manager.Shoot().ClearHistory()
	h.Ready()
}

// mounted returns the name of the Secret that an object mounts by a name in the plan.
func mounted(t *testing.T, h *controlplanetest.Harness, kind, name, source string) string {
	t.Helper()
	object := h.Manager.Seed().Get(kind, name)
	require.NotNil(t, object)
	for _, secret := range object.GetAnnotations() {
		if strings.HasPrefix(secret, source+"-") {
			return secret
		}
	}
	require.Fail(t, "it mounts none", "%s %s, %s", kind, name, source)
	return ""
}
