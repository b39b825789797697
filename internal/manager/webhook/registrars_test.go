package webhook

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/manager"
)

// fakeCluster is one of two, and may be away.
type fakeCluster struct {
	client.Client
	unreachable bool
}

func newFakeCluster(owner string) *fakeCluster {
	c := &fakeCluster{}
	c.Client = fake.NewClientBuilder().WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: owner}}).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, under client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
				if c.unreachable {
					return errors.New("nobody answers")
				}
				return under.Get(ctx, key, into, options...)
			},
		}).Build()
	return c
}

// webhooks returns the names in the configuration of the binary x: an asterisk for one that mutates.
func (c *fakeCluster) webhooks(t *testing.T) []string {
	t.Helper()
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	key := client.ObjectKey{Name: "x-installation"}
	require.NoError(t, client.IgnoreNotFound(c.Get(t.Context(), key, mutating)))
	require.NoError(t, client.IgnoreNotFound(c.Get(t.Context(), key, validating)))
	var names []string
	for _, w := range mutating.Webhooks {
		names = append(names, w.Name+"*")
	}
	for _, w := range validating.Webhooks {
		names = append(names, w.Name)
	}
	return names
}

// fakeManager is a manager that has nothing but a client.
type fakeManager struct {
	ctrlmanager.Manager
	client client.Client
}

func (m fakeManager) GetClient() client.Client { return m.client }

func gardenWebhooks(t *testing.T) []Webhook {
	t.Helper()
	tune, guard := configMapWebhook("tune", allow), guardWebhook()
	tune.Garden = true
	completed, err := complete([]Webhook{tune, guard}, []string{"tune", "guard"})
	require.NoError(t, err)
	return completed
}

// newTwoClusterRotator returns the keeper of a process that serves two clusters.
func newTwoClusterRotator(t *testing.T, webhooks []Webhook) (k *certRotator, own, garden *fakeCluster) {
	t.Helper()
	options := optionsOf(manager.WebhookModeURLService)
	options.SeparateGarden, options.OwnerNamespace = true, "garden"
	own, garden = newFakeCluster(options.Namespace), newFakeCluster("garden")
	process := &manager.Process{Name: "x", Manager: fakeManager{client: own}, Garden: garden, Webhooks: options}
	k = newCertRotator(t, nil, nil)
	k.client, k.registrars = own, newRegistrars(process, webhooks, logr.Discard())
	return k, own, garden
}

func TestRegistrars_WebhooksPerCluster(t *testing.T) {
	k, own, garden := newTwoClusterRotator(t, gardenWebhooks(t))
	require.NoError(t, k.reconcile(t.Context()))
	assert.Equal(t, []string{"guard.x.extensions.gardener.cloud"}, own.webhooks(t))
	assert.Equal(t, []string{"tune.x.extensions.gardener.cloud*"}, garden.webhooks(t))

	key := client.ObjectKey{Name: "x-installation"}
	runtimeConfiguration, gardenConfiguration := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	require.NoError(t, own.Get(t.Context(), key, runtimeConfiguration))
	require.NoError(t, garden.Get(t.Context(), key, gardenConfiguration))
	assert.Equal(t, "extension-controlplane", runtimeConfiguration.OwnerReferences[0].Name)
	assert.Equal(t, "garden", gardenConfiguration.OwnerReferences[0].Name)
	assert.NotNil(t, runtimeConfiguration.Webhooks[0].ClientConfig.Service)
	assert.Equal(t, "https://x-installation.extension-controlplane:443/tune", *gardenConfiguration.Webhooks[0].ClientConfig.URL)
	assert.Equal(t, runtimeConfiguration.Webhooks[0].ClientConfig.CABundle, gardenConfiguration.Webhooks[0].ClientConfig.CABundle)
}

func TestRegistrars_OneCluster(t *testing.T) {
	c := newFakeCluster("garden")
	process := &manager.Process{Name: "x", Manager: fakeManager{client: c}, Garden: c, Webhooks: optionsOf(manager.WebhookModeService)}
	process.Webhooks.OwnerNamespace = "garden"
	k := newCertRotator(t, nil, nil)
	k.client, k.registrars = c, newRegistrars(process, gardenWebhooks(t), logr.Discard())
	require.NoError(t, k.reconcile(t.Context()))
	assert.Equal(t, []string{"tune.x.extensions.gardener.cloud*", "guard.x.extensions.gardener.cloud"}, c.webhooks(t))
}

