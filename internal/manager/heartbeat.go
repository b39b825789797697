package manager

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// heartbeatLease is the name that gardenlet looks for (gardener/docs/extensions/heartbeat.md). It is the same for all
	// extensions: each binary needs a namespace of its own.
	heartbeatLease = "gardener-extension-heartbeat"
	// heartbeatRetry is the pause after a failed renewal, when the interval is not shorter.
	heartbeatRetry = 5 * time.Second
	// heartbeatTimeout bounds one renewal, so that an API server that does not respond delays no later one.
	heartbeatTimeout = 10 * time.Second
)

// heartbeat renews the Lease by which gardenlet detects that the extension is running. Without the Lease, or when it is older than a threshold of 5
// minutes by default, gardenlet ignores the conditions on the extension's objects.
//
// It runs on the leader only: a standby must not report a stuck leader as healthy, and it becomes the leader long before the threshold when the
// leader ends. That holds for primary and secondary controllers alike, since each has its own leader and, for this Lease, its own namespace.
type heartbeat struct {
	client    client.Client
	namespace string
	holder    string
	interval  time.Duration
	log       logr.Logger
	// renewed is the Lease as the last renewal left it; nil before the first one.
	renewed *coordinationv1.Lease
}

var _ ctrlmanager.LeaderElectionRunnable = (*heartbeat)(nil)

func addHeartbeat(mgr ctrlmanager.Manager, cfg config, log logr.Logger) error {
	if cfg.heartbeatNamespace == "" {
		log.Info("Running without heartbeat: gardenlet will set conditions to Unknown", "flag", "--heartbeat-namespace")
		return nil
	}
	// A pod's host name is the pod's name.
	holder, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("naming the heartbeat's holder: %w", err)
	}
	err = mgr.Add(&heartbeat{
		client:    mgr.GetClient(),
		namespace: cfg.heartbeatNamespace,
		holder:    holder,
		interval:  time.Duration(cfg.heartbeatRenewSeconds) * time.Second,
		log:       log.WithName("heartbeat"),
	})
	if err != nil {
		return fmt.Errorf("adding heartbeat: %w", err)
	}
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (h *heartbeat) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable. It returns no error of the API server.
func (h *heartbeat) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		pause := h.interval
		if err := h.renew(ctx); err != nil && ctx.Err() == nil {
			pause = min(pause, heartbeatRetry)
			h.log.Error(err, "Heartbeat failed", "retryAfter", pause.String())
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// renew writes the Lease over the version of the last renewal. Without one, and if somebody has changed or deleted the Lease since, it is read before.
func (h *heartbeat) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	if h.renewed != nil {
		h.setSpec(h.renewed)
		err := h.client.Update(ctx, h.renewed)
		if err == nil {
			return nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return fmt.Errorf("renewing lease %s/%s: %w", h.namespace, heartbeatLease, err)
		}
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: heartbeatLease}}
	_, err := controllerutil.CreateOrUpdate(ctx, h.client, lease, func() error {
		h.setSpec(lease)
		return nil
	})
	if err != nil {
		return fmt.Errorf("renewing lease %s/%s: %w", h.namespace, heartbeatLease, err)
	}
	h.renewed = lease
	return nil
}

func (h *heartbeat) setSpec(lease *coordinationv1.Lease) {
	lease.Spec.HolderIdentity = &h.holder
	lease.Spec.LeaseDurationSeconds = new(int32(h.interval / time.Second))
	lease.Spec.RenewTime = new(metav1.NowMicro())
}
