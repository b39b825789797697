package manager

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Modes in which API servers reach the webhooks of a process; values of --webhook-config-mode.
const (
	// WebhookModeService is a Service in the cluster of the API server.
	WebhookModeService = "service"
	// WebhookModeURL is a URL given by a flag.
	WebhookModeURL = "url"
	// WebhookModeURLService is a URL with the name of the Service, for an API server that runs in the cluster of the process, but serves another
	// cluster.
	WebhookModeURLService = "url-service"
)

// allWebhooks is the value of --disable-webhooks for all webhooks of the binary.
const allWebhooks = "*"

// WebhookOptions contains the flags about admission webhooks. Package internal/manager/webhook uses them.
type WebhookOptions struct {
	// Compiled are the names of all webhooks of the binary, Disabled those of them that must not be served.
	Compiled, Disabled []string
	// SeparateGarden is true if the garden is another cluster than the one of the process. Then Mode, URL and OwnerNamespace apply to the garden, and
	// ForRuntimeCluster returns the options of the other cluster.
	SeparateGarden bool
	// Mode is one of the constants above.
	Mode string
	// URL is host or host:port of the server as the API server sees it. Empty unless the mode is WebhookModeURL.
	URL string
	// ConfigName is the name of the webhook configurations and of the Service. Several installations of a binary in one cluster, each for some types,
	// must have different names.
	ConfigName string
	// ServicePort is the port of the Service.
	ServicePort int
	// Namespace is where the Service is and where the certificates are kept. It may be empty when all webhooks are disabled.
	Namespace string
	// OwnerNamespace is the namespace that owns the registrations: they are deleted with it. It may be empty if all webhooks are disabled.
	OwnerNamespace string
	// ServerHost and ServerPort are where the process listens. No host means all addresses.
	ServerHost string
	ServerPort int
	// ShootServerPort is where the process listens for kube-apiservers of shoots, and ShootServicePort how they reach it: at the Service, or at the host of
	// URL. Both are 0 in a binary without webhooks for shoots.
	ShootServerPort, ShootServicePort int
}

// Serves reports whether the webhook of that name is compiled in and enabled.
func (o WebhookOptions) Serves(name string) bool {
	return slices.Contains(o.Compiled, name) && !slices.Contains(o.Disabled, name)
}

// ForRuntimeCluster returns the options for the process's own cluster if the garden is another one. Its API server reaches the Service directly. A
// URL is the same for both clusters.
func (o WebhookOptions) ForRuntimeCluster() WebhookOptions {
	if o.Mode != WebhookModeURL {
		o.Mode = WebhookModeService
	}
	o.OwnerNamespace = o.Namespace
	return o
}

func defaultWebhookOptions(b Binary, env environment) WebhookOptions {
	options := WebhookOptions{
		Compiled:   slices.Concat(b.Webhooks, b.ShootWebhooks),
		Mode:       WebhookModeService,
		ConfigName: "gardener-extension-" + b.Name, // as upstream: gardener/extensions/pkg/webhook/registration.go
		Namespace:  env.podNamespace,
		ServerPort: 9443,
	}
	if b.Garden {
		options.Mode = "" // completed decides
	}
	if len(b.ShootWebhooks) > 0 {
		options.ShootServerPort = 9444
	}
	return options
}

func webhookModes() []string {
	return []string{WebhookModeService, WebhookModeURL, WebhookModeURLService}
}

const portNumbers = "1 to 65535"

