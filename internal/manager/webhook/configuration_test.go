package webhook

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/golden"
	"github.com/trellis-garden/trellis/internal/manager"
)

func optionsOf(mode string) manager.WebhookOptions {
	options := manager.WebhookOptions{
		Compiled:    []string{"tune", "guard"},
		Mode:        mode,
		ConfigName:  "x-installation",
		ServicePort: 443,
		Namespace:   "extension-controlplane",
	}
	if mode == manager.WebhookModeURL {
		options.URL = "webhooks.example.org:9443"
	}
	return options
}

func TestConfigurations(t *testing.T) {
	guard := configMapWebhook("guard", allow)
	guard.Kind = Validating
	webhooks, err := complete([]Webhook{configMapWebhook("tune", allow), guard}, []string{"tune", "guard"})
	require.NoError(t, err)
	for _, mode := range []string{manager.WebhookModeService, manager.WebhookModeURL, manager.WebhookModeURLService} {
		t.Run(mode, func(t *testing.T) {
			var got []byte
			for _, c := range configurations("gardener-extension-controlplane", "controlplane-controller", webhooks, addressOf(optionsOf(mode))) {
				setDesired(c, metav1.OwnerReference{APIVersion: "v1", Kind: "Namespace", Name: "extension-controlplane"}, []byte("the authorities"))
				page, err := yaml.Marshal(c.object())
				require.NoError(t, err)
				got = append(append(got, "---\n"...), page...)
			}
			golden.Check(t, filepath.Join("testdata", mode+".yaml"), string(got))
		})
	}
}

func TestConfigurations_OneKind(t *testing.T) {
	webhooks, err := complete([]Webhook{configMapWebhook("tune", allow)}, []string{"tune"})
	require.NoError(t, err)
	both := configurations("x-installation", "x", webhooks, address{})
	require.Len(t, both, 2)
	assert.True(t, both[0].wanted())
	assert.False(t, both[1].wanted(), "a configuration without webhooks is none")
}

func TestConfigurations_Reinvoked(t *testing.T) {
	again := configMapWebhook("again", allow)
	again.Reinvoked = true
	webhooks, err := complete([]Webhook{configMapWebhook("tune", allow), again}, []string{"tune", "again"})
	require.NoError(t, err)
	var policies []admissionregistrationv1.ReinvocationPolicyType
	for _, w := range webhooks {
		policies = append(policies, *w.registration("x", address{}).ReinvocationPolicy)
	}
	assert.Equal(t, []admissionregistrationv1.ReinvocationPolicyType{
		admissionregistrationv1.NeverReinvocationPolicy, admissionregistrationv1.IfNeededReinvocationPolicy,
	}, policies)
}

func TestAddress(t *testing.T) {
	service := []string{
		"x-installation", "x-installation.extension-controlplane", "x-installation.extension-controlplane.svc",
	}
	tests := map[string]struct {
		mode, url string
		host      string
		dns       []string
		ips       []net.IP
	}{
		"a service is called by its name": {
			mode: manager.WebhookModeService, host: "x-installation.extension-controlplane.svc", dns: service,
		},
		"a service is called by its name in a URL": {
			mode: manager.WebhookModeURLService, host: "x-installation.extension-controlplane", dns: service,
		},
		"a host is called by its name": {
			mode: manager.WebhookModeURL, url: "example.org", host: "example.org", dns: []string{"example.org"},
		},
		"a port is no part of the name": {
			mode: manager.WebhookModeURL, url: "example.org:9443", host: "example.org", dns: []string{"example.org"},
		},
		"an address is no name": {
			mode: manager.WebhookModeURL, url: "10.1.2.3:9443", host: "10.1.2.3", ips: []net.IP{net.ParseIP("10.1.2.3")},
		},
		"an address of IPv6 loses its brackets": {
			mode: manager.WebhookModeURL, url: "[2001:db8::1]:9443", host: "2001:db8::1", ips: []net.IP{net.ParseIP("2001:db8::1")},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			options := optionsOf(test.mode)
			options.URL = test.url
			a := addressOf(options)
			dns, ips := a.names()
			assert.Equal(t, test.host, a.host())
			assert.Equal(t, test.dns, dns)
			assert.Equal(t, test.ips, ips)
		})
	}
}

func TestAddresses_Names(t *testing.T) {
	tests := map[string]struct {
		mode  string
		hosts []string
		dns   []string
	}{
		"of a Service in both of its modes": {
			mode:  manager.WebhookModeURLService,
			hosts: []string{"x-installation.extension-controlplane", "x-installation.extension-controlplane.svc"},
			dns: []string{
				"x-installation", "x-installation.extension-controlplane", "x-installation.extension-controlplane.svc",
			},
		},
		"of one URL": {
			mode: manager.WebhookModeURL, hosts: []string{"webhooks.example.org"}, dns: []string{"webhooks.example.org"},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			options := optionsOf(test.mode)
			both := addresses{addressOf(options), addressOf(options.ForRuntimeCluster())}
			assert.Equal(t, test.hosts, both.hosts())
			dns, ips := both.names()
			assert.Equal(t, test.dns, dns)
			assert.Empty(t, ips)
		})
	}
	t.Run("of an IP address", func(t *testing.T) {
		options := optionsOf(manager.WebhookModeURL)
		options.URL = "10.1.2.3:443"
		dns, ips := addresses{addressOf(options), addressOf(options.ForRuntimeCluster())}.names()
		assert.Empty(t, dns)
		assert.Equal(t, []net.IP{net.ParseIP("10.1.2.3")}, ips)
	})
}
