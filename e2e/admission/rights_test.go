package admission

import (
	"testing"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// grantRights gives the binary exactly its charts' rights in both clusters.
func (env *environment) grantRights(t *testing.T) {
	t.Helper()
	inRuntime, inGarden, err := controller.AdmissionRights(namespace, owner)
	require.NoError(t, err)
	account := granted(t, env.runtime.Client, inRuntime)
	env.runtimeKubeconfig, err = env.runtime.KubeconfigOf(t.Context(), account.Namespace, account.Name)
	require.NoError(t, err)
	account = granted(t, env.Client, inGarden)
	env.gardenKubeconfig, err = env.KubeconfigOf(t.Context(), account.Namespace, account.Name)
	require.NoError(t, err)
}

// granted applies RBAC objects and returns their subjects.
func granted(t *testing.T, c client.Client, objects []*unstructured.Unstructured) rbacv1.Subject {
	t.Helper()
	var account rbacv1.Subject
	for _, object := range objects {
		if object.GetKind() == "ClusterRoleBinding" {
			binding := &rbacv1.ClusterRoleBinding{}
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, binding))
			require.Len(t, binding.Subjects, 1)
			account = binding.Subjects[0]
		}
		require.NoError(t, c.Create(t.Context(), object), "%s %s", object.GetKind(), object.GetName())
	}
	require.NotEmpty(t, account.Name)
	// In the garden, gardener-resource-manager creates it.
	made := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account.Name, Namespace: account.Namespace}}
	require.NoError(t, client.IgnoreAlreadyExists(c.Create(t.Context(), made)))
	return account
}

// configurations are the binary's webhook configurations in the garden.
func (env *environment) configurations(t *testing.T) []client.Object {
	t.Helper()
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfigurationList{}, &admissionregistrationv1.MutatingWebhookConfigurationList{}
	require.NoError(t, env.Client.List(t.Context(), validating))
	require.NoError(t, env.Client.List(t.Context(), mutating))
	require.Len(t, validating.Items, 1)
	require.Len(t, mutating.Items, 1)
	return []client.Object{&validating.Items[0], &mutating.Items[0]}
}
