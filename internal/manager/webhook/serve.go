package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/manager"
)

// timing is how long things take and last.
type timing struct {
	// reconcileInterval and reload are how often the leader looks at everything, and each replica at its certificate.
	reconcileInterval, reloadInterval time.Duration
	// startupInterval is how often they look at the very first start, retry how soon after a failure.
	startupInterval, retryInterval time.Duration
	// trustDelay is how long all API servers together may take to see a change of a configuration.
	trustDelay time.Duration
	// loadDelay is how long all replicas together may take to load a certificate.
	loadDelay time.Duration
	// oldAuthorityRetention is the least age of an authority at which the one before is deleted.
	oldAuthorityRetention time.Duration
}

// defaultTiming costs three small reads of an API server every half minute, and one list of a handful of Secrets per
// replica. The long pauses of a renewal are free: it begins 10 days before it has to be over.
func defaultTiming() timing {
	return timing{
		reconcileInterval:     30 * time.Second,
		reloadInterval:        30 * time.Second,
		startupInterval:       time.Second,
		retryInterval:         5 * time.Second,
		trustDelay:            5 * time.Minute,
		loadDelay:             10 * time.Minute,
		oldAuthorityRetention: 24 * time.Hour,
	}
}

// reconcileTimeout bounds one pass, so that a hanging API server costs one pass only.
const reconcileTimeout = time.Minute

// Serve makes the process serve webhooks and registers them, but for those that the command line disables: what an earlier process has
// registered of them is taken back, and they are answered as long as there are certificates. Called with none, it makes the process take back everything. A Setup calls it once. The error names everything that is
// wrong with the webhooks.
func Serve(p *manager.Process, webhooks ...Webhook) error {
	return serve(p, defaultTiming(), webhooks)
}

func serve(p *manager.Process, timing timing, webhooks []Webhook) error {
	webhooks, err := completeFor(p, webhooks)
	if err != nil {
		return fmt.Errorf("serving webhooks: %w", err)
	}
	enabled := slices.DeleteFunc(slices.Clone(webhooks), func(w Webhook) bool { return !p.Webhooks.Serves(w.Name) })

	log := p.Log.WithName("webhooks")
	certificate := newCertificate(log)
	server := newServer(p.Webhooks.ServerHost, p.Webhooks.ServerPort, certificate)
	registrars := newRegistrars(p, enabled, log)
	names := secretNamesOf(p.Name, p.Webhooks.Namespace)
	runnables := []ctrlmanager.Runnable{&certRotator{
		client: p.Manager.GetClient(), registrars: registrars, certificate: certificate, names: names,
		serving: func() error { return server.ready(nil) },
		timing:  timing, trust: trustedSince{}, log: log,
	}}
	// What is switched off is answered as well: until the leader has taken it back, and API servers have heard of that, they ask.
	if len(enabled) > 0 || len(webhooks) > 0 && names.namespace != "" {
		if err := server.serveAll(p, webhooks, len(enabled) > 0, log); err != nil {
			return err
		}
		runnables = append(runnables, server, &reloader{
			reader: p.Manager.GetClient(), certificate: certificate, names: names, hosts: registrars.addresses().hosts(),
			certificateExpected: len(enabled) > 0, timing: timing, log: log,
		})
	}
	for _, runnable := range runnables {
		if err := p.Manager.Add(runnable); err != nil {
			return fmt.Errorf("adding webhooks: %w", err)
		}
	}
	return nil
}

// completeFor returns the webhooks with their defaults, unless something is wrong with them or they are not for the process.
func completeFor(p *manager.Process, webhooks []Webhook) ([]Webhook, error) {
	webhooks, err := complete(webhooks, p.Webhooks.Compiled)
	for _, w := range webhooks {
		if w.Garden && p.Garden == nil {
			err = errors.Join(err, fmt.Errorf("webhook %q is for the garden, the binary is not", w.Name))
		}
	}
	return webhooks, err
}

// serveAll adds endpoints, and makes the process ready when they are. Without any that is enabled it waits for no certificate.
func (s *server) serveAll(p *manager.Process, webhooks []Webhook, enabled bool, log logr.Logger) error {
	results, err := newResults(p.Registerer)
	if err != nil {
		return err
	}
	if err := s.certificate.registerMetric(p.Registerer); err != nil {
		return err
	}
	for _, w := range webhooks {
		s.serve(w, results, log)
	}
	ready := s.ready
	if !enabled {
		ready = s.readyWithoutCertificate
	}
	if err := p.Manager.AddReadyzCheck("webhooks", ready); err != nil {
		return fmt.Errorf("adding readiness check of webhooks: %w", err)
	}
	return nil
}

// repeat calls pass until ctx ends. A pass returns the pause before the next one.
func repeat(ctx context.Context, reconcile func(context.Context) time.Duration) {
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(ctx, reconcileTimeout)
		pause := reconcile(bounded)
		cancel()
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}
