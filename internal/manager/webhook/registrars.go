package webhook

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-logr/logr"

	"github.com/trellis-garden/trellis/internal/manager"
)

// registrars has one registrar for each cluster whose API server calls the process: its own and, if that is another one, the garden.
type registrars []*registrar

func newRegistrars(p *manager.Process, webhooks []Webhook, log logr.Logger) registrars {
	registrarFor := func(options manager.WebhookOptions) *registrar {
		return &registrar{
			client: p.Manager.GetClient(), name: options.ConfigName, binary: p.Name, webhooks: webhooks,
			address: addressOf(options), ownerNamespace: options.OwnerNamespace, log: log,
		}
	}
	if !p.Webhooks.SeparateGarden {
		// Both clusters are the same one, and share a registration, since it has one name.
		return registrars{registrarFor(p.Webhooks)}
	}
	garden, own := registrarFor(p.Webhooks), registrarFor(p.Webhooks.ForRuntimeCluster())
	garden.client = p.Garden
	garden.webhooks, own.webhooks = nil, nil
	for _, w := range webhooks {
		if w.Garden {
			garden.webhooks = append(garden.webhooks, w)
		} else {
			own.webhooks = append(own.webhooks, w)
		}
	}
	garden.cluster, own.cluster = "garden", "runtime cluster"
	for _, r := range []*registrar{garden, own} {
		r.log = log.WithValues("cluster", r.cluster)
	}
	return registrars{garden, own}
}

// isEmpty reports whether no cluster has webhooks to register.
func (rs registrars) isEmpty() bool {
	return !slices.ContainsFunc(rs, func(r *registrar) bool { return len(r.webhooks) > 0 })
}

func (rs registrars) addresses() addresses {
	all := make(addresses, 0, len(rs))
	for _, r := range rs {
		all = append(all, r.address)
	}
	return all
}

// register returns the authorities that all webhooks of all clusters trusted already when they were read: none while one of the clusters is
// unreachable.
func (rs registrars) register(ctx context.Context, caBundle []byte) ([]*x509.Certificate, error) {
	found := make([][][]byte, len(rs))
	err := rs.each(func(i int, r *registrar) error {
		bundles, err := r.register(ctx, caBundle)
		found[i] = bundles
		return err
	})
	if err != nil {
		return nil, err
	}
	return trustedByAll(slices.Concat(found...)), nil
}

func (rs registrars) unregister(ctx context.Context) error {
	return rs.each(func(_ int, r *registrar) error { return r.unregister(ctx) })
}

// each calls a function for all clusters concurrently, so that none waits for an unreachable one. It joins their errors.
func (rs registrars) each(do func(int, *registrar) error) error {
	failures := make([]error, len(rs))
	var all sync.WaitGroup
	for i, r := range rs {
		all.Go(func() {
			if err := do(i, r); err != nil {
				failures[i] = err
				if r.cluster != "" {
					failures[i] = fmt.Errorf("in the %s: %w", r.cluster, err)
				}
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}
