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

// cluster is one of two, and may be away.
type cluster struct {
	client.Client
	away bool
}

func newCluster(owner string) *cluster {
	c := &cluster{}
	c.Client = fake.NewClientBuilder().WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: owner}}).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, under client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
				if c.away {
					return errors.New("nobody answers")
				}
				return under.Get(ctx, key, into, options...)
			},
		}).Build()
	return c
}

// webhooks returns the names in the configuration of the binary x: an asterisk for one that mutates.
func (c *cluster) webhooks(t *testing.T) []string {
	t.Helper()
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	key := client.ObjectKey{Name: configurationName("x")}
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

// managerOf is a manager that has nothing but a client.
type managerOf struct {
	ctrlmanager.Manager
	client client.Client
}

func (m managerOf) GetClient() client.Client { return m.client }

func gardenWebhooks(t *testing.T) []Webhook {
	t.Helper()
	tune, guard := configMapWebhook("tune", allow), guardWebhook()
	tune.Garden = true
	completed, err := complete([]Webhook{tune, guard}, []string{"tune", "guard"})
	require.NoError(t, err)
	return completed
}

// newTwo returns the keeper of a process that serves two clusters.
func newTwo(t *testing.T, webhooks []Webhook) (k *keeper, own, garden *cluster) {
	t.Helper()
	options := optionsOf(manager.WebhookModeURLService)
	options.GardenApart, options.OwnerNamespace = true, "garden"
	own, garden = newCluster(options.Namespace), newCluster("garden")
	process := &manager.Process{Name: "x", Manager: managerOf{client: own}, Garden: garden, Webhooks: options}
	k = newKeeper(t, nil, nil)
	k.client, k.registrars = own, newRegistrars(process, webhooks, logr.Discard())
	return k, own, garden
}

func TestEachClusterKnowsOfItsOwnWebhooks(t *testing.T) {
	k, own, garden := newTwo(t, gardenWebhooks(t))
	require.NoError(t, k.keep(t.Context()))
	assert.Equal(t, []string{"guard.x.extensions.gardener.cloud"}, own.webhooks(t))
	assert.Equal(t, []string{"tune.x.extensions.gardener.cloud*"}, garden.webhooks(t))

	key := client.ObjectKey{Name: configurationName("x")}
	atHome, away := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	require.NoError(t, own.Get(t.Context(), key, atHome))
	require.NoError(t, garden.Get(t.Context(), key, away))
	assert.Equal(t, "extension-controlplane", atHome.OwnerReferences[0].Name)
	assert.Equal(t, "garden", away.OwnerReferences[0].Name)
	assert.NotNil(t, atHome.Webhooks[0].ClientConfig.Service)
	assert.Equal(t, "https://gardener-extension-x.extension-controlplane:443/tune", *away.Webhooks[0].ClientConfig.URL)
	assert.Equal(t, atHome.Webhooks[0].ClientConfig.CABundle, away.Webhooks[0].ClientConfig.CABundle)
}

func TestOneClusterForBothHasOneRegistration(t *testing.T) {
	c := newCluster("garden")
	process := &manager.Process{Name: "x", Manager: managerOf{client: c}, Garden: c, Webhooks: optionsOf(manager.WebhookModeService)}
	process.Webhooks.OwnerNamespace = "garden"
	k := newKeeper(t, nil, nil)
	k.client, k.registrars = c, newRegistrars(process, gardenWebhooks(t), logr.Discard())
	require.NoError(t, k.keep(t.Context()))
	assert.Equal(t, []string{"tune.x.extensions.gardener.cloud*", "guard.x.extensions.gardener.cloud"}, c.webhooks(t))
}

func TestAClusterThatIsAwayKeepsNoOtherFromItsWebhooks(t *testing.T) {
	for sentence, test := range map[string]struct {
		gardenAway bool
		message    string
	}{
		"the garden":          {gardenAway: true, message: `in the garden: reading namespace "garden" that owns the webhooks: nobody answers`},
		"the runtime cluster": {message: `in the runtime cluster: reading namespace "extension-controlplane" that owns the webhooks: nobody answers`},
	} {
		t.Run(sentence, func(t *testing.T) {
			k, own, garden := newTwo(t, gardenWebhooks(t))
			// Certificates are in the runtime cluster; so as to have only its registrations fail, the keeper sees it by another client.
			k.client = own.Client
			away, there := own, garden
			if test.gardenAway {
				away, there = garden, own
			} else {
				k.client = newCluster("extension-controlplane")
			}
			away.away = true
			require.EqualError(t, k.keep(t.Context()), test.message)
			assert.Len(t, there.webhooks(t), 1)

			away.away = false
			require.NoError(t, k.keep(t.Context()))
			assert.Len(t, away.webhooks(t), 1)
		})
	}
}

func TestAnAuthorityIsTrustedWhenAllClustersKnowIt(t *testing.T) {
	k, _, garden := newTwo(t, gardenWebhooks(t))
	garden.away = true
	require.Error(t, k.keep(t.Context()))
	require.Error(t, k.keep(t.Context()))
	assert.Empty(t, k.trust, "one cluster has it, of the other nobody knows")

	garden.away = false
	require.NoError(t, k.keep(t.Context()))
	assert.Empty(t, k.trust, "it has just been told to the second")
	require.NoError(t, k.keep(t.Context()))
	assert.Len(t, k.trust, 1)

	garden.away = true
	require.Error(t, k.keep(t.Context()))
	assert.Empty(t, k.trust, "while a cluster is away, somebody may change what it knows")
}

func TestEverythingIsTakenBackInBothClusters(t *testing.T) {
	k, own, garden := newTwo(t, gardenWebhooks(t))
	require.NoError(t, k.keep(t.Context()))
	for _, r := range k.registrars {
		r.webhooks = nil
	}
	secrets := func() int {
		list := &corev1.SecretList{}
		require.NoError(t, own.List(t.Context(), list))
		return len(list.Items)
	}
	garden.away = true
	require.ErrorContains(t, k.keep(t.Context()), "in the garden: ")
	assert.Empty(t, own.webhooks(t))
	assert.NotZero(t, secrets(), "the garden still asks")

	garden.away = false
	require.NoError(t, k.keep(t.Context()))
	assert.Empty(t, garden.webhooks(t))
	assert.Zero(t, secrets())
}

func TestAClusterWithoutWebhooksNeedsNoOwner(t *testing.T) {
	k, own, garden := newTwo(t, gardenWebhooks(t)[:1])
	require.NoError(t, own.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "extension-controlplane"}}))
	require.NoError(t, k.keep(t.Context()))
	assert.Empty(t, own.webhooks(t))
	assert.Len(t, garden.webhooks(t), 1)
}

func TestClustersDoNotWaitForEachOther(t *testing.T) {
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
		case <-time.After(patience):
			return errors.New("was waited for")
		}
	})
	assert.EqualError(t, err, "in the garden: hangs")
}

func TestWebhooksForTheGardenNeedABinaryForIt(t *testing.T) {
	p := &manager.Process{Webhooks: manager.WebhookOptions{Compiled: []string{"tune", "guard"}}}
	assert.EqualError(t, Serve(p, gardenWebhooks(t)...), `serving webhooks: webhook "tune" is for the garden, the binary is not`)
}
