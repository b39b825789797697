package controlplane_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
	"github.com/trellis-garden/trellis/internal/controlplane/example"
)

const shootWebhooks = "extension-controlplane-shoot-webhooks"

// ownServer is the webhook server of a process with an authority that can change.
type ownServer struct {
	mutex    sync.Mutex
	caBundle string
	address  string
}

// serve makes the process of a subject serve webhooks of shoots. The address is of one test, since all tests share an API server.
func (s *ownServer) serve(d *driver, images controlplane.Images) func(*controlplanetest.Subject) {
	return func(subject *controlplanetest.Subject) {
		subject.Program = func(mgr manager.Manager, options contract.Options) error {
			server := &controlplane.WebhookServer{Address: s.address, CABundle: func(context.Context) ([]byte, error) {
				s.mutex.Lock()
				defer s.mutex.Unlock()
				return []byte(s.caBundle), nil
			}}
			return controlplane.AddWithWebhookServer(mgr, map[string]controlplane.Driver{example.Type: d}, images, server, options)
		}
	}
}

// withOwnWebhooks adds a webhook that the controller serves to those that a component serves.
func withOwnWebhooks(plan *controlplane.Plan, shoot *controlplane.Shoot) {
	withWebhooks(plan, shoot)
	plan.ShootWebhooks = append(plan.ShootWebhooks, controlplane.ShootWebhooks{
		Name: "own",
		Mutating: []admissionregistrationv1.MutatingWebhook{{
			Name: "own.example.org", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("/own")},
		}},
	})
}

// ownWebhook returns URL and CA bundle of the webhook in the shoot that the controller serves.
func ownWebhook(t *testing.T, h *controlplanetest.Harness) (url, caBundle string) {
	t.Helper()
	object := h.Manager.Shoot().Get("MutatingWebhookConfiguration", "own")
	if object == nil {
		return "", ""
	}
	var config admissionregistrationv1.MutatingWebhookConfiguration
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &config))
	return *config.Webhooks[0].ClientConfig.URL, string(config.Webhooks[0].ClientConfig.CABundle)
}

func TestReconcile_OwnShootWebhooks(t *testing.T) {
	d, server := &driver{change: withOwnWebhooks}, &ownServer{caBundle: "first", address: "https://own-reconcile.extension:8443"}
	h := newHarness(t, d, server.serve(d, exampleImages(t))).Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	url, bundle := ownWebhook(t, h)
	assert.Equal(t, server.address+"/own", url)
	assert.Equal(t, "first", bundle)
	assert.Len(t, webhooksInShoot(t, h), 2, "those of a component have the control plane's CA")

	d.change = withWebhooks
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	url, _ = ownWebhook(t, h)
	assert.Empty(t, url, "it is removed once the plan does not have it")
	assert.Len(t, webhooksInShoot(t, h), 2)
	for annotation := range webhookResource(t, h).Annotations {
		assert.NotContains(t, annotation, "controlplane.trellis.garden/webhook-", "no renewal concerns it any more")
	}

	d.change = withOwnWebhooks
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	h.Delete()
	assert.Empty(t, h.Leftovers())
	url, _ = ownWebhook(t, h)
	assert.Empty(t, url)
}

func TestReconcile_OwnShootWebhooksDisabled(t *testing.T) {
	d := &driver{change: withOwnWebhooks}
	h := newHarness(t, d).Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	object := h.Succeeded()
	url, _ := ownWebhook(t, h)
	assert.Empty(t, url)
	assert.Len(t, webhooksInShoot(t, h), 2)
	assert.Contains(t, object.Status.LastOperation.Description, "a webhook for objects of the shoot is left out")
}

func TestMigrate_OwnShootWebhooks(t *testing.T) {
	d, server := &driver{change: withOwnWebhooks}, &ownServer{caBundle: "first", address: "https://own-migrate.extension:8443"}
	h := newHarness(t, d, server.serve(d, exampleImages(t))).Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	h.RequestOperation(v1beta1constants.GardenerOperationMigrate)
	h.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		last := o.Status.LastOperation
		return errorUnless(last != nil && last.Type == "Migrate" && last.State == "Succeeded", "it is not migrated")
	})
	url, _ := ownWebhook(t, h)
	assert.Empty(t, url, "the server in the other seed has another address")
	assert.NoError(t, h.Client.DeleteAllOf(t.Context(), &extensionsv1alpha1.ControlPlane{}, client.InNamespace(h.Namespace)))
}

func webhookResource(t *testing.T, h *controlplanetest.Harness) *resourcesv1alpha1.ManagedResource {
	t.Helper()
	resource := &resourcesv1alpha1.ManagedResource{}
	require.NoError(t, h.Client.Get(t.Context(), client.ObjectKey{Namespace: h.Namespace, Name: shootWebhooks}, resource))
	return resource
}

// deployOwn deploys a control plane with a webhook that the controller serves, and stops the controller.
func deployOwn(t *testing.T, address string) *controlplanetest.Harness {
	t.Helper()
	d, server := &driver{change: withOwnWebhooks}, &ownServer{caBundle: "first", address: address}
	h := newHarness(t, d, server.serve(d, exampleImages(t))).Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	h.Stop()
	return h
}

