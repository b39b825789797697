package manager

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/client-go/rest"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/metriclist"
)

// listMetrics is the command --list-metrics: it sets the process up without starting it, and writes the metrics that this registers. It makes no
// request to an API server, so it needs no cluster.
func (b Binary) listMetrics(ctx context.Context, cfg config, out io.Writer) error {
	if len(cfg.types) == 0 {
		cfg.types = b.Types
	}
	cfg.leaderElection = false
	cfg.healthBindAddress, cfg.metricsBindAddress, cfg.pprofBindAddress = noAddress, noAddress, noAddress
	cfg.webhooks.Namespace, cfg.webhooks.OwnerNamespace = "default", "default" // those of a pod
	log := newLogger(logError, logText, io.Discard)
	scheme, err := b.newScheme()
	if err != nil {
		return err
	}
	mgr, err := ctrlmanager.New(&rest.Config{Host: "http://nowhere.invalid", Transport: schemeDiscovery{scheme}}, managerOptions(cfg, scheme, log))
	if err != nil {
		return fmt.Errorf("creating manager: %w", err)
	}
	debugPages, err := addDebugServer(ctx, mgr, cfg.pprofBindAddress)
	if err != nil {
		return err
	}
	recorder := metriclist.NewRecorder()
	process := b.newProcess(cfg, mgr, recorder)
	process.debug, process.Log = debugPages, log
	if b.Garden {
		process.Garden, process.GardenConfig = mgr.GetClient(), mgr.GetConfig()
	}
	if err := errors.Join(registerBuildInfo(recorder), b.Setup(process)); err != nil {
		return fmt.Errorf("setting up %s: %w", b.Name, err)
	}
	list, err := recorder.List()
	if err != nil {
		return err
	}
	return metriclist.Write(out, list)
}
