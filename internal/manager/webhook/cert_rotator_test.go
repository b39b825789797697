package webhook

import (
	"errors"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/internal/manager"
)

// newCertRotator returns a keeper of a process that serves, or does not, in a cluster with some objects.
func newCertRotator(t *testing.T, serving error, webhooks []Webhook, objects ...client.Object) *certRotator {
	t.Helper()
	c := fake.NewClientBuilder().WithObjects(objects...).Build()
	completed, err := complete(webhooks, []string{"tune"})
	require.NoError(t, err)
	a := addressOf(optionsOf(manager.WebhookModeService))
	return &certRotator{
		client: c,
		registrars: registrars{{
			client: c, name: "x-installation", binary: "x", webhooks: completed, address: a, ownerNamespace: a.namespace, log: logr.Discard(),
		}},
		certificate: newCertificate(logr.Discard()), names: secretNamesOf("x", a.namespace),
		serving: func() error { return serving },
		timing:  defaultTiming(), trust: trustedSince{}, log: logr.Discard(),
	}
}

func ownNamespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: optionsOf("").Namespace}}
}

func (k *certRotator) registered(t *testing.T) bool {
	t.Helper()
	err := k.client.Get(t.Context(), client.ObjectKey{Name: "x-installation"}, &admissionregistrationv1.MutatingWebhookConfiguration{})
	require.NoError(t, client.IgnoreNotFound(err))
	return !apierrors.IsNotFound(err)
}

func TestCertRotator_RegistersOnlyWhenServing(t *testing.T) {
	webhooks := []Webhook{configMapWebhook("tune", allow)}
	k := newCertRotator(t, errors.New("not listening"), webhooks, ownNamespace())
	require.ErrorIs(t, k.reconcile(t.Context()), errNotServing)
	assert.False(t, k.registered(t))
	require.NoError(t, k.certificate.check(), "it could serve now")

	k.serving = func() error { return nil }
	require.NoError(t, k.reconcile(t.Context()))
	assert.True(t, k.registered(t))
}

func TestCertRotator_OwnerMissing(t *testing.T) {
	k := newCertRotator(t, nil, []Webhook{configMapWebhook("tune", allow)})
	require.ErrorContains(t, k.reconcile(t.Context()), `reading namespace "extension-controlplane" that owns the webhooks`)
	assert.False(t, k.registered(t))
}

func TestCertRotator_CleanUpWithoutNamespace(t *testing.T) {
	other := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "y-installation"}}
	own := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "x-installation"}}
	k := newCertRotator(t, nil, nil, other, own)
	k.names.namespace = ""
	require.NoError(t, k.reconcile(t.Context()))
	assert.False(t, k.registered(t))
	assert.NoError(t, k.client.Get(t.Context(), client.ObjectKeyFromObject(other), other))
}

func TestNeedLeaderElection(t *testing.T) {
	assert.True(t, (&certRotator{}).NeedLeaderElection(), "two that renew would disturb each other")
	assert.False(t, (&reloader{}).NeedLeaderElection(), "every replica serves")
	assert.False(t, newServer("", 0, nil).NeedLeaderElection(), "every replica serves")
}