// registrationsOf returns those of a process with an address, and its logs.
func registrationsOf(h *controlplanetest.Harness, address string) (controlplane.ShootRegistrations, *strings.Builder) {
	logs := &strings.Builder{}
	log := funcr.New(func(_, args string) { logs.WriteString(args) }, funcr.Options{})
	return controlplane.ShootRegistrations{Client: h.Client, Address: address, Log: log}, logs
}

func bundles(texts ...string) [][]byte {
	var all [][]byte
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all
}

func TestShootRegistrations_Trust(t *testing.T) {
	const address = "https://own-trust.extension:8443"
	h := deployOwn(t, address)
	registrations, logs := registrationsOf(h, address)
	unchanged := webhookResource(t, h).ResourceVersion
	before, err := registrations.Trust(t.Context(), []byte("first"))
	require.NoError(t, err)
	assert.Equal(t, bundles("first"), before)
	assert.Equal(t, unchanged, webhookResource(t, h).ResourceVersion, "nothing is to be changed")

	secret := webhookResource(t, h).Spec.SecretRefs[0].Name
	before, err = registrations.Trust(t.Context(), []byte("second"))
	require.NoError(t, err)
	assert.Equal(t, bundles("first"), before)
	require.NoError(t, h.Manager.ReconcileAll(t.Context()))
	url, bundle := ownWebhook(t, h)
	assert.Equal(t, address+"/own", url)
	assert.Equal(t, "second", bundle)
	assert.Len(t, webhooksInShoot(t, h), 2, "those of a component keep the control plane's CA")
	require.Error(t, h.Client.Get(t.Context(), client.ObjectKey{Namespace: h.Namespace, Name: secret}, &corev1.Secret{}), "the content before is deleted")

	before, err = registrations.Trust(t.Context(), []byte("second"))
	require.NoError(t, err)
	assert.Equal(t, bundles("second"), before)
	assert.Empty(t, logs.String())
	h.Start()
	h.Delete()
	assert.Empty(t, h.Leftovers(), "what a renewal has written is the ControlPlane's")
}

// A renewal changes nothing but what the process has registered itself, and one shoot does not keep others from it.
func TestShootRegistrations_Trust_Others(t *testing.T) {
	for sentence, test := range map[string]struct {
		address string
		change  func(*testing.T, *controlplanetest.Harness)
		logged  string
	}{
		"of a process with another address": {
			"https://own-another.extension:8443", func(*testing.T, *controlplanetest.Harness) {}, "",
		},
		"of a ManagedResource that upstream's extension has filled since": {
			"https://own-upstream.extension:8443", func(t *testing.T, h *controlplanetest.Harness) {
				t.Helper()
				resource := webhookResource(t, h)
				secret := &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: "upstream"},
					Data:       map[string][]byte{"config": []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"kube-system","name":"upstream"}}`)},
				}
				require.NoError(t, h.Client.Create(t.Context(), secret))
				resource.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: secret.Name}}
				require.NoError(t, h.Client.Update(t.Context(), resource))
			}, "",
		},
		"of a ManagedResource whose content cannot be read": {
			"https://own-broken.extension:8443", func(t *testing.T, h *controlplanetest.Harness) {
				t.Helper()
				resource := webhookResource(t, h)
				resource.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "missing"}}
				require.NoError(t, h.Client.Update(t.Context(), resource))
			}, "Renewing the CA bundle of a shoot's webhooks failed",
		},
		"of a ManagedResource that is being deleted": {
			"https://own-deleted.extension:8443", func(t *testing.T, h *controlplanetest.Harness) {
				t.Helper()
				resource := webhookResource(t, h)
				resource.Finalizers = append(resource.Finalizers, "example.org/test")
				require.NoError(t, h.Client.Update(t.Context(), resource))
				require.NoError(t, h.Client.Delete(t.Context(), resource))
			}, "",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := deployOwn(t, test.address)
			test.change(t, h)
			unchanged := webhookResource(t, h).ResourceVersion
			address := test.address
			if strings.Contains(sentence, "another address") {
				address = "https://somewhere-else.extension:8443"
			}
			registrations, logs := registrationsOf(h, address)
			before, err := registrations.Trust(t.Context(), []byte("second"))
			require.NoError(t, err)
			assert.Empty(t, before)
			assert.Equal(t, unchanged, webhookResource(t, h).ResourceVersion)
			assert.Contains(t, logs.String(), test.logged)
			if test.logged == "" {
				assert.Empty(t, logs.String())
			}
		})
	}
}

func TestShootRegistrations_Trust_TimedOut(t *testing.T) {
	const address = "https://own-timeout.extension:8443"
	h := deployOwn(t, address)
	registrations, _ := registrationsOf(h, address)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := registrations.Trust(ctx, []byte("second"))
	require.ErrorIs(t, err, context.Canceled, "the rest follows with the next call, so the renewal has to wait")
}
