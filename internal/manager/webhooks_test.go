package manager

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func webhookBinary() Binary {
	binary := testBinary()
	binary.Name = "controlplane-controller"
	binary.Webhooks = []string{"controlplane.openstack", "cloudprovider.openstack"}
	return binary
}

// shootWebhookBinary has a webhook that kube-apiservers of shoots call.
func shootWebhookBinary() Binary {
	binary := webhookBinary()
	binary.ShootWebhooks = []string{"services.openstack"}
	return binary
}

func TestParseFlags_ShootWebhooks(t *testing.T) {
	for sentence, test := range map[string]struct {
		args                    []string
		serverPort, servicePort int
		serves                  bool
	}{
		"there is a port for shoots":                                       {nil, 9444, 9444, true},
		"a service has the server's port for shoots unless told otherwise": {[]string{"--webhook-config-shoot-server-port=10251"}, 10251, 10251, true},
		"ports of service and server differ": {
			[]string{"--webhook-config-shoot-server-port=10251", "--webhook-config-shoot-service-port=8443"}, 10251, 8443, true,
		},
		"a webhook for shoots is disabled": {[]string{"--disable-webhooks=services.openstack"}, 9444, 9444, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			cfg, err := parseFlags(shootWebhookBinary(), append([]string{"--types=aws"}, test.args...), inPod())
			require.NoError(t, err)
			assert.Equal(t, test.serverPort, cfg.webhooks.ShootServerPort)
			assert.Equal(t, test.servicePort, cfg.webhooks.ShootServicePort)
			assert.Equal(t, test.serves, cfg.webhooks.Serves("services.openstack"))
			assert.True(t, cfg.webhooks.Serves("controlplane.openstack"))
		})
	}
	for sentence, test := range map[string]struct {
		binary Binary
		flag   string
		want   string
	}{
		"shoots must not reach the other webhooks": {
			shootWebhookBinary(), "--webhook-config-shoot-server-port=9443",
			"--webhook-config-shoot-server-port: must differ from --webhook-config-server-port: shoots must not reach the other webhooks",
		},
		"a binary without webhooks for shoots has no port for them": {
			webhookBinary(), "--webhook-config-shoot-server-port=10251", "--webhook-config-shoot-server-port: no such flag",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := parseFlags(test.binary, []string{"--types=aws", test.flag}, inPod())
			assert.EqualError(t, err, "wrong command line:\n  "+test.want)
		})
	}
}

func TestParseFlags_InvalidWebhookFlags(t *testing.T) {
	tests := map[string]struct {
		args   []string
		around environment
		want   string
	}{
		"a mode must be known": {
			args: []string{"--webhook-config-mode=ingress"}, around: inPod(),
			want: `--webhook-config-mode: "ingress" is unknown; allowed: service, url, url-service`,
		},
		"mode url needs a URL": {
			args: []string{"--webhook-config-mode=url"}, around: inPod(),
			want: "--webhook-config-url: required with --webhook-config-mode=url",
		},
		"a URL that nobody would call is an error": {
			args: []string{"--webhook-config-url=example.org"}, around: inPod(),
			want: "--webhook-config-url: of use only with --webhook-config-mode=url",
		},
		"a URL comes without its scheme": {
			args: []string{"--webhook-config-mode=url", "--webhook-config-url=https://example.org"}, around: inPod(),
			want: `--webhook-config-url: "https://example.org" must be a host with an optional port` +
				"; allowed: a host with an optional port, without https:// and path\n" +
				"  --webhook-config-url: required with --webhook-config-mode=url",
		},
		"a service's port fits into 16 bits": {
			args: []string{"--webhook-config-service-port=70000"}, around: inPod(),
			want: `--webhook-config-service-port: "70000" must be a port; allowed: 1 to 65535`,
		},
		"a server needs a port": {
			args: []string{"--webhook-config-server-port=0"}, around: inPod(),
			want: `--webhook-config-server-port: "0" must be a port; allowed: 1 to 65535`,
		},
		"a port is a number": {
			args: []string{"--webhook-config-server-port=https"}, around: inPod(),
			want: `--webhook-config-server-port: "https" must be a number; allowed: 1 to 65535`,
		},
		"a server listens on a host": {
			args: []string{"--webhook-config-server-host=every where"}, around: inPod(),
			want: `--webhook-config-server-host: "every where" must be a host; allowed: an IP address or a host name`,
		},
		"a namespace has a name that Kubernetes takes": {
			args: []string{"--webhook-config-namespace=Garden"}, around: inPod(),
			want: `--webhook-config-namespace: "Garden" must be the name of a namespace; allowed: the name of a namespace`,
		},
		"an owner has a name that Kubernetes takes": {
			args: []string{"--webhook-config-owner-namespace=a.b"}, around: inPod(),
			want: `--webhook-config-owner-namespace: "a.b" must be the name of a namespace; allowed: the name of a namespace`,
		},
		"a webhook must be compiled in": {
			args: []string{"--disable-webhooks=cloudprovider.openstack,network"}, around: inPod(),
			want: `--disable-webhooks: "cloudprovider.openstack,network" has "network", which is not compiled in` +
				"; allowed: controlplane.openstack, cloudprovider.openstack, or * for all",
		},
		"outside a pod, certificates need a place": {
			args: []string{"--leader-election=false"},
			want: "--webhook-config-namespace: required outside a pod; or --disable-webhooks=*",
		},
		"there are no certificates on disk": {
			args: []string{"--webhook-config-cert-dir=/tmp"}, around: inPod(),
			want: "--webhook-config-cert-dir: no such flag",
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			_, err := parseFlags(webhookBinary(), append([]string{"--types=aws"}, test.args...), test.around)
			require.Error(t, err)
			assert.Equal(t, "wrong command line:\n  "+test.want, err.Error())
		})
	}
}

