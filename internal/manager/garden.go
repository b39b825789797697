package manager

import (
	"errors"
	"fmt"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

// newGarden returns the client for the garden of a binary that works for it. It makes no connection, and so does not fail when the garden is
// away: in the runtime cluster, the process may well be up before the garden's API server is. A token that is renewed in its file is read again
// by client-go.
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
	// Each cluster has one registration of the binary. Two writers of one would undo each other's work for ever.
	if own := mgr.GetConfig(); config.Host == own.Host && config.ServerName == own.ServerName {
		return nil, nil, errors.New("--garden-kubeconfig names the API server that --kubeconfig names: leave it out if the garden is that cluster")
	}
	config.UserAgent = userAgent(b.Name)
	// Objects of the garden are large, and Gardener's API server writes and reads them several times faster in the binary form. Custom resources,
	// which have none, are not looked up there.
	config.ContentType = k8sruntime.ContentTypeProtobuf
	config.AcceptContentTypes = k8sruntime.ContentTypeProtobuf + "," + k8sruntime.ContentTypeJSON
	garden, err := newUncachedClient(config, client.Options{Scheme: mgr.GetScheme()})
	if err != nil {
		return nil, nil, fmt.Errorf("creating client for the garden: %w", err)
	}
	return garden, config, nil
}

// gardenKubeconfigFlags are those of a binary that works for the garden.
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

// withGardenUsage explains flags for webhooks to whoever has two clusters.
func withGardenUsage(flags []setting) []setting {
	for i, flag := range flags {
		switch flag.name {
		case "webhook-config-mode":
			flags[i].usage = "How the garden's API server reaches the webhooks: by a Service, by a URL, or by a URL with the name of the Service. " +
				"The runtime cluster's own is always given the Service, or in mode " + WebhookModeURL + " that URL."
			flags[i].defaults = WebhookModeURLService + " with a kubeconfig of the garden, else " + WebhookModeService
		case "webhook-config-url":
			flags[i].usage = "Where API servers reach the webhooks in mode " + WebhookModeURL + "."
		case "webhook-config-namespace":
			flags[i].usage = "Namespace of the runtime cluster with the Service and the Secrets with certificates; it owns what is registered there. " +
				"The label issued-at-time=0 on one of the Secrets renews it at once."
		case "webhook-config-owner-namespace":
			flags[i].usage = "Namespace of the garden that owns what is registered there: when it is deleted, the API server forgets the webhooks."
			flags[i].defaults = "none with a kubeconfig of the garden, else that namespace"
		}
	}
	return flags
}
