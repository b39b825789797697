package main

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/trellis-garden/trellis/internal/manager"
	"github.com/trellis-garden/trellis/internal/manager/webhook"
)

// newProcess returns a process that serves all rooms. It is never started, so it needs no cluster.
func newProcess(t *testing.T) *manager.Process {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, addToScheme(scheme))
	mgr, err := ctrlmanager.New(&rest.Config{Host: "http://127.0.0.1:1"}, ctrlmanager.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
	})
	require.NoError(t, err)
	return &manager.Process{
		Name: "admission", Manager: mgr, Registerer: prometheus.NewRegistry(), Garden: mgr.GetClient(), Types: types(),
		Webhooks: manager.WebhookOptions{
			Compiled: webhookNames(), Mode: manager.WebhookModeURLService, SeparateGarden: true, Namespace: "admission", OwnerNamespace: "garden",
		},
	}
}

func TestServeWebhooks(t *testing.T) {
	for sentence, defaults := range map[string]*defaults{"with all defaults": newDefaults(), "with none": {}} {
		t.Run(sentence, func(t *testing.T) { assert.NoError(t, serveWebhooks(newProcess(t), defaults)) })
	}
}

func TestWebhooksOf_EveryType(t *testing.T) {
	for _, provider := range types() {
		declared := webhooksOf(provider, nil, nil, newDefaults())
		assert.NotEmpty(t, declared, provider)
		for _, w := range declared {
			assert.True(t, strings.HasSuffix(w.Name, "."+provider), "%s: --disable-webhooks shall say what is meant", w.Name)
		}
	}
}

func TestAsServed(t *testing.T) {
	served := map[string]webhook.Webhook{}
	for _, provider := range types() {
		for _, w := range webhooksOf(provider, nil, nil, newDefaults()) {
			served[w.Name] = asServed(w)
		}
	}
	for name, want := range map[string]webhook.Webhook{
		"shoot.openstack": {
			Path: "/shoot/openstack", Kind: webhook.Validating, Garden: true, FailurePolicy: admissionregistrationv1.Fail,
		},
		"shootdefaults.aws": {
			Path: "/shootdefaults/aws", Kind: webhook.Mutating, Garden: true, FailurePolicy: admissionregistrationv1.Fail, Reinvoked: true,
		},
		"shootdefaults.calico": {
			Path: "/shootdefaults/calico", Kind: webhook.Mutating, Garden: true, FailurePolicy: admissionregistrationv1.Fail,
		},
		"controllerregistration.registrations": {
			Path: "/controllerregistration/registrations", Kind: webhook.Validating, Garden: true,
			FailurePolicy: admissionregistrationv1.Ignore,
		},
		"extension.registrations": {
			Path: "/extension/registrations", Kind: webhook.Validating, Garden: false, FailurePolicy: admissionregistrationv1.Ignore,
		},
	} {
		got := served[name]
		assert.Equal(t, want.Path, got.Path, name)
		assert.Equal(t, want.Kind, got.Kind, name)
		assert.Equal(t, want.Garden, got.Garden, name)
		assert.Equal(t, want.FailurePolicy, got.FailurePolicy, name)
		assert.Equal(t, want.Reinvoked, got.Reinvoked, name)
	}
}

func TestDefaultFlags(t *testing.T) {
	set := func(d *defaults, name, text string) error {
		for _, flag := range d.flags().Flags {
			if flag.Name == name {
				return flag.Set(text)
			}
		}
		t.Fatalf("there is no flag %s", name)
		return nil
	}
	t.Run("say what goes when nothing is said", func(t *testing.T) {
		d := newDefaults()
		assert.Equal(t, []string{"openstack", "aws"}, d.calico.OverlayOff)
		assert.Equal(t, []string{"openstack"}, d.calico.PodRoutes)
		assert.True(t, d.openstack.NodeLocalDNSWithoutTCP)
		assert.True(t, d.aws.NodeLocalDNSWithoutTCP)
	})
	t.Run("take what is said", func(t *testing.T) {
		d := newDefaults()
		require.NoError(t, set(d, "default-overlay-off", "openstack, azure"))
		require.NoError(t, set(d, "default-pod-routes", ""))
		require.NoError(t, set(d, "default-node-local-dns-without-tcp", "false"))
		assert.Equal(t, []string{"openstack", "azure"}, d.calico.OverlayOff)
		assert.Empty(t, d.calico.PodRoutes)
		assert.False(t, d.openstack.NodeLocalDNSWithoutTCP)
		assert.False(t, d.aws.NodeLocalDNSWithoutTCP)
	})
	t.Run("refuse what makes no sense", func(t *testing.T) {
		d := newDefaults()
		assert.EqualError(t, set(d, "default-overlay-off", "openstack,"), "has an empty element")
		assert.EqualError(t, set(d, "default-overlay-off", "aws,aws"), `has "aws" twice`)
		assert.EqualError(t, set(d, "default-node-local-dns-without-tcp", "perhaps"), "must be true or false")
		assert.Equal(t, []string{"openstack", "aws"}, d.calico.OverlayOff)
	})
}
