// Command landscape runs a whole Gardener landscape on this machine, with our controllers installed from their registrations, and takes a Shoot
// through its life.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/trellis-garden/trellis/e2e/internal/gardener"
	"github.com/trellis-garden/trellis/e2e/internal/isolation"
	"github.com/trellis-garden/trellis/e2e/internal/lifecycle"
)

const usage = `Usage: landscape [flags]

Runs a Gardener landscape on this machine: etcds, API servers of a garden, a seed and shoots, gardener-apiserver,
gardener-controller-manager, gardenlet and all that gardenlet deploys and that there is a program for, and our controllers,
which gardenlet installs from the registrations in charts/registrations. What is only simulated is printed, with reasons.

All of it are processes with a network, mounts and a process tree of their own. They use no port of this machine, and end
with this command, whatever happens. Needs root on Linux, and 6 GiB of memory.

  --cloud C     the cloud of shoots: fake (default)
  --dir D       the folder for files and logs, new or empty (default: a new one below %s)
  --seeds N     how many seeds: 1 (default), or 2 for the step that moves a control plane
  --keep        after the last step, leave everything running until Ctrl-C, and print how to look around
  --steps LIST  steps of the Shoot's life, separated by commas (default: all); none: only garden and seed
  --without R   do not register R of our registrations (%s): the run must fail, and name it
  --help        print this page

Steps:
%s
Exit codes: 0 done, 1 failed, 2 not understood, 3 this machine cannot run it (the sentences say what it needs).
`

// The exit codes.
const (
	failed        = 1
	notUnderstood = 2
	cannotRun     = 3
)

// noSteps is the list of steps that has none.
const noSteps = "none"

// options are those of the command line.
type options struct {
	cloud, dir string
	keep       bool
	seedCount  int
	steps      []string // nil for all
	without    string   // one of registrations
}

func main() {
	isolated := isolation.Begin(gardener.Network())
	ctrllog.SetLogger(logr.Discard()) // what runs in this process reports errors by itself
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], isolated)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, arguments []string, isolated bool) int {
	parsed, err := parse(arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "landscape:", err, "(try --help)")
		return notUnderstood
	}
	if isolated {
		if err := runIsolated(ctx, parsed, newReporter(os.Stdout)); err != nil {
			fmt.Fprintf(os.Stderr, "\nlandscape: %v\nLogs: %s\n", err, parsed.dir)
			return failed
		}
		return 0
	}
	if needs := unmetNeeds(); len(needs) > 0 {
		fmt.Fprintln(os.Stderr, "landscape: this machine cannot run it:\n  "+strings.Join(needs, "\n  "))
		return cannotRun
	}
	code, err := prepareAndIsolate(ctx, parsed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "landscape:", err)
		return failed
	}
	return code
}

// prepareAndIsolate builds all programs, which may take the network of this machine, and runs this command again without it.
func prepareAndIsolate(ctx context.Context, o options) (int, error) {
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "trellis-landscape-")
		if err != nil {
			return 0, err
		}
		os.Args = append(os.Args, "--dir="+dir)
	} else if entries, err := os.ReadDir(o.dir); err == nil && len(entries) > 0 {
		return 0, fmt.Errorf("the folder %s is not empty; a landscape begins without objects of another one", o.dir)
	}
	if err := o.buildPrograms(ctx, os.Stderr); err != nil {
		return 0, err
	}
	return isolation.Run()
}

func parse(arguments []string) (options, error) {
	var o options
	var steps string
	flags := flag.NewFlagSet("landscape", flag.ContinueOnError)
	flags.SetOutput(os.Stderr)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), usage, os.TempDir(), strings.Join(registrations(), ", "), describeSteps())
	}
	flags.StringVar(&o.cloud, "cloud", "fake", "")
	flags.StringVar(&o.dir, "dir", "", "")
	flags.IntVar(&o.seedCount, "seeds", 1, "")
	flags.BoolVar(&o.keep, "keep", false, "")
	flags.StringVar(&steps, "steps", "", "")
	flags.StringVar(&o.without, "without", "", "")
	if err := flags.Parse(arguments); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if o.cloud != "fake" {
		return options{}, fmt.Errorf("unknown cloud %q", o.cloud)
	}
	if most := len(gardener.SeedSpecs()); o.seedCount < 1 || o.seedCount > most {
		return options{}, fmt.Errorf("there can be 1 to %d seeds", most)
	}
	if o.without != "" && !slices.Contains(registrations(), o.without) {
		return options{}, fmt.Errorf("there is no registration %q; they are %s", o.without, strings.Join(registrations(), ", "))
	}
	if o.dir != "" {
		var err error
		if o.dir, err = filepath.Abs(o.dir); err != nil {
			return options{}, err
		}
	}
	if steps == "" {
		return o, nil
	}
	o.steps = strings.Split(steps, ",")
	if steps != noSteps {
		if _, err := lifecycle.Select(o.steps); err != nil {
			return options{}, err
		}
	}
	return o, nil
}
