// Command bench prints the costs of an Infrastructure: requests to the cloud, logins and time, for the first reconciliation, one without changes,
// its repetition, and the deletion; the memory of the controller's process; and the same for a hundred machines. It measures the binary as it is released, with
// gardenlet's own code as the client, and compares the figures with the project's budgets, and with those of a real cloud. It also prints the
// response times of a Shoot in admission, and the memory of that process.
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

	"github.com/trellis-garden/trellis/e2e/internal/stack"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

const usage = `Usage: make bench, or in the folder e2e: go run ./cmd/bench [flags]

Prints calls, logins and wall time of the Infrastructure of a default shoot (everything made for it, IPv4), for the first
reconcile, one with nothing to do, its repetition, and the deletion; then the size and the idle memory of the controller. It is
measured on the fake OpenStack, and again on a real cloud where there is one: the calls must be the same, by name.
Then prints the calls of a hundred machines of one pool by name, those of one machine more in their order, and those of their
deletion: on the fake, by machine-controller-manager and our machine controller, with simulated nodes.
Then prints how long admission takes for a Shoot, with a real garden to look things up in, and what its process takes meanwhile.

  --latency D    how long each call to the fake takes (default 200ms)
  --cloud ENTRY  the real cloud, as an administrator's entry in clouds.yaml, the file that OS_CLIENT_CONFIG_FILE names
                 (default: the one that make openstack-up has brought up, if it runs; OS_CLOUD is not enough)
  --dir DIR      the state directory of the one that make openstack-up has brought up (default %s)
  --only PART    one of infrastructure, machines, admission (default: all, one after the other)
  --help         print this page

In the real cloud, a project and a user are made and removed again. Ctrl-C removes them, too; a second one does not wait.

Exit codes: 0 done, 1 failed, or the calls differ or are more than a machine may cost, 2 not understood.
`

func main() {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprintf(flags.Output(), usage, stack.DefaultDir) }
	var o options
	flags.DurationVar(&o.latency, "latency", 200*time.Millisecond, "")
	flags.StringVar(&o.entry, "cloud", "", "")
	flags.StringVar(&o.dir, "dir", stack.DefaultDir, "")
	flags.StringVar(&o.only, "only", "", "")
	switch err := flags.Parse(os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from then on a signal ends the program at once
	err := run(ctx, terminal.New(os.Stdout), o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
