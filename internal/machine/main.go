package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/app"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/app/options"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/trellis-garden/trellis/internal/buildinfo"
	"github.com/trellis-garden/trellis/internal/metriclist"
	"github.com/trellis-garden/trellis/internal/signals"
)

const (
	exitClean   = 0
	exitFailure = 1
	exitUsage   = 2
	// shutdownTimeout is how long the shutdown waits for running changes. A pod has 30 seconds.
	shutdownTimeout = 20 * time.Second
)

// Driver is a machine driver that can be stopped.
type Driver interface {
	driver.Driver
	// Close prevents further changes, and returns when running ones have ended.
	Close(ctx context.Context) error
}

// Binary is a machine controller for one kind of cloud.
type Binary struct {
	// Name is the name of the binary, Description a sentence about it.
	Name, Description string
	// New returns the driver.
	New func(log logr.Logger, registerer prometheus.Registerer) (Driver, error)
}

// Main runs the binary with the arguments of the process until SIGTERM or SIGINT and returns the exit code: 0 after a regular end, 1 after a
// failure, 2 if the command line is invalid. A second signal ends the process at once. MCM's library ends the process itself if it
// loses the leadership or a required resource.
func Main(binary Binary) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // it allocates little and waits much; $GOGC takes precedence
	}
	return binary.run(signals.Context(), os.Args[1:], os.Stdout, os.Stderr)
}

// run is Main without the process. Results of commands go to stdout, errors and logs to stderr.
func (b Binary) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	server := options.NewMCServer()
	flags := pflag.NewFlagSet(b.Name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	version := flags.Bool("version", false, "Print which build this is.")
	listMetrics := flags.Bool("list-metrics", false, "Print the binary's own metrics as JSON: name, type, labels and help.")
	server.AddFlags(flags)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(stdout, "%s\n\nUsage:\n  %s --target-kubeconfig=FILE --namespace=NAME [flags]\n\nFlags:\n%s", b.Description, b.Name, flags.FlagUsagesWrapped(140))
		return exitClean
	case err == nil && *version:
		fmt.Fprintln(stdout, b.Name, buildinfo.Read())
		return exitClean
	case err == nil && *listMetrics:
		if err := b.listMetrics(stdout); err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", b.Name, err)
			return exitFailure
		}
		return exitClean
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil:
		err = server.Validate()
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\nRun with --help to see all flags.\n", b.Name, err)
		return exitUsage
	}
	log := newLogger(flags.Lookup("v").Value.String(), stderr)
	klog.SetLogger(log)
	if err := b.serve(ctx, server, log); err != nil {
		log.Error(err, "Process failed")
		return exitFailure
	}
	return exitClean
}

// serve runs the library until the context or the library ends.
func (b Binary) serve(ctx context.Context, server *options.MCServer, log logr.Logger) error {
	if err := registerBuildInfo(prometheus.DefaultRegisterer); err != nil {
		return err
	}
	machineDriver, err := b.New(log.WithName("driver"), prometheus.DefaultRegisterer)
	if err != nil {
		return fmt.Errorf("making the driver: %w", err)
	}
	log.Info("Starting", "binary", b.Name, "version", buildinfo.Read().String(), "namespace", server.Namespace)
	ended := make(chan error, 1)
	go func() { ended <- app.Run(server, machineDriver) }()
	select {
	case err := <-ended:
		return fmt.Errorf("running %s: %w", b.Name, err)
	case <-ctx.Done():
	}
	// The next process finds everything from the cloud and the Machines. But a request without a response may take effect after the next process
	// has read the cloud.
	closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := machineDriver.Close(closeCtx); err != nil {
		log.Info("Stopping before all requests are answered", "reason", err.Error())
	}
	log.Info("Stopped", "binary", b.Name)
	return nil
}

// listMetrics writes the metrics that the driver and the process register.
func (b Binary) listMetrics(out io.Writer) error {
	recorder := metriclist.NewRecorder()
	if err := registerBuildInfo(recorder); err != nil {
		return err
	}
	if _, err := b.New(logr.Discard(), recorder); err != nil {
		return fmt.Errorf("making the driver: %w", err)
	}
	metrics, err := recorder.List()
	if err != nil {
		return err
	}
	return metriclist.Write(out, metrics)
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
	if err := registerer.Register(gauge); err != nil {
		return fmt.Errorf("registering the build's metric: %w", err)
	}
	return nil
}
