package command

import (
	"context"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"

	"github.com/trellis-garden/trellis/internal/buildinfo"
	"github.com/trellis-garden/trellis/internal/gardenet/agent"
	"github.com/trellis-garden/trellis/internal/gardenet/agent/plugins"
	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/logging"
	"github.com/trellis-garden/trellis/internal/memory"
	"github.com/trellis-garden/trellis/internal/metriclist"
	"github.com/trellis-garden/trellis/internal/signals"
)

const (
	exitClean   = 0
	exitFailure = 1
	exitUsage   = 2

	// gcPercent is how much garbage is collected, in percent of what is in use, and processors bounds how many of them run Go code: there is an agent on each node
	// of a shoot, and it is idle most of the time.
	gcPercent, processors = 30, 1
)

// Binary is a node agent.
type Binary struct {
	// Name is the name of the binary, Description a sentence about it.
	Name, Description string
	// Compute computes what a node has to have.
	Compute func(desired.Input) (desired.State, error)
	// NewKernel returns what changes the node.
	NewKernel func(options KernelOptions) (agent.Kernel, error)
	// Denied reports packets that policies forbid.
	Denied func(ctx context.Context, report func(agent.DeniedPacket)) error
}

// KernelOptions are what the command line says about the node.
type KernelOptions struct {
	// NFT is the name or path of the program nft.
	NFT string
	// HostRoot is the folder that the node's file system is mounted at.
	HostRoot string
}

// environment is what the process reads from its environment.
type environment struct {
	// node is the name of the own Node, if the pod's template sets it.
	node string
}

// Main runs the binary with the arguments of the process until SIGTERM or SIGINT and returns the exit code: 0 after a regular end, 1 after a failure, 2 if
// the command line is invalid. A second signal ends the process at once. Nothing of the node's network is withdrawn.
func Main(binary Binary) int {
	memory.Tune(gcPercent, processors)
	return binary.run(signals.Context(), os.Args[1:], environment{node: os.Getenv("NODE_NAME")}, os.Stdout, os.Stderr)
}

// run is Main without the process. Results of commands go to stdout, errors and logs to stderr.
func (b Binary) run(ctx context.Context, args []string, env environment, stdout, stderr io.Writer) int {
	o, err := parse(args, env)
	switch {
	case o.help:
		fmt.Fprint(stdout, helpText(b, o.install))
		return exitClean
	case o.version:
		fmt.Fprintln(stdout, b.Name, buildinfo.Read())
		return exitClean
	case o.listMetrics:
		err = b.listMetrics(stdout)
		if err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", b.Name, err)
			return exitFailure
		}
		return exitClean
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\nRun with --help to see all flags.\n", b.Name, err)
		return exitUsage
	}
	log := logging.New(o.logLevel, o.logFormat, stderr)
	klog.SetLogger(log)
	if o.install {
		err = plugins.Install(ctx, o.from, o.to, plugins.Names(), log)
	} else {
		err = b.serve(ctx, o, log)
	}
	if err != nil {
		log.Error(err, "Process failed")
		return exitFailure
	}
	return exitClean
}

// listMetrics writes the metrics that the process registers.
func (b Binary) listMetrics(out io.Writer) error {
	recorder := metriclist.NewRecorder()
	if err := registerBuildInfo(recorder); err != nil {
		return err
	}
	if err := agent.RegisterMetrics(recorder); err != nil {
		return err
	}
	metrics, err := recorder.List()
	if err != nil {
		return err
	}
	return metriclist.Write(out, metrics)
}
