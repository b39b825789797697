package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"

	"github.com/trellis-garden/trellis/cmd/gardenet-service-router/internal/router"
	"github.com/trellis-garden/trellis/internal/buildinfo"
	"github.com/trellis-garden/trellis/internal/logging"
	"github.com/trellis-garden/trellis/internal/memory"
	"github.com/trellis-garden/trellis/internal/signals"
)

const (
	exitClean   = 0
	exitFailure = 1
	exitUsage   = 2

	// gcPercent is how much garbage is collected, in percent of what is in use, and processors bounds how many of them run Go code: there is a router on each node
	// of a shoot, and it is idle most of the time.
	gcPercent, processors = 30, 2

	name        = "gardenet-service-router"
	description = "Routes the Services of a shoot without kube-proxy on the node that it runs on, by rules of nftables.\nWhen it ends, all of them stay as they are.\n"
)

// Main runs the router with the arguments of the process until SIGTERM or SIGINT and returns the exit code: 0 after a regular end, 1 after a failure, 2 if the
// command line is invalid.
func Main() int {
	memory.Tune(gcPercent, processors)
	return run(signals.Context(), os.Args[1:], os.Getenv("NODE_NAME"), os.Stdout, os.Stderr, restart)
}

// restart replaces the process by a new one with the same arguments.
func restart() error { return unix.Exec("/proc/self/exe", os.Args, os.Environ()) }

// run is Main without the process. Results of commands go to stdout, errors and logs to stderr.
func run(ctx context.Context, args []string, node string, stdout, stderr io.Writer, restart func() error) int {
	o := &options{}
	flags := o.flags(node)
	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintf(stdout, "%s\nUsage:\n  %s [flags]\n\n%s", description, name, flags.FlagUsages())
		return exitClean
	}
	if err == nil && o.version {
		fmt.Fprintln(stdout, name, buildinfo.Read())
		return exitClean
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("%q: unexpected argument", flags.Arg(0))
	}
	if err == nil {
		err = o.complete()
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\nRun with --help to see all flags.\n", name, err)
		return exitUsage
	}
	log := logging.New(o.logLevel, o.logFormat, stderr)
	klog.SetLogger(log)
	err = serve(ctx, *o, log)
	if errors.Is(err, router.ErrHandedOver) {
		log.Info("Starting anew", "reason", err.Error())
		err = restart()
	}
	if err != nil {
		log.Error(err, "Process failed")
		return exitFailure
	}
	return exitClean
}
