package main

import (
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/manager"
	"github.com/trellis-garden/trellis/internal/manager/webhook"
)

// serveWebhooks hands what the contract declares to what serves it.
func serveWebhooks(p *manager.Process, drivers map[string]controlplane.Driver, images controlplane.Images, etcd *etcdFlags) error {
	declared, err := controlplane.Webhooks(drivers, p.Manager.GetAPIReader(), controlplane.WebhookOptions{
		Types: p.Types, EtcdStorage: etcd.storage, Images: images,
	})
	if err != nil {
		return err
	}
	served := make([]webhook.Webhook, 0, len(declared))
	for _, w := range declared {
		served = append(served, webhook.Webhook{
			Name: w.Name, Path: w.Path, Kind: webhook.Mutating, Handler: w.Handler,
			Rules: w.Rules, NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector,
		})
	}
	return webhook.Serve(p, served...)
}
