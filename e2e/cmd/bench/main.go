// Command bench prints what an Infrastructure costs: calls to the cloud, logins and time, for the first reconcile, one that
// has nothing to do, and the deletion; and what the controller's process takes. It measures the binary as it is shipped,
// ordered by gardenlet's own code, and holds the figures against the budgets of the project.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

const usage = `Usage: make bench, or in the folder e2e: go run ./cmd/bench [flags]

Prints calls, logins and wall time of the Infrastructure of a default shoot (everything made for it, IPv4), for the first
reconcile, one with nothing to do, and the deletion; then the size and the idle memory of the controller.

  --latency D    how long each call to the cloud takes (default 200ms)
  --help         print this page
`

func main() {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage) }
	latency := flags.Duration("latency", 200*time.Millisecond, "")
	switch err := flags.Parse(os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, terminal.New(os.Stdout), *latency)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