// webhookFlags returns the flags about webhooks. They have upstream's names (gardener/extensions/pkg/webhook/cmd and .../controller/cmd).
func (c *config) webhookFlags(b Binary) []setting {
	o := &c.webhooks
	flags := []setting{
		{
			name: "disable-webhooks", value: "NAME,...", defaults: "none",
			usage:   "Webhooks not to serve. Their registrations are deleted.",
			allowed: strings.Join(o.Compiled, ", ") + ", or " + allWebhooks + " for all",
			parse:   c.parseDisabledWebhooks,
		},
		{
			name: "webhook-config-mode", value: "MODE", defaults: o.Mode,
			usage:   "How the API server reaches the webhooks: by a Service, by a URL, or by a URL with the name of the Service.",
			allowed: strings.Join(webhookModes(), ", "),
			parse:   oneOf(&o.Mode, webhookModes()),
		},
		{
			name: "webhook-config-url", value: "HOST[:PORT]",
			usage:   "Where the API server reaches the webhooks in mode " + WebhookModeURL + ".",
			allowed: "a host with an optional port, without https:// and path",
			parse:   hostWithOptionalPort(&o.URL),
		},
		{
			name: "webhook-config-name", value: "NAME", defaults: o.ConfigName,
			usage:   "Name of the webhook configurations and of the Service. Several installations in one cluster need different names.",
			allowed: "the name of an object",
			parse:   objectName(&o.ConfigName),
		},
		{
			name: "webhook-config-service-port", value: "PORT", defaults: "the server's port",
			usage:   "Port of the Service.",
			allowed: portNumbers,
			parse:   port(&o.ServicePort),
		},
		{
			name: "webhook-config-namespace", value: "NAMESPACE", defaults: "the pod's namespace",
			usage: "Namespace of the Service and of the Secrets with certificates. " +
				"The label issued-at-time=0 on one of these renews it at once.",
			allowed: "the name of a namespace",
			parse:   namespaceName(&o.Namespace),
		},
		{
			name: "webhook-config-owner-namespace", value: "NAMESPACE", defaults: "that namespace",
			usage:   "Namespace that owns the webhook configurations: they are deleted with it.",
			allowed: "the name of a namespace",
			parse:   namespaceName(&o.OwnerNamespace),
		},
		{
			name: "webhook-config-server-host", value: "HOST", defaults: "all addresses",
			usage:   "Address that the webhook server listens on.",
			allowed: "an IP address or a host name",
			parse:   host(&o.ServerHost),
		},
		{
			name: "webhook-config-server-port", value: "PORT", defaults: fmt.Sprint(o.ServerPort),
			usage:   "Port that the webhook server listens on.",
			allowed: portNumbers,
			parse:   port(&o.ServerPort),
		},
	}
	if len(b.ShootWebhooks) > 0 {
		flags = append(flags, c.shootWebhookFlags()...)
	}
	if b.Garden {
		return withGardenUsage(flags)
	}
	return flags
}

// shootWebhookFlags returns the flags about webhooks that kube-apiservers of shoots call. Upstream has none: it serves all webhooks on one port.
func (c *config) shootWebhookFlags() []setting {
	o := &c.webhooks
	return []setting{
		{
			name: "webhook-config-shoot-service-port", value: "PORT", defaults: "the server's port for shoots",
			usage:   "Port of the Service, or of the host of --webhook-config-url, for kube-apiservers of shoots.",
			allowed: portNumbers,
			parse:   port(&o.ShootServicePort),
		},
		{
			name: "webhook-config-shoot-server-port", value: "PORT", defaults: fmt.Sprint(o.ShootServerPort),
			usage:   "Port that the webhook server listens on for kube-apiservers of shoots. It serves no other webhooks there.",
			allowed: portNumbers + ", another one than --webhook-config-server-port",
			parse:   port(&o.ShootServerPort),
		},
	}
}

// parseDisabledWebhooks accepts an empty list, since charts render one.
func (c *config) parseDisabledWebhooks(text string) error {
	if text == "" {
		c.webhooks.Disabled = nil
		return nil
	}
	compiled := c.webhooks.Compiled
	parse := listOf(&c.webhooks.Disabled, "is not compiled in", append(slices.Clone(compiled), allWebhooks))
	if err := parse(text); err != nil {
		return err
	}
	if slices.Contains(c.webhooks.Disabled, allWebhooks) {
		c.webhooks.Disabled = slices.Clone(compiled)
	}
	return nil
}

// completed returns the options with defaults that depend on other flags.
func (o WebhookOptions) completed() WebhookOptions {
	o.ServicePort = cmp.Or(o.ServicePort, o.ServerPort)
	o.ShootServicePort = cmp.Or(o.ShootServicePort, o.ShootServerPort)
	o.OwnerNamespace = cmp.Or(o.OwnerNamespace, o.Namespace)
	if o.SeparateGarden {
		o.Mode = cmp.Or(o.Mode, WebhookModeURLService)
	}
	o.Mode = cmp.Or(o.Mode, WebhookModeService)
	return o
}

// check validates combinations of flags.
func (o WebhookOptions) check() []error {
	if !slices.ContainsFunc(o.Compiled, o.Serves) {
		return nil
	}
	var errs []error
	if o.Namespace == "" {
		errs = append(errs, errors.New("--webhook-config-namespace: required outside a pod; or --disable-webhooks="+allWebhooks))
	}
	if o.SeparateGarden && o.OwnerNamespace == "" {
		errs = append(errs, errors.New("--webhook-config-owner-namespace: required with a kubeconfig of the garden"+
			", where no namespace is known; or --disable-webhooks="+allWebhooks))
	}
	if o.ShootServerPort == o.ServerPort {
		errs = append(errs, errors.New("--webhook-config-shoot-server-port: must differ from --webhook-config-server-port"+
			": shoots must not reach the other webhooks"))
	}
	switch {
	case o.Mode == WebhookModeURL && o.URL == "":
		errs = append(errs, errors.New("--webhook-config-url: required with --webhook-config-mode="+WebhookModeURL))
	case o.Mode != WebhookModeURL && o.URL != "":
		errs = append(errs, errors.New("--webhook-config-url: of use only with --webhook-config-mode="+WebhookModeURL))
	}
	return errs
}
