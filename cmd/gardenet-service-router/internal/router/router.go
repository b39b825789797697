package router

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics/legacyregistry"
	proxyconfig "k8s.io/kubernetes/pkg/proxy/apis/config"
	"k8s.io/kubernetes/pkg/proxy/healthcheck"
	proxymetrics "k8s.io/kubernetes/pkg/proxy/metrics"
)

// handOverInterval is how often a router that hands over looks for kube-proxy.
const handOverInterval = time.Second

// ErrHandedOver is the result of Run when kube-proxy has begun to route. The proxier cannot be stopped; a new process removes what it has left.
var ErrHandedOver = errors.New("kube-proxy routes Services now")

// Router routes Services on one node.
type Router struct {
	options   Options
	tables    tables
	kubeProxy kubeProxy
	// health is nil until the proxier runs.
	health atomic.Pointer[healthcheck.ProxyHealthServer]
	// idle is true when kube-proxy routes, and nothing of the router is left.
	idle atomic.Bool
}

// New returns a router. It registers the metrics of the process, which are global in Kubernetes.
func New(options Options) *Router {
	proxymetrics.RegisterMetrics(proxyconfig.ProxyModeNFTables)
	return &Router{options: options, tables: tables{nft: options.NFT}, kubeProxy: newKubeProxy(options.KubeProxy)}
}

// Run routes Services until the context ends, and leaves the rules in the kernel then. With HandOver it returns ErrHandedOver when kube-proxy begins to route, and
// in a process that starts after that, it removes what the router has left and waits. An error means that it has to start anew.
func (r *Router) Run(ctx context.Context) error {
	if r.options.HandOver {
		if state := r.kubeProxy.state(ctx, r.options.families()); state.routes {
			return r.withdraw(ctx, state.mode)
		}
	}
	p, err := r.startProxier(ctx)
	if err != nil {
		return err
	}
	removals, err := watchRemovals(ctx)
	if err != nil {
		return err
	}
	if r.options.HandOver {
		return r.awaitKubeProxy(ctx, p, removals)
	}
	return r.keep(ctx, p, removals)
}

// withdraw removes the rules, unless they are kube-proxy's by now: in the same mode it uses the same table.
func (r *Router) withdraw(ctx context.Context, mode string) error {
	log := r.options.Log
	if mode != modeNFTables {
		// All families: those of the shoot may have been others when the rules were made.
		for _, family := range []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol} {
			removed, err := r.tables.remove(ctx, family)
			if err != nil {
				return err
			}
			if removed {
				log.Info("Removed the rules of Services, which kube-proxy routes", "family", family, "mode", mode)
			}
		}
	}
	r.idle.Store(true)
	log.Info("Handed over to kube-proxy", "mode", mode)
	<-ctx.Done()
	return nil
}

// awaitKubeProxy keeps the rules until kube-proxy has made its own.
func (r *Router) awaitKubeProxy(ctx context.Context, p *proxier, removals <-chan struct{}) error {
	ticker := time.NewTicker(handOverInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-p.failed:
			return err
		case <-removals:
			r.restore(ctx, p)
		case <-ticker.C:
			if r.kubeProxy.state(ctx, r.options.families()).routes {
				return ErrHandedOver
			}
		}
	}
}

// keep verifies the rules until the context ends.
func (r *Router) keep(ctx context.Context, p *proxier, removals <-chan struct{}) error {
	ticker := time.NewTicker(r.options.VerifyInterval)
	defer ticker.Stop()
	checks := r.newVerifiers()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-p.failed:
			return err
		case <-removals:
			r.restore(ctx, p)
		case <-ticker.C:
			if err := r.removeLeftovers(ctx); err != nil {
				r.options.Log.Error(err, "Removing what kube-proxy has left failed")
			}
			r.verify(ctx, p, checks)
		}
	}
}

// restore makes the rules anew if a table is gone. kube-proxy in another mode removes them when it starts, some time before it has made rules of its own.
func (r *Router) restore(ctx context.Context, p *proxier) {
	for _, family := range r.options.families() {
		exists, err := r.tables.exists(ctx, family)
		if err != nil {
			r.options.Log.Error(err, "Looking for the rules of Services failed", "family", family)
		}
		if err == nil && !exists && r.synced(family) {
			r.options.Log.Info("Restoring the rules of Services, which something else has removed", "family", family)
			p.syncAll()
		}
	}
}

// verify makes the rules anew if something else has changed them.
func (r *Router) verify(ctx context.Context, p *proxier, checks []*verifier) {
	for _, check := range checks {
		repair, err := check.verify(ctx, time.Now())
		if err != nil {
			r.options.Log.Error(err, "Verifying the rules of Services failed", "family", check.family)
		}
		if repair != "" {
			r.options.Log.Info("Making all rules of Services anew", "family", check.family, "reason", repair)
			p.syncAll()
		}
	}
}

// removeLeftovers removes kube-proxy's rules of iptables. They would outlive the endpoints that they name. The own rules have to be complete before.
func (r *Router) removeLeftovers(ctx context.Context) error {
	for _, family := range r.options.families() {
		if !r.synced(family) {
			return nil
		}
	}
	if r.kubeProxy.state(ctx, nil).runs {
		return nil
	}
	for _, family := range []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol} {
		removed, err := r.tables.removeLeftovers(ctx, family)
		if err != nil {
			return err
		}
		if removed > 0 {
			r.options.Log.Info("Removed chains that kube-proxy has left", "family", family, "chains", removed)
		}
	}
	return nil
}

// Ready returns why the node does not route Services as the cluster has them, or nil.
func (r *Router) Ready() error {
	if r.idle.Load() {
		return nil
	}
	if r.options.HandOver {
		return errors.New("waiting for kube-proxy to route Services on this node")
	}
	for _, family := range r.options.families() {
		if !r.synced(family) {
			return fmt.Errorf("waiting for the first rules of %s", family)
		}
	}
	return nil
}

// Alive returns why the process should start anew, or nil: changes have not been applied for too long.
func (r *Router) Alive() error {
	if health := r.health.Load(); health != nil && !health.Health().Healthy {
		return errors.New("changes of Services or endpoints were not applied in time")
	}
	return nil
}

// synced reports whether the proxier has made the rules of a family.
func (r *Router) synced(family corev1.IPFamily) bool { return !r.lastSync(family).IsZero() }

// lastSync returns when the proxier of a family has last succeeded. It says so in a metric only.
func (r *Router) lastSync(family corev1.IPFamily) time.Time {
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		return time.Time{}
	}
	return lastSyncs(families)[string(family)]
}
