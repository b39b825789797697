package garden

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/utils/managedresources"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// trellisRegistrations are the names of our primary registrations.
func trellisRegistrations(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, entry := range catalogue(t).Primaries().Registrations {
		names = append(names, entry.Name)
	}
	return names
}

// gardenlet renders the same as charts.Render, which the charts' golden files are compared with.
func testRendered(t *testing.T, env *environment) {
	for _, name := range trellisRegistrations(t) {
		installation := env.installed(t, name)
		want := env.render(t, installation)
		got, err := managedresources.GetObjects(t.Context(), env.cluster.Client, "garden", installation.Name)
		require.NoError(t, err)
		if difference := cmp.Diff(byID(want), byID(got)); difference != "" {
			t.Errorf("%s: rendered here (-) and by gardenlet (+): %s", name, difference)
		}
		managed := env.managedResource(t, installation)
		var applied []string
		for _, reference := range managed.Status.Resources {
			applied = append(applied, reference.Kind+" "+reference.Namespace+"/"+reference.Name)
		}
		slices.Sort(applied)
		assert.Equal(t, idsOf(want), applied, "%s: rendered, and applied by gardener-resource-manager", name)
		assert.Len(t, env.snapshot(t, installation), len(want)+1, "%s: all of it is there, and its namespace", name)

		namespace := namespaceOf(installation)
		require.True(t, exists(t, env.cluster.Client, namespace))
		assert.Equal(t, "extension", namespace.Labels["gardener.cloud/role"])
		assert.Equal(t, "restricted", namespace.Labels["pod-security.kubernetes.io/enforce"])
	}
}

// render renders a registration's chart here, with the values that gardenlet mixes in for a seed (pkg/gardenlet/controller/
// controllerinstallation in Gardener).
func (env *environment) render(t *testing.T, installation *gardencorev1beta1.ControllerInstallation) []client.Object {
	t.Helper()
	chart := deployment(installation.Spec.DeploymentRef.Name)
	require.True(t, exists(t, env.Client, chart))
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: installation.Spec.SeedRef.Name}}
	require.True(t, exists(t, env.Client, seed))
	values := map[string]any{}
	require.NoError(t, json.Unmarshal(chart.Helm.Values.Raw, &values))
	values["gardener"] = map[string]any{
		"version":   garden.GardenerVersion,
		"garden":    map[string]any{"clusterIdentity": garden.Identity},
		"gardenlet": map[string]any{"featureGates": map[string]bool{}},
		"seed": map[string]any{
			"name": seed.Name, "clusterIdentity": seed.Status.ClusterIdentity, "annotations": seed.Annotations, "labels": seed.Labels,
			"provider": seed.Spec.Provider.Type, "region": seed.Spec.Provider.Region, "volumeProvider": "", "volumeProviders": nil,
			"protected": false, "visible": true, "taints": seed.Spec.Taints, "networks": seed.Spec.Networks,
			"blockCIDRs": seed.Spec.Networks.BlockCIDRs, "spec": seed.Spec, "ingressDomain": seed.Spec.Ingress.Domain,
		},
	}
	release := charts.Release{Name: installation.Spec.RegistrationRef.Name, Namespace: namespaceOf(installation).Name}
	rendered, err := charts.Render(chart.Helm.RawChart, release, values)
	require.NoError(t, err)
	var objects []client.Object
	for _, object := range rendered {
		objects = append(objects, typed(t, object))
	}
	for _, object := range objects {
		if workload, ok := object.(*appsv1.Deployment); ok {
			// gardenlet adds environment variables with the seed's location to all containers of an extension.
			for i := range workload.Spec.Template.Spec.Containers {
				container := &workload.Spec.Template.Spec.Containers[i]
				container.Env = append(container.Env, corev1.EnvVar{Name: "SEED_NAME", Value: seed.Name})
			}
		}
	}
	return objects
}

func typed(t *testing.T, object *unstructured.Unstructured) client.Object {
	t.Helper()
	content, err := object.MarshalJSON()
	require.NoError(t, err)
	decoded, err := runtime.Decode(serializer.NewCodecFactory(kubernetes.SeedScheme).UniversalDeserializer(), content)
	require.NoError(t, err)
	return decoded.(client.Object)
}

func byID(objects []client.Object) map[string]client.Object {
	found := map[string]client.Object{}
	for _, object := range objects {
		found[idOf(object)] = object
	}
	return found
}

func idOf(object client.Object) string {
	return object.GetObjectKind().GroupVersionKind().Kind + " " + object.GetNamespace() + "/" + object.GetName()
}

func idsOf(objects []client.Object) []string {
	var ids []string
	for _, object := range objects {
		ids = append(ids, idOf(object))
	}
	slices.Sort(ids)
	return ids
}

func (env *environment) managedResource(t *testing.T, installation *gardencorev1beta1.ControllerInstallation) *resourcesv1alpha1.ManagedResource {
	t.Helper()
	managed := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: installation.Name, Namespace: "garden"}}
	require.True(t, exists(t, env.cluster.Client, managed))
	return managed
}

// snapshot has the UID and generation of each object of an installation in the seed, and of its namespace.
func (env *environment) snapshot(t *testing.T, installation *gardencorev1beta1.ControllerInstallation) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, reference := range env.managedResource(t, installation).Status.Resources {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: reference.Name, Namespace: reference.Namespace}}
		object.SetGroupVersionKind(reference.GroupVersionKind())
		require.True(t, exists(t, env.cluster.Client, object), "%v", reference)
		found[reference.Kind+" "+reference.Name] = string(object.UID) + " " + object.ResourceVersion
	}
	namespace := namespaceOf(installation)
	require.True(t, exists(t, env.cluster.Client, namespace))
	found["Namespace"] = string(namespace.UID) + " " + namespace.ResourceVersion
	return found
}

