package main

import (
	"github.com/trellis-garden/trellis/internal/buildinfo"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/manager"
	"github.com/trellis-garden/trellis/internal/manager/webhook"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/aws"
	"github.com/trellis-garden/trellis/internal/worker/openstack"
)

// serveWebhooks hands what the contract declares to what serves it.
func serveWebhooks(p *manager.Process, machines *machineController) error {
	vector, err := images.Read(openstack.ImageVector(), aws.ImageVector())
	if err != nil {
		return err
	}
	declared, err := worker.Webhooks(p.Types, worker.WebhookOptions{
		Image: images.ForTrellisVersion(vector, buildinfo.Read().Version), MemoryLimit: machines.memoryLimit,
		WorkloadIdentities: []string{aws.Type},
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
