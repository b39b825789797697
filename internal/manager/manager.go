package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/trellis-garden/trellis/internal/buildinfo"
	"github.com/trellis-garden/trellis/internal/signals"
)

// Exit codes of a binary.
const (
	exitClean   = 0
	exitFailure = 1
	exitUsage   = 2
)

// Binary describes one binary. All fields but Garden, Webhooks, ShootWebhooks, Observations, ObservedTypes, Flags, Commands and CacheTransform are required.
type Binary struct {
	// Name is the file name of the binary, e.g. "infrastructure-controller". It names the leader election Lease.
	Name string
	// Description is a sentence for --help.
	Description string
	// Types are the provider types compiled in: the allowed values of --types.
	Types []string
	// Garden is true for a binary that serves the garden, wherever it runs, and reconciles no extension objects. It has neither classes nor a
	// heartbeat.
	Garden bool
	// Webhooks are the names of the admission webhooks compiled in: the allowed values of --disable-webhooks. A binary with webhooks has flags for
	// them, and calls webhook.Serve (package internal/manager/webhook) in its Setup.
	Webhooks []string
	// ShootWebhooks are the names of those webhooks that kube-apiservers of shoots call. They have a port of their own, and flags for it. --disable-webhooks
	// allows these names, too.
	ShootWebhooks []string
	// Observations are the names of what the binary can observe as a secondary controller: the allowed values of --observations. Without any, it is a
	// primary only.
	Observations []string
	// ObservedTypes are those of Types that it can observe; nil means all.
	ObservedTypes []string
	// Flags are the flags that only this binary has.
	Flags FlagSection
	// Commands are flags with which the binary prints something and exits.
	Commands []Command
	// AddToScheme registers the API types that the binary reads and writes, besides those of the process itself.
	AddToScheme func(*runtime.Scheme) error
	// CacheTransform removes from an object what nobody reads from memory, before it is kept there; nil keeps all but the managed fields.
	CacheTransform toolscache.TransformFunc
	// Setup adds the binary's controllers and webhooks to the process. Nothing runs before it returns.
	Setup func(*Process) error
}

// Process is the input of a Binary's Setup.
type Process struct {
	// Name is the Binary's name.
	Name string
	// Manager runs the runnables that Setup adds. Its client reads from the API server, never from a cache.
	Manager ctrlmanager.Manager
	// Garden is a client for the garden, also without a cache: the Manager's own if both are the same cluster. The garden may be unreachable, also at
	// the start. Garden is nil unless the Binary serves the garden; if it does, the fields from Classes to GardenerVersion are zero.
	Garden client.Client
	// GardenConfig is the configuration of Garden's connection, for callers that watch the garden.
	GardenConfig *rest.Config
	// Types are the provider types to serve: a non-empty subset of the Binary's.
	Types []string
	// Classes are the extension classes to serve, of "shoot", "seed" and "garden". A controller has at least one.
	Classes []string
	// Secondary is nil unless the process is a secondary controller.
	Secondary *SecondaryOptions
	// MaxConcurrentReconciles is how many objects each controller may reconcile at the same time.
	MaxConcurrentReconciles int
	// IgnoreOperationAnnotation makes controllers act on spec changes at once. For development only.
	IgnoreOperationAnnotation bool
	// GardenerVersion is the version of the seed's gardenlet, e.g. "v1.149.3", or empty if unknown.
	GardenerVersion string
	// Webhooks configures how to serve admission webhooks. It is unused in a Binary without webhooks.
	Webhooks WebhookOptions
	// Log is the process's root logger.
	Log logr.Logger
	// Registerer registers metrics; they are served with those of the process.
	Registerer prometheus.Registerer

	debug *http.ServeMux
}

// HandleDebug serves a page for debugging at the path, beside Go's profiles, if --pprof-bind-address asks for such pages.
func (p *Process) HandleDebug(path string, handler http.Handler) { p.debug.Handle(path, handler) }

// SecondaryOptions contains the flags about what a secondary controller observes.
type SecondaryOptions struct {
	// Observations are the names of those that are switched on: a subset of the Binary's.
	Observations []string
	// Interval is the time between two observations of an object.
	Interval time.Duration
	// Marker is the ConfigMap that marks the installation; without a name, there is none.
	Marker client.ObjectKey
}

// ClassesAs returns the classes to serve as values of Gardener's type for them.
func ClassesAs[C ~string](p *Process) []C {
	classes := make([]C, 0, len(p.Classes))
	for _, class := range p.Classes {
		classes = append(classes, C(class))
	}
	return classes
}

// Main runs the binary with the arguments of the process until SIGTERM or SIGINT and returns the exit code: 0 after a graceful shutdown, 1 after a
// failure, 2 if the command line is invalid. A second signal ends the process at once.
func Main(binary Binary) int {
	tuneRuntime(binary)
	return binary.run(signals.Context(), os.Args[1:], readEnvironment(), os.Stdout, os.Stderr)
}

