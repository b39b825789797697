package controlplane_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	secretsutils "github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
)

const webhookServer = ccmName + "-webhooks"

// withWebhooks makes the component of the plan serve a mutating and a validating webhook of the shoot.
func withWebhooks(plan *controlplane.Plan, _ *controlplane.Shoot) {
	plan.Certificates = append(plan.Certificates, controlplane.Certificate{Name: webhookServer, Service: webhookServer})
	plan.Components[0].Webhooks = &component.WebhookServer{Service: webhookServer, Port: "metrics"}
	plan.Components[0].Containers[0].Files = append(plan.Components[0].Containers[0].Files, component.Files{Source: webhookServer, Path: "/var/lib/webhooks"})
	path := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: new(path)}
	}
	plan.ShootWebhooks = []controlplane.ShootWebhooks{{
		Name: "example", Component: ccmName,
		Mutating:   []admissionregistrationv1.MutatingWebhook{{Name: "mutate.example.org", ClientConfig: path("/mutate")}},
		Validating: []admissionregistrationv1.ValidatingWebhook{{Name: "validate.example.org", ClientConfig: path("/validate?all")}},
	}}
}

// webhooksInShoot returns the URLs of the webhooks in the shoot, and asserts that they have the CA bundle.
func webhooksInShoot(t *testing.T, h *controlplanetest.Harness) []string {
	t.Helper()
	var urls []string
	check := func(config admissionregistrationv1.WebhookClientConfig) {
		urls = append(urls, *config.URL)
		assert.Equal(t, caBundle(t, h), config.CABundle)
	}
	if object := h.Manager.Shoot().Get("MutatingWebhookConfiguration", "example"); object != nil {
		var config admissionregistrationv1.MutatingWebhookConfiguration
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &config))
		check(config.Webhooks[0].ClientConfig)
	}
	if object := h.Manager.Shoot().Get("ValidatingWebhookConfiguration", "example"); object != nil {
		var config admissionregistrationv1.ValidatingWebhookConfiguration
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &config))
		check(config.Webhooks[0].ClientConfig)
	}
	return urls
}

// caBundle returns the bundle of the control plane's CAs.
func caBundle(t *testing.T, h *controlplanetest.Harness) []byte {
	t.Helper()
	bundles := &corev1.SecretList{}
	require.NoError(t, h.Client.List(t.Context(), bundles, client.InNamespace(h.Namespace),
		client.MatchingLabels{secretsmanager.LabelKeyBundleFor: "ca-provider-example-controlplane"}))
	require.Len(t, bundles.Items, 1)
	require.NotEmpty(t, bundles.Items[0].Data[secretsutils.DataKeyCertificateBundle])
	return bundles.Items[0].Data[secretsutils.DataKeyCertificateBundle]
}

func TestReconcile_ShootWebhooks(t *testing.T) {
	d := &driver{change: withWebhooks}
	h := newHarness(t, d).Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	address := "https://" + webhookServer + "." + h.Namespace + ":443"
	assert.Equal(t, []string{address + "/mutate", address + "/validate?all"}, webhooksInShoot(t, h))
	writes := h.Writes()
	server := slices.Index(writes, "POST /managedresources/"+controlplanetest.Seed)
	registered := slices.Index(writes, "POST /managedresources/extension-controlplane-shoot-webhooks")
	assert.Less(t, server, registered, "the server comes first: %q", writes)

	d.change = nil
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	assert.Empty(t, webhooksInShoot(t, h), "they are removed once the plan does not have them")

	d.change = withWebhooks
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	assert.Len(t, webhooksInShoot(t, h), 2)
	h.Delete()
	assert.Empty(t, h.Leftovers())
}

// A webhook without a server is an error of the driver.
func TestReconcile_ShootWebhooksWithoutServer(t *testing.T) {
	h := newHarness(t, &driver{change: func(plan *controlplane.Plan, shoot *controlplane.Shoot) {
		withWebhooks(plan, shoot)
		plan.Components[0].Webhooks = nil
	}}).Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	object := h.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		return errorUnless(o.Status.LastError != nil, "there is no error")
	})
	assert.Contains(t, object.Status.LastError.Description, `webhooks "example": no component "cloud-controller-manager" serves webhooks`)
}

// Upstream's extension has such webhooks among the components in the shoot. gardener-resource-manager deletes objects that are left out of a ManagedResource, also
// when another one has them meanwhile: they are only added when the components are applied.
func TestReconcile_ShootWebhooksAmongUpstreamComponents(t *testing.T) {
	d := &driver{change: withWebhooks}
	config := map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": map[string]any{"name": "example"},
	}
	h := newHarness(t, d, func(subject *controlplanetest.Subject) {
		subject.Inputs.Upstream = func(namespace string) []client.Object {
			return upstreamManagedResource(t, namespace, controlplanetest.ShootObjects, []any{config})
		}
	})
	h.Manager.Shoot().ClearHistory()
	h.Manager.SetHibernated(true) // nothing is applied in the shoot
	h.Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	waiting := h.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		if o.Status.LastOperation == nil {
			return errors.New("it has not begun")
		}
		description := o.Status.LastOperation.Description
		return errorUnless(strings.Contains(description, "deploying components in the shoot") && !strings.Contains(description, "in the seed"), description)
	})
	assert.NotContains(t, waiting.Status.LastOperation.Description, "webhooks")
	h.Manager.SetHibernated(false)
	require.NoError(t, h.Manager.ReconcileAll(t.Context()))
	h.Succeeded()
	assert.Len(t, webhooksInShoot(t, h), 2)
	history := h.Manager.Shoot().History()
	deleted, created := "deleted MutatingWebhookConfiguration example", "created MutatingWebhookConfiguration example"
	require.Subset(t, history, []string{deleted, created})
	assert.Less(t, slices.Index(history, deleted), slices.Index(history, created))
}
