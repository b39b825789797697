package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/trellis-garden/trellis/internal/buildinfo"
	"github.com/trellis-garden/trellis/internal/gardenet/agent"
	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/memory"
)

const (
	readHeaderTimeout = 10 * time.Second
	// shutdownTimeout bounds the end of requests for metrics.
	shutdownTimeout = time.Second
)

// serve runs the agent and its HTTP server until the context ends, or the server fails.
func (b Binary) serve(ctx context.Context, o options, log logr.Logger) error {
	cfg, err := readConfig(o.config)
	if err != nil {
		return err
	}
	restConfig, err := loadRESTConfig(o.kubeconfig)
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
	err = runTogether(ctx, listener, mux, a.Run)
	log.Info("Stopped", "binary", b.Name)
	return err
}

// runTogether runs the agent and an HTTP server. Each of them ends with the context or the other one.
func runTogether(ctx context.Context, listener net.Listener, handler http.Handler, run func(context.Context)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout}
	var running sync.WaitGroup
	running.Go(func() { _ = memory.NewReleaser().Start(ctx) })
	running.Go(func() {
		defer cancel()
		run(ctx)
	})
	running.Go(func() {
		<-ctx.Done()
		shutdown, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer stop()
		if server.Shutdown(shutdown) != nil {
			_ = server.Close() // of requests that take too long
		}
	})
	err := server.Serve(listener)
	cancel()
	running.Wait()
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving HTTP: %w", err)
	}
	return nil
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

// loadRESTConfig returns how to reach the API server: by a kubeconfig, or as a pod does.
func loadRESTConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig != "" {
		restConfig, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("--kubeconfig: %w", err)
		}
		return restConfig, nil
	}
	restConfig, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w; give --kubeconfig, or run in a pod", err)
	}
	return restConfig, nil
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