// run is Main without globals of the process. The output of commands goes to stdout, errors and logs to stderr.
func (b Binary) run(ctx context.Context, args []string, env environment, stdout, stderr io.Writer) int {
	cfg, err := parseFlags(b, args, env)
	switch {
	case cfg.help:
		_, err = io.WriteString(stdout, helpText(b))
	case cfg.version:
		_, err = fmt.Fprintln(stdout, b.Name, buildinfo.Read())
	case cfg.command == listMetricsCommand && err == nil:
		if err = b.listMetrics(ctx, cfg, stdout); err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", b.Name, err)
		}
	case cfg.command != "" && err == nil:
		if err = b.runCommand(ctx, cfg, stdout); err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", b.Name, err)
		}
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\nRun with --help to see all flags.\n", b.Name, err)
		return exitUsage
	default:
		log := newLogger(cfg.logLevel, cfg.logFormat, stderr)
		if env.setGlobalLogger != nil {
			env.setGlobalLogger(log)
		}
		if err = b.runManager(ctx, cfg, log); err != nil {
			log.Error(err, "Process failed")
			return exitFailure
		}
	}
	if err != nil {
		return exitFailure
	}
	return exitClean
}

// runManager runs everything until ctx ends or something fails.
func (b Binary) runManager(ctx context.Context, cfg config, log logr.Logger) error {
	mgr, err := b.newManager(cfg, log)
	if err != nil {
		return err
	}
	if err := addHealthChecks(mgr); err != nil {
		return err
	}
	debugPages, err := addDebugServer(ctx, mgr, cfg.pprofBindAddress)
	if err != nil {
		return err
	}
	if err := mgr.Add(newReleaser(b)); err != nil {
		return fmt.Errorf("adding the release of memory: %w", err)
	}
	garden, gardenConfig, err := b.newGarden(cfg, mgr)
	if err != nil {
		return err
	}
	logValues := []any{"binary", b.Name, "version", buildinfo.Read().String(), "types", cfg.types}
	if !b.Garden {
		if err := addHeartbeat(mgr, cfg, log); err != nil {
			return err
		}
		logValues = append(logValues, "classes", cfg.classes, "gardenerVersion", cfg.gardenerVersion)
	}
	if err := registerBuildInfo(metrics.Registry); err != nil {
		return err
	}
	process := b.newProcess(cfg, mgr, metrics.Registry)
	process.Garden, process.GardenConfig, process.Log, process.debug = garden, gardenConfig, log, debugPages
	if process.Secondary != nil {
		logValues = append(logValues, "role", cfg.role, "observations", cfg.observations)
	}
	if err := b.Setup(process); err != nil {
		return fmt.Errorf("setting up %s: %w", b.Name, err)
	}
	log.Info("Starting", logValues...)
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running %s: %w", b.Name, err)
	}
	log.Info("Stopped", "binary", b.Name)
	return nil
}

// newProcess returns a process with what the command line says. It has no log, no debug pages and no connection to the garden yet.
func (b Binary) newProcess(cfg config, mgr ctrlmanager.Manager, registerer prometheus.Registerer) *Process {
	process := &Process{
		Name:                      b.Name,
		Manager:                   mgr,
		Types:                     cfg.types,
		Classes:                   cfg.classes,
		MaxConcurrentReconciles:   cfg.maxConcurrentReconciles,
		IgnoreOperationAnnotation: cfg.ignoreOperationAnnotation,
		GardenerVersion:           cfg.gardenerVersion,
		Webhooks:                  cfg.webhooks,
		Registerer:                registerer,
	}
	if cfg.role == roleSecondary {
		process.Secondary = cfg.secondaryOptions()
	}
	return process
}

func (c *config) secondaryOptions() *SecondaryOptions {
	options := &SecondaryOptions{Observations: c.observations, Interval: c.observationInterval}
	if c.cleanupConfigMap != "" {
		options.Marker = client.ObjectKey{Namespace: c.leaderElectionNamespace, Name: c.cleanupConfigMap}
	}
	return options
}

// registerBuildInfo registers a metric with the version of the build, unless the registry has it already.
func registerBuildInfo(registerer prometheus.Registerer) error {
	info := buildinfo.Read()
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "trellis_build_info",
		Help:        "Always 1; the labels identify the build.",
		ConstLabels: prometheus.Labels{"version": info.Version, "commit": info.Commit, "date": info.Date},
	})
	gauge.Set(1)
	err := registerer.Register(gauge)
	if _, registered := errors.AsType[prometheus.AlreadyRegisteredError](err); err != nil && !registered {
		return fmt.Errorf("registering the build's metric: %w", err)
	}
	return nil
}
