// Command demo shows the life of a shoot's Infrastructure, ControlPlane, Network and Worker in OpenStack or AWS: with two real API servers, one of them
// the shoot's, a fake cloud, our controllers, Gardener's resource managers and machine-controller-manager as processes, and gardenlet's own code as the
// client.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

const usage = `Usage: make demo [CLOUD=openstack|aws] [NETWORK=calico|gardenet] [DEMO_EXIT=1], or in the folder e2e: go run ./cmd/demo [flags]

Brings up a real API server with Gardener's CRDs, a fake cloud, the infrastructure-controller, the controlplane-controller, the
network-controller and the worker-controller. Creates a shoot's Infrastructure as gardenlet does, shows how it comes into being
and what then exists in the cloud. Starts a second API server for the shoot, creates the ControlPlane and the Network, and shows
what then exists in the seed and in the shoot. Creates the Worker: machine-controller-manager and our machine controller make
servers, which become Nodes; one pool grows and shrinks again, another gets a new image. Stays up until Ctrl-C. Nothing is left
behind.

In OpenStack, it shows besides how the real cloud-controller-manager initializes the nodes, switches the overlay off, and shows how the
Network changes in stages. In AWS, the shoot has three zones.

  --cloud NAME   openstack or aws (default openstack). The variable CLOUD of make demo says the same.
  --network NAME calico or gardenet (default calico). The variable NETWORK of make demo says the same.
  --exit         delete all at once in gardenlet's order, prove that namespaces and cloud are empty, and end; exit code 1 if
                 they are not. The environment variable DEMO_EXIT=1 says the same.
  --latency D    how long each call to the cloud takes (default 700ms: slow enough to watch)
  --help         print this page

Output that does not go to a terminal is plain; NO_COLOR=1 leaves out the colours.
`

func main() {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage) }
	name := flags.String("cloud", "", "")
	network := flags.String("network", "", "")
	exit := flags.Bool("exit", os.Getenv("DEMO_EXIT") != "" && os.Getenv("DEMO_EXIT") != "0", "")
	latency := flags.Duration("latency", 700*time.Millisecond, "")
	switch err := flags.Parse(os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		os.Exit(2)
	}
	in, err := cloudNamed(*name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(2)
	}

	plugin, err := pluginNamed(*network)
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = run(ctx, terminal.New(os.Stdout), in, plugin, *latency, *exit)
	interrupted := ctx.Err() != nil // stop ends the context, too
	stop()
	if err != nil && !interrupted {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}
