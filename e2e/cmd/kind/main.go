// Command kind prepares a machine for clusters in Docker: it prints what the machine lacks, and builds the image of their nodes.
// It changes nothing outside of the checkout and Docker's images.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/trellis-garden/trellis/e2e/internal/nodeimage"
)

const usage = `Usage: go run ./cmd/kind <command>

  needs               tell what this machine has and lacks for clusters in Docker; fails if it cannot do without
  node-image [-own]   make sure that there is an image for nodes, and print its name; -own builds one also where the official one can
                      be pulled

%s names an image that is there already; %s a mirror of Debian's packages.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "kind:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = []string{"help"}
	}
	switch args[0] {
	case "needs":
		return reportNeeds(ctx, os.Stdout)
	case "node-image":
		return nodeImage(ctx, args[1:])
	default:
		fmt.Fprintf(os.Stderr, usage, nodeimage.Variable, nodeimage.MirrorVariable)
		return flag.ErrHelp
	}
}

func nodeImage(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("node-image", flag.ContinueOnError)
	own := flags.Bool("own", false, "build an image of our own even if the official one can be had")
	if err := flags.Parse(args); err != nil {
		return flag.ErrHelp
	}
	ensure := nodeimage.Ensure
	if *own {
		ensure = nodeimage.Build
	}
	image, err := ensure(ctx, os.Stderr)
	if err != nil {
		return err
	}
	fmt.Println(image)
	return nil
}
