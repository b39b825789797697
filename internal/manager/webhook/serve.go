package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-logr/logr"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/manager"
)

// timing contains all intervals, delays and retention times.
type timing struct {
	// reconcileInterval is how often the leader reconciles, and reload how often each replica reads its certificate.
	reconcileInterval, reloadInterval time.Duration
	// startupInterval is the interval of both until the first certificate exists, retry the pause after a failure.
	startupInterval, retryInterval time.Duration
	// trustDelay is how long API servers may take until all have seen a change of a configuration.
	trustDelay time.Duration
	// loadDelay is how long replicas may take until all have loaded a certificate.
	loadDelay time.Duration
	// oldAuthorityRetention is the least age of an authority at which the one before is deleted.
	oldAuthorityRetention time.Duration
}

// defaultTiming results in three small reads a minute, and one list of a few Secrets per replica. The long pauses of a renewal do no harm:
// it begins 10 days before the certificates expire.
func defaultTiming() timing {
	return timing{
		reconcileInterval:     time.Minute,
		reloadInterval:        time.Minute,
		startupInterval:       time.Second,
		retryInterval:         5 * time.Second,
		trustDelay:            5 * time.Minute,
		loadDelay:             10 * time.Minute,
		oldAuthorityRetention: 24 * time.Hour,
	}
}

// reconcileTimeout bounds one reconciliation, so that an API server that does not respond delays no later one.
const reconcileTimeout = time.Minute

// Serve makes the process serve webhooks and registers them, except for those that are disabled by flag: their earlier registrations are deleted, and
// requests to them are still served while there are certificates. Without webhooks, it deletes all registrations. A Setup calls it once. The error
// names all invalid fields of the webhooks.
func Serve(p *manager.Process, webhooks ...Webhook) error {
	return serve(p, defaultTiming(), nil, webhooks)
}

func serve(p *manager.Process, timing timing, shoots ShootRegistrations, webhooks []Webhook) error {
	webhooks, err := completeFor(p, shoots, webhooks)
	if err != nil {
		return fmt.Errorf("serving webhooks: %w", err)
	}
	enabled := slices.DeleteFunc(slices.Clone(webhooks), func(w Webhook) bool { return !p.Webhooks.Serves(w.Name) })

	log := p.Log.WithName("webhooks")
	certificate := newCertificate(log)
	servers := newServers(p.Webhooks, webhooks, certificate)
	if !slices.ContainsFunc(enabled, isForShoots) {
		shoots = nil
	}
	registrars := newRegistrars(p, slices.DeleteFunc(slices.Clone(enabled), isForShoots), log)
	names := secretNamesOf(p.Name, p.Webhooks.Namespace)
	runnables := []ctrlmanager.Runnable{&certRotator{
		client: p.Manager.GetClient(), registrars: registrars, shoots: shoots, certificate: certificate, names: names,
		serving: func() error { return servers.ready(nil) },
		timing:  timing, trust: trustedSince{}, log: log,
	}}
	// Requests to disabled webhooks are served as well: API servers send them until the leader has deleted the registration and they have seen that.
	if len(enabled) > 0 || len(webhooks) > 0 && names.namespace != "" {
		if err := servers.serveAll(p, len(enabled) > 0, log); err != nil {
			return err
		}
		for _, server := range servers {
			runnables = append(runnables, server)
		}
		runnables = append(runnables, &reloader{
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

// completeFor returns the webhooks with their defaults, or an error if one is invalid or not in the process's options.
func completeFor(p *manager.Process, shoots ShootRegistrations, webhooks []Webhook) ([]Webhook, error) {
	webhooks, err := complete(webhooks, p.Webhooks.Compiled)
	for _, w := range webhooks {
		if w.Shoots && (shoots == nil || p.Webhooks.ShootServerPort == 0) {
			err = errors.Join(err, fmt.Errorf("webhook %q is for shoots, the binary is not", w.Name))
		}
		if w.Garden && p.Garden == nil {
			err = errors.Join(err, fmt.Errorf("webhook %q is for the garden, the binary is not", w.Name))
		}
	}
	return webhooks, err
}

// servers are those of a process: one for the API servers of its clusters, and one for those of shoots, each if there are webhooks for it.
type servers []*server

func newServers(options manager.WebhookOptions, webhooks []Webhook, certificate *certificate) servers {
	ofShoots, others := newServer(options.ServerHost, options.ShootServerPort, certificate), newServer(options.ServerHost, options.ServerPort, certificate)
	ofShoots.limits = shootLimits()
	for _, w := range webhooks {
		if w.Shoots {
			ofShoots.webhooks = append(ofShoots.webhooks, w)
		} else {
			others.webhooks = append(others.webhooks, w)
		}
	}
	return slices.DeleteFunc(servers{others, ofShoots}, func(s *server) bool { return len(s.webhooks) == 0 })
}

// serveAll adds the endpoints and their readiness check. If no webhook is enabled, readiness does not wait for a certificate.
func (ss servers) serveAll(p *manager.Process, enabled bool, log logr.Logger) error {
	results, err := newResults(p.Registerer)
	if err != nil {
		return err
	}
	if err := ss[0].certificate.registerMetric(p.Registerer); err != nil {
		return err
	}
	for _, s := range ss {
		for _, w := range s.webhooks {
			s.serve(w, results, log)
		}
	}
	ready := ss.ready
	if !enabled {
		ready = ss.readyWithoutCertificate
	}
	if err := p.Manager.AddReadyzCheck("webhooks", ready); err != nil {
		return fmt.Errorf("adding readiness check of webhooks: %w", err)
	}
	return nil
}

// ready returns an error while API servers should not call this process.
func (ss servers) ready(request *http.Request) error {
	return ss.check(func(s *server) error { return s.ready(request) })
}

func (ss servers) readyWithoutCertificate(request *http.Request) error {
	return ss.check(func(s *server) error { return s.readyWithoutCertificate(request) })
}

func (ss servers) check(check func(*server) error) error {
	for _, s := range ss {
		if err := check(s); err != nil {
			return err
		}
	}
	return nil
}

// repeat calls reconcile until ctx ends. reconcile returns the pause before the next call.
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
