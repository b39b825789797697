package charts

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/charts"
)

// testDryRun sends all objects of all charts, and their pods, to the API server as dry runs.
func testDryRun(t *testing.T, env *environment) {
	counts := map[string]int{}
	for _, name := range all() {
		for place, values := range placesOf(name) {
			t.Run(name+" "+place, func(t *testing.T) {
				for _, object := range render(t, name, values) {
					assert.NoError(t, env.dryRunCreate(t, object), "%s %s", object.GetKind(), object.GetName())
					counts[object.GetKind()]++
					if object.GetKind() == "Deployment" {
						assert.NoError(t, env.dryRunCreate(t, podOf(t, object)), "the pod")
					}
				}
			})
		}
	}
	for _, kind := range []string{
		"Deployment", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "PodDisruptionBudget",
		"VerticalPodAutoscaler", "ServiceMonitor", "PrometheusRule", "ConfigMap", "ClusterParser", "ClusterFilter",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	} {
		assert.GreaterOrEqual(t, counts[kind], len(charts.Names()), kind)
	}
	env.assertStrict(t)
}

// placesOf are values of a chart, by what they are for.
func placesOf(name string) map[string]map[string]any {
	places := map[string]map[string]any{"by default": nil, "with everything": allValues(name)}
	if slices.Contains(observing(), name) {
		everything := allValues(name)
		everything["role"], everything["extensionClasses"] = "secondary", []string{"shoot"}
		places["as a secondary"] = map[string]any{"role": "secondary"}
		places["as a secondary with everything"] = everything
	}
	return places
}

// observing lists the charts of binaries that can be secondaries.
func observing() []string {
	return []string{"infrastructure-controller", "controlplane-controller", "network-controller", "worker-controller"}
}

// assertStrict asserts that a dry run would find errors.
func (env *environment) assertStrict(t *testing.T) {
	t.Helper()
	deployment := only(t, render(t, "worker-controller", nil), "Deployment")
	misspelled, privileged := deployment.DeepCopy(), podOf(t, deployment)
	require.NoError(t, unstructured.SetNestedField(misspelled.Object, int64(2), "spec", "replica"))
	assert.ErrorContains(t, env.dryRunCreate(t, misspelled), "unknown field", "a field that there is not")
	require.NoError(t, unstructured.SetNestedField(privileged.Object, false, "spec", "securityContext", "runAsNonRoot"))
	assert.True(t, apierrors.IsForbidden(env.dryRunCreate(t, privileged)), "a pod that might run as root")
}

func (env *environment) dryRunCreate(t *testing.T, object *unstructured.Unstructured) error {
	t.Helper()
	return env.Client.Create(t.Context(), object.DeepCopy(), client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
}

// podOf is a pod of a Deployment.
func podOf(t *testing.T, deployment *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	template, found, err := unstructured.NestedMap(deployment.Object, "spec", "template")
	require.NoError(t, err)
	require.True(t, found)
	pod := &unstructured.Unstructured{Object: template}
	pod.SetAPIVersion("v1")
	pod.SetKind("Pod")
	pod.SetName(deployment.GetName())
	pod.SetNamespace(deployment.GetNamespace())
	return pod
}
