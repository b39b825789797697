package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

// addHealthChecks adds the checks of /healthz (the process responds) and /readyz (its caches are synced). A standby has no informers yet and is ready
// at once.
func addHealthChecks(mgr ctrlmanager.Manager) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding liveness check: %w", err)
	}
	if err := mgr.AddReadyzCheck("caches", cachesSynced(mgr.GetCache())); err != nil {
		return fmt.Errorf("adding readiness check: %w", err)
	}
	return nil
}

// syncWaiter is the part of a cache that the readiness check needs.
type syncWaiter interface {
	WaitForCacheSync(ctx context.Context) bool
}

func cachesSynced(caches syncWaiter) healthz.Checker {
	return func(req *http.Request) error {
		// Half of a probe's default timeout of one second.
		ctx, cancel := context.WithTimeout(req.Context(), time.Second/2)
		defer cancel()
		if !caches.WaitForCacheSync(ctx) {
			return errors.New("caches have not synced yet")
		}
		return nil
	}
}
