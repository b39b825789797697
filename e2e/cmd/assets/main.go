// Command assets builds the third-party programs that tests and the demo run, and prints the folder that holds them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
)

// controlPlane, machines, aws, calico and gardener are names for several programs.
const (
	controlPlane = "control-plane"
	machines     = "machines"
	aws          = "aws"
	calico       = "calico"
	gardener     = "gardener"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), `Usage: go run ./cmd/assets [program...]

Builds the programs that are missing or out of date and prints the folder that holds them.
Programs: %s. None given: %s.
%s stands for all that tests of control planes run, %s for all that tests of machines run, %s for AWS' that tests of
control planes there run besides, %s for Calico's that tests of networks run besides, %s for Gardener's that the landscape runs besides.
The folder is .cache/envtest of the checkout, or the one that %s names.
`, strings.Join(assets.Names(), ", "), strings.Join(assets.APIServer(), " and "), controlPlane, machines, aws, calico, gardener, assets.DirVariable)
	}
	flag.Parse()
	names := programs(flag.Args())

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	dir, err := assets.Ensure(ctx, os.Stderr, names...)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
	fmt.Println(dir)
}

// programs are those that the arguments name.
func programs(args []string) []string {
	if len(args) == 0 {
		return assets.APIServer()
	}
	var names []string
	for _, arg := range args {
		switch arg {
		case controlPlane:
			names = append(names, assets.ControlPlane()...)
		case machines:
			names = append(names, assets.Machines()...)
		case aws:
			names = append(names, assets.AWS()...)
		case calico:
			names = append(names, assets.Calico()...)
		case gardener:
			names = append(names, assets.Gardener()...)
		default:
			names = append(names, arg)
		}
	}
	return names
}
