package manager

import (
	"errors"
	"fmt"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

// newGarden returns the client for the garden. It makes no connection, and so does not fail while the garden is unreachable: in the runtime cluster,
// the process may start before the garden's API server. client-go reads a token file again when the token is renewed.
func (b Binary) newGarden(cfg config, mgr ctrlmanager.Manager) (client.Client, *rest.Config, error) {
	if !b.Garden {
		return nil, nil, nil
	}
	if cfg.gardenKubeconfig == "" {
		return mgr.GetClient(), mgr.GetConfig(), nil
	}
	config, err := loadRESTConfig(cfg.gardenKubeconfig)
	if err != nil {
		return nil, nil, err
	}
	// Each cluster has one webhook registration of the binary. Two writers of one registration would overwrite each other forever.
	if own := mgr.GetConfig(); config.Host == own.Host && config.ServerName == own.ServerName {
		return nil, nil, errors.New("--garden-kubeconfig names the API server that --kubeconfig names: leave it out if the garden is that cluster")
	}
	config.UserAgent = userAgent(b.Name)
	// Objects of the garden are large, and gardener-apiserver encodes and decodes protobuf several times faster than JSON. The client reads no custom
	// resources there, which have no protobuf encoding.
	config.ContentType = k8sruntime.ContentTypeProtobuf
	config.AcceptContentTypes = k8sruntime.ContentTypeProtobuf + "," + k8sruntime.ContentTypeJSON
	garden, err := newUncachedClient(config, client.Options{Scheme: mgr.GetScheme()})
	if err != nil {
		return nil, nil, fmt.Errorf("creating client for the garden: %w", err)
	}
	return garden, config, nil
}

// gardenKubeconfigFlags returns the kubeconfig flags of a garden binary.
func (c *config) gardenKubeconfigFlags() []setting {
	return []setting{
		{
			name: "kubeconfig", value: "FILE", defaults: "$KUBECONFIG, then the pod's service account",
			usage: "API server of the runtime cluster, where the process runs: certificates and the leader's Lease are there.",
			parse: text(&c.kubeconfig),
		},
		{
			name: "garden-kubeconfig", value: "FILE", defaults: "$GARDEN_KUBECONFIG; without one, the garden is the runtime cluster",
			usage: "API server of the garden. It may be away when the process starts.",
			parse: text(&c.gardenKubeconfig),
		},
	}
}

// withGardenUsage replaces usages of webhook flags by those for two clusters.
func withGardenUsage(flags []setting) []setting {
	for i, flag := range flags {
		switch flag.name {
		case "webhook-config-mode":
			flags[i].usage = "How the garden's API server reaches the webhooks: by a Service, by a URL, or by a URL with the name of the Service. " +
				"The API server of the runtime cluster always uses the Service, or in mode " + WebhookModeURL + " that URL."
			flags[i].defaults = WebhookModeURLService + " with a kubeconfig of the garden, else " + WebhookModeService
		case "webhook-config-url":
			flags[i].usage = "Where API servers reach the webhooks in mode " + WebhookModeURL + "."
		case "webhook-config-namespace":
			flags[i].usage = "Namespace of the runtime cluster with the Service and the Secrets with certificates; it owns the webhook configurations there. " +
				"The label issued-at-time=0 on one of the Secrets renews it at once."
		case "webhook-config-owner-namespace":
			flags[i].usage = "Namespace of the garden that owns the webhook configurations there: they are deleted with it."
			flags[i].defaults = "none with a kubeconfig of the garden, else that namespace"
		}
	}
	return flags
}