func TestParseFlags_SecondaryWithoutWebhooks(t *testing.T) {
	binary := webhookBinary()
	binary.Observations = []string{"drift"}
	_, err := parseFlags(binary, []string{"--types=aws", "--role=secondary", "--leader-election=false"}, environment{})
	require.NoError(t, err, "a place for certificates is of no use")
}

func TestParseFlags_ValidWebhookFlags(t *testing.T) {
	defaults := WebhookOptions{
		Compiled: webhookBinary().Webhooks, Mode: "service", ConfigName: "gardener-extension-" + webhookBinary().Name, ServicePort: 9443, ServerPort: 9443,
		Namespace: "extension-infrastructure", OwnerNamespace: "extension-infrastructure",
	}
	tests := map[string]struct {
		args   []string
		around environment
		change func(*WebhookOptions)
	}{
		"nothing more is needed in a pod": {
			around: inPod(), change: func(*WebhookOptions) {},
		},
		"ports of service and server differ": {
			args: []string{"--webhook-config-service-port=443", "--webhook-config-server-port=10250"}, around: inPod(),
			change: func(o *WebhookOptions) { o.ServicePort, o.ServerPort = 443, 10250 },
		},
		"a service has the server's port unless told otherwise": {
			args: []string{"--webhook-config-server-port=10250"}, around: inPod(),
			change: func(o *WebhookOptions) { o.ServicePort, o.ServerPort = 10250, 10250 },
		},
		"an installation has webhook configurations with a name of its own": {
			args: []string{"--webhook-config-name=gardener-extension-infrastructure-aws"}, around: inPod(),
			change: func(o *WebhookOptions) { o.ConfigName = "gardener-extension-infrastructure-aws" },
		},
		"the owner is the namespace unless told otherwise": {
			args: []string{"--webhook-config-namespace=one"}, around: inPod(),
			change: func(o *WebhookOptions) { o.Namespace, o.OwnerNamespace = "one", "one" },
		},
		"the owner is another namespace": {
			args: []string{"--webhook-config-owner-namespace=garden"}, around: inPod(),
			change: func(o *WebhookOptions) { o.OwnerNamespace = "garden" },
		},
		"a URL is a host with a port": {
			args: []string{"--webhook-config-mode=url", "--webhook-config-url=host.example.org:9443"}, around: inPod(),
			change: func(o *WebhookOptions) { o.Mode, o.URL = "url", "host.example.org:9443" },
		},
		"a URL is an address of IPv6": {
			args: []string{"--webhook-config-mode=url", "--webhook-config-url=[2001:db8::1]"}, around: inPod(),
			change: func(o *WebhookOptions) { o.Mode, o.URL = "url", "[2001:db8::1]" },
		},
		"a server listens on one address": {
			args: []string{"--webhook-config-server-host=127.0.0.1"}, around: inPod(),
			change: func(o *WebhookOptions) { o.ServerHost = "127.0.0.1" },
		},
		"an empty list disables nothing": {
			args: []string{"--disable-webhooks="}, around: inPod(),
			change: func(*WebhookOptions) {},
		},
		"one of them is disabled": {
			args: []string{"--disable-webhooks=cloudprovider.openstack"}, around: inPod(),
			change: func(o *WebhookOptions) { o.Disabled = []string{"cloudprovider.openstack"} },
		},
		"outside a pod, no webhooks need no place": {
			args: []string{"--leader-election=false", "--disable-webhooks=*"},
			change: func(o *WebhookOptions) {
				o.Namespace, o.OwnerNamespace, o.Disabled = "", "", []string{"controlplane.openstack", "cloudprovider.openstack"}
			},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			want := defaults
			test.change(&want)
			cfg, err := parseFlags(webhookBinary(), append([]string{"--types=aws"}, test.args...), test.around)
			require.NoError(t, err)
			assert.Equal(t, want, cfg.webhooks)
		})
	}
}

func TestParseFlags_WithoutWebhooks(t *testing.T) {
	_, err := parseFlags(testBinary(), []string{"--types=aws", "--webhook-config-mode=url", "--disable-webhooks=*"}, inPod())
	require.Error(t, err)
	assert.Equal(t, "wrong command line:\n  --webhook-config-mode: no such flag\n  --disable-webhooks: no such flag", err.Error())
}

func TestWebhookOptions_Serves(t *testing.T) {
	options := WebhookOptions{Compiled: []string{"a", "b"}, Disabled: []string{"b"}}
	assert.True(t, options.Serves("a"))
	assert.False(t, options.Serves("b"))
	assert.False(t, options.Serves("c"))
}

func testWebhookOptions(t *testing.T, kubeconfig string) {
	t.Helper()
	binary := webhookBinary()
	binary.AddToScheme = addNothing
	var got Process
	binary.Setup = func(p *Process) error {
		got = *p
		return io.EOF
	}
	var logs bytes.Buffer
	binary.run(t.Context(), []string{
		"--types=aws", "--kubeconfig=" + kubeconfig, "--leader-election=false", "--health-bind-address=0", "--metrics-bind-address=0",
		"--webhook-config-namespace=default", "--disable-webhooks=controlplane.openstack",
	}, environment{}, io.Discard, &logs)
	assert.Equal(t, "controlplane-controller", got.Name, "logs:\n%s", logs.String())
	assert.Equal(t, "default", got.Webhooks.OwnerNamespace)
	assert.False(t, got.Webhooks.Serves("controlplane.openstack"))
	assert.True(t, got.Webhooks.Serves("cloudprovider.openstack"))
}