func TestRegistrars_ClusterUnreachable(t *testing.T) {
	for sentence, test := range map[string]struct {
		gardenAway bool
		message    string
	}{
		"the garden":          {gardenAway: true, message: `in the garden: reading namespace "garden" that owns the webhooks: nobody answers`},
		"the runtime cluster": {message: `in the runtime cluster: reading namespace "extension-controlplane" that owns the webhooks: nobody answers`},
	} {
		t.Run(sentence, func(t *testing.T) {
			k, own, garden := newTwoClusterRotator(t, gardenWebhooks(t))
			// Certificates are in the runtime cluster; so as to have only its registrations fail, the keeper sees it by another client.
			k.client = own.Client
			failing, healthy := own, garden
			if test.gardenAway {
				failing, healthy = garden, own
			} else {
				k.client = newFakeCluster("extension-controlplane")
			}
			failing.unreachable = true
			require.EqualError(t, k.reconcile(t.Context()), test.message)
			assert.Len(t, healthy.webhooks(t), 1)

			failing.unreachable = false
			require.NoError(t, k.reconcile(t.Context()))
			assert.Len(t, failing.webhooks(t), 1)
		})
	}
}

func TestRegistrars_TrustedByAllClusters(t *testing.T) {
	k, _, garden := newTwoClusterRotator(t, gardenWebhooks(t))
	garden.unreachable = true
	require.Error(t, k.reconcile(t.Context()))
	require.Error(t, k.reconcile(t.Context()))
	assert.Empty(t, k.trust, "one cluster has it, of the other nobody knows")

	garden.unreachable = false
	require.NoError(t, k.reconcile(t.Context()))
	assert.Empty(t, k.trust, "it has just been told to the second")
	require.NoError(t, k.reconcile(t.Context()))
	assert.Len(t, k.trust, 1)

	garden.unreachable = true
	require.Error(t, k.reconcile(t.Context()))
	assert.Empty(t, k.trust, "while a cluster is away, somebody may change what it knows")
}

func TestRegistrars_Unregister(t *testing.T) {
	k, own, garden := newTwoClusterRotator(t, gardenWebhooks(t))
	require.NoError(t, k.reconcile(t.Context()))
	for _, r := range k.registrars {
		r.webhooks = nil
	}
	secrets := func() int {
		list := &corev1.SecretList{}
		require.NoError(t, own.List(t.Context(), list))
		return len(list.Items)
	}
	garden.unreachable = true
	require.ErrorContains(t, k.reconcile(t.Context()), "in the garden: ")
	assert.Empty(t, own.webhooks(t))
	assert.NotZero(t, secrets(), "the garden still asks")

	garden.unreachable = false
	require.NoError(t, k.reconcile(t.Context()))
	assert.Empty(t, garden.webhooks(t))
	assert.Zero(t, secrets())
}

func TestRegistrars_NoOwnerWithoutWebhooks(t *testing.T) {
	k, own, garden := newTwoClusterRotator(t, gardenWebhooks(t)[:1])
	require.NoError(t, own.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "extension-controlplane"}}))
	require.NoError(t, k.reconcile(t.Context()))
	assert.Empty(t, own.webhooks(t))
	assert.Len(t, garden.webhooks(t), 1)
}

func TestRegistrars_EachInParallel(t *testing.T) {
	both := registrars{{cluster: "garden"}, {cluster: "runtime cluster"}}
	registered := make(chan struct{})
	err := both.each(func(i int, _ *registrar) error {
		if i == 1 {
			close(registered)
			return nil
		}
		select {
		case <-registered:
			return errors.New("hangs")
		case <-time.After(timeout):
			return errors.New("was waited for")
		}
	})
	assert.EqualError(t, err, "in the garden: hangs")
}

func TestServe_GardenWebhookWithoutGarden(t *testing.T) {
	p := &manager.Process{Webhooks: manager.WebhookOptions{Compiled: []string{"tune", "guard"}}}
	assert.EqualError(t, Serve(p, gardenWebhooks(t)...), `serving webhooks: webhook "tune" is for the garden, the binary is not`)
}