// others are snapshots of all of our installations except some.
func (env *environment) others(t *testing.T, but ...string) map[string]map[string]string {
	t.Helper()
	found := map[string]map[string]string{}
	for _, name := range trellisRegistrations(t) {
		if !slices.Contains(but, name) {
			found[name] = env.snapshot(t, env.installed(t, name))
		}
	}
	return found
}

// A new image of one controller rolls its Deployment and changes no object of the others.
func testOneRolls(t *testing.T, env *environment) {
	const name = "worker"
	installation, before := env.installed(t, name), env.others(t, name)
	secrets := env.managedResource(t, installation).Spec.SecretRefs
	require.NoError(t, change(t, env.Client, deployment(name), func(d *gardencorev1.ControllerDeployment) {
		d.Helm.Values.Raw = []byte(`{"types":["openstack"],"image":{"tag":"next"}}`)
	}))
	workload := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Name: "gardener-extension-worker", Namespace: namespaceOf(installation).Name,
	}}
	eventually(t, "the Deployment has rolled", func() bool {
		require.True(t, exists(t, env.cluster.Client, workload))
		return strings.HasSuffix(workload.Spec.Template.Spec.Containers[0].Image, "/worker-controller:next") &&
			workload.Status.ObservedGeneration == workload.Generation && workload.Status.UpdatedReplicas == *workload.Spec.Replicas &&
			workload.Status.Replicas == *workload.Spec.Replicas && workload.Status.UnavailableReplicas == 0
	})
	assert.Equal(t, installation.Name, env.installed(t, name).Name, "it is the same installation")
	assert.NotEqual(t, secrets, env.managedResource(t, installation).Spec.SecretRefs)
	assert.Equal(t, before, env.others(t, name))
}

// A removed registration removes all of its objects, and no others, even if a shoot needs it: one registration is emptied, and one deleted. Their
// kinds are then upstream's again. That both may not have a kind at once is for our admission: gardener-apiserver remembers one type per kind.
func testGone(t *testing.T, env *environment) {
	const emptied, deleted = "worker", "infrastructure"
	worker, infrastructure, before := env.installed(t, emptied), env.installed(t, deleted), env.others(t, emptied, deleted)
	own := slices.Concat(env.managedResource(t, worker).Status.Resources, env.managedResource(t, infrastructure).Status.Resources)
	everything := env.namesByKind(t)

	require.NoError(t, env.removeKinds(t, emptied, "Worker"))
	require.NoError(t, env.addKind(t, "Worker"))
	require.NoError(t, env.Client.Delete(t.Context(), controllerRegistration(deleted)))
	require.NoError(t, env.Client.Delete(t.Context(), infrastructure), "nobody else would: it is needed")
	eventually(t, "the registration that was deleted has gone", func() bool { return !exists(t, env.Client, controllerRegistration(deleted)) })
	require.NoError(t, env.addKind(t, "Infrastructure"))
	eventually(t, "what serves nothing has gone by itself", func() bool { return len(env.installations(t, emptied)) == 0 })
	require.NoError(t, env.Client.Delete(t.Context(), controllerRegistration(emptied)))
	for _, name := range []string{emptied, deleted} {
		require.NoError(t, env.Client.Delete(t.Context(), deployment(name)))
		eventually(t, name+" has gone with its chart", func() bool {
			return !exists(t, env.Client, deployment(name)) && !exists(t, env.Client, controllerRegistration(name))
		})
	}

	for _, reference := range own {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: reference.Name, Namespace: reference.Namespace}}
		object.SetGroupVersionKind(reference.GroupVersionKind())
		assert.False(t, exists(t, env.cluster.Client, object), "%v", reference)
	}
	assert.False(t, exists(t, env.cluster.Client, namespaceOf(worker)))
	assert.False(t, exists(t, env.cluster.Client, namespaceOf(infrastructure)))
	assert.Equal(t, before, env.others(t, emptied, deleted))
	for kind, names := range env.namesByKind(t) {
		for _, gone := range everything[kind] {
			if !slices.Contains(names, gone) {
				assert.Regexp(t, "infrastructure|worker", gone, "a %s has gone", kind)
			}
		}
	}
	eventually(t, "the monolith is in use again", func() bool {
		return is(*env.installed(t, monolith), gardencorev1beta1.ControllerInstallationRequired, gardencorev1beta1.ConditionTrue)
	})
}

// namesByKind lists cluster-scoped objects and namespaces by kind.
func (env *environment) namesByKind(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, kind := range []struct{ group, version, kind string }{
		{"", "v1", "Namespace"},
		{"rbac.authorization.k8s.io", "v1", "ClusterRole"},
		{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"},
		{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy"},
		{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding"},
		{"fluentbit.fluent.io", "v1alpha2", "ClusterFilter"},
		{"fluentbit.fluent.io", "v1alpha2", "ClusterParser"},
	} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: kind.group, Version: kind.version, Kind: kind.kind + "List"})
		require.NoError(t, env.cluster.Client.List(t.Context(), list))
		for _, item := range list.Items {
			found[kind.kind] = append(found[kind.kind], item.Name)
		}
	}
	return found
}
