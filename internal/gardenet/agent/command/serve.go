package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/trellis-garden/trellis/internal/buildinfo"
	"github.com/trellis-garden/trellis/internal/gardenet/agent"
	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/gardenet/process"
)

// serve runs the agent and its HTTP server until the context ends, or the server fails.
func (b Binary) serve(ctx context.Context, o options, log logr.Logger) error {
	cfg, err := readConfig(o.config)
	if err != nil {
		return err
	}
	restConfig, err := process.RESTConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	restConfig.UserAgent = b.Name + "/" + buildinfo.Read().Version
	client, err := agent.NewClient(restConfig)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	if err := registerProcess(registry); err != nil {
		return err
	}
	kernel, err := b.NewKernel(o.kernel)
	if err != nil {
		return err
	}
	a, err := agent.New(agent.Options{
		Node: o.node, Config: cfg, Client: client, Compute: b.Compute, Kernel: kernel, Denied: b.Denied,
		Registerer: registry, Log: log.WithName("agent"),
	})
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.bindAddress)
	if err != nil {
		return fmt.Errorf("--bind-address: listening: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", a.Handler())
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{DisableCompression: true}))
	log.Info("Starting", "binary", b.Name, "version", buildinfo.Read().String(), "node", o.node, "address", listener.Addr().String())
	err = process.Run(ctx, listener, mux, func(ctx context.Context) error {
		a.Run(ctx)
		return nil
	})
	log.Info("Stopped", "binary", b.Name)
	return err
}

func readConfig(path string) (config.Config, error) {
	document, err := os.ReadFile(path)
	if err != nil {
		return config.Config{}, fmt.Errorf("--config: reading the configuration: %w", err)
	}
	cfg, err := config.Decode(document)
	if err != nil {
		return config.Config{}, fmt.Errorf("--config: reading %s: %w", path, err)
	}
	return cfg, nil
}

// registerProcess registers the metrics of the process: the Go runtime, what the kernel counts, and the build.
func registerProcess(registerer prometheus.Registerer) error {
	err := errors.Join(
		registerer.Register(collectors.NewGoCollector()),
		registerer.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
		registerBuildInfo(registerer),
	)
	if err != nil {
		return fmt.Errorf("registering the metrics of the process: %w", err)
	}
	return nil
}

// registerBuildInfo exports the build as a metric.
func registerBuildInfo(registerer prometheus.Registerer) error {
	info := buildinfo.Read()
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "trellis_build_info",
		Help:        "Always 1; the labels identify the build.",
		ConstLabels: prometheus.Labels{"version": info.Version, "commit": info.Commit, "date": info.Date},
	})
	gauge.Set(1)
	return registerer.Register(gauge)
}
