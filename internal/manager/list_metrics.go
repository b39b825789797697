package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/logging"
	"github.com/trellis-garden/trellis/internal/metriclist"
)

// listMetrics is the command --list-metrics: it sets the process up without starting it, in each of its roles, and writes the metrics that this registers. It
// makes no request to an API server, so it needs no cluster.
func (b Binary) listMetrics(ctx context.Context, cfg config, out io.Writer) error {
	if len(cfg.types) == 0 {
		cfg.types = b.Types
	}
	cfg.leaderElection = false
	cfg.healthBindAddress, cfg.metricsBindAddress, cfg.pprofBindAddress = noAddress, noAddress, noAddress
	cfg.webhooks.Namespace, cfg.webhooks.OwnerNamespace = "default", "default" // those of a pod
	var all []metriclist.Metric
	for _, role := range b.roles() {
		cfg.role = role
		if role == roleSecondary && b.ObservedTypes != nil {
			cfg.types = b.ObservedTypes
		}
		list, err := b.registeredMetrics(ctx, cfg)
		if err != nil {
			return err
		}
		for _, metric := range list {
			if !slices.ContainsFunc(all, func(known metriclist.Metric) bool { return known.Name == metric.Name }) {
				all = append(all, metric)
			}
		}
	}
	slices.SortFunc(all, func(a, b metriclist.Metric) int { return strings.Compare(a.Name, b.Name) })
	return metriclist.Write(out, all)
}

// registeredMetrics returns the metrics of the process in one role.
func (b Binary) registeredMetrics(ctx context.Context, cfg config) ([]metriclist.Metric, error) {
	log := newLogger(logging.Error, logging.Text, io.Discard)
	scheme, err := b.newScheme()
	if err != nil {
		return nil, err
	}
	options := managerOptions(cfg, scheme, log)
	options.Controller.SkipNameValidation = new(true) // another role has been set up before
	mgr, err := ctrlmanager.New(&rest.Config{Host: "http://nowhere.invalid", Transport: schemeDiscovery{scheme}}, options)
	if err != nil {
		return nil, fmt.Errorf("creating manager: %w", err)
	}
	debugPages, err := addDebugServer(ctx, mgr, cfg.pprofBindAddress)
	if err != nil {
		return nil, err
	}
	recorder := metriclist.NewRecorder()
	process := b.newProcess(cfg, mgr, recorder)
	process.debug, process.Log = debugPages, log
	if b.Garden {
		process.Garden, process.GardenConfig = mgr.GetClient(), mgr.GetConfig()
	}
	if err := errors.Join(registerBuildInfo(recorder), b.Setup(process)); err != nil {
		return nil, fmt.Errorf("setting up %s: %w", b.Name, err)
	}
	return recorder.List()
}
