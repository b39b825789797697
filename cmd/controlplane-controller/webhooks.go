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
	for _, w := range controlplane.ServiceWebhooks(drivers, p.Types) {
		served = append(served, webhook.Webhook{Name: w.Name, Path: w.Path, Kind: webhook.Mutating, Handler: w.Handler, Shoots: true})
	}
	shoots := controlplane.ShootRegistrations{
		Client: p.Manager.GetClient(), Address: webhook.NewShootServer(p).Address, Log: p.Log.WithName("shoot-webhooks"),
	}
	return webhook.ServeForShoots(p, shoots, served...)
}

// shootWebhookServer is nil if webhooks for shoots are disabled, or no type has one.
func shootWebhookServer(p *manager.Process, drivers map[string]controlplane.Driver) *controlplane.WebhookServer {
	for _, w := range controlplane.ServiceWebhooks(drivers, p.Types) {
		if p.Webhooks.Serves(w.Name) {
			server := webhook.NewShootServer(p)
			return &controlplane.WebhookServer{Address: server.Address, CABundle: server.CABundle}
		}
	}
	return nil
}
