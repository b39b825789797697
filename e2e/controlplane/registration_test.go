package controlplane

import (
	"encoding/json"
	"strings"
	"testing"

	druidcorev1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// testSameRegistration lets the controller register its webhooks in the seed without shoots, and Gardener's library register the same webhooks
// beside.
func testSameRegistration(t *testing.T, env *environment) {
	address, err := process.FreeAddress()
	require.NoError(t, err)
	host, port, _ := strings.Cut(address, ":")
	registrar, err := env.Destination.StartController(t.Context(), controller.ControlPlaneFor("openstack"), controller.Options{
		Path: env.binary, Args: []string{
			"--webhook-config-mode=url", "--webhook-config-url=" + address, "--webhook-config-namespace=" + controllerName,
			"--webhook-config-server-host=" + host, "--webhook-config-server-port=" + port,
		},
	})
	require.NoError(t, err)
	ours := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "gardener-extension-" + controllerName}}
	clusterstest.Eventually(t, "the webhooks are registered", func() bool { return clusterstest.Get(t, env.Destination.Client, ours) })
	require.NoError(t, registrar.Terminate(t.Context()))

	theirs := env.registerByLibrary(t, ours, address)
	require.NoError(t, env.Destination.Client.Delete(t.Context(), theirs))
	require.NoError(t, env.Destination.Client.Delete(t.Context(), ours))
	assert.Equal(t, theirs.Labels, ours.Labels)
	assert.Equal(t, theirs.OwnerReferences, ours.OwnerReferences)
	require.Len(t, ours.Webhooks, 4)
	for i := range ours.Webhooks {
		// Intended: an object is mutated in any version of its group, reviews have the version that is not deprecated, and all mutated kinds are
		// namespaced.
		theirs.Webhooks[i].MatchPolicy = new(admissionregistrationv1.Equivalent)
		theirs.Webhooks[i].AdmissionReviewVersions = []string{"v1"}
		theirs.Webhooks[i].Rules[0].Scope = new(admissionregistrationv1.NamespacedScope)
	}
	assert.Equal(t, theirs.Webhooks, ours.Webhooks)
}

// registerByLibrary registers the same webhooks under the name of another controller, and returns the stored configuration with the controller's
// name.
func (env *environment) registerByLibrary(
	t *testing.T, ours *admissionregistrationv1.MutatingWebhookConfiguration, address string,
) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	const other = "another-controller"
	objects := map[string]client.Object{
		"controlplane": &appsv1.Deployment{}, "operatingsystemconfig": &extensionsv1alpha1.OperatingSystemConfig{},
		"cloudprovider": &corev1.Secret{}, "etcd": &druidcorev1alpha1.Etcd{},
	}
	var webhooks []*extensionswebhook.Webhook
	for _, one := range ours.Webhooks {
		what, _, _ := strings.Cut(one.Name, ".")
		require.Contains(t, objects, what)
		webhooks = append(webhooks, &extensionswebhook.Webhook{
			Target: extensionswebhook.TargetSeed, Name: what + ".openstack", Path: what + "/openstack",
			Types:             []extensionswebhook.Type{{Obj: objects[what]}},
			NamespaceSelector: one.NamespaceSelector, ObjectSelector: one.ObjectSelector,
		})
	}
	c := env.Destination.Client
	configs, _, err := extensionswebhook.BuildWebhookConfigs(webhooks, c, controllerName, other, false, 443, extensionswebhook.ModeURL, address, nil, false)
	require.NoError(t, err)
	theirs := configs.MutatingWebhookConfig
	require.NoError(t, extensionswebhook.ReconcileSeedWebhookConfig(t.Context(), c, theirs, controllerName, ours.Webhooks[0].ClientConfig.CABundle))
	text, err := json.Marshal(theirs.Webhooks)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(string(text), other, controllerName)), &theirs.Webhooks))
	return theirs
}
