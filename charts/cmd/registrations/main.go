// Command registrations writes what an admin applies so that Gardener knows Trellis, and checks a landscape: does everything that
// its seeds want have exactly one extension that fulfils it?
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `Usage: registrations COMMAND [flags]

  generate   write ControllerRegistrations, ControllerDeployments and operator Extensions from the catalogue
  check      look into a virtual garden: what does each seed want, who serves it, what is missing

"registrations COMMAND --help" says more. In the repository: make registrations, make registrations CHECK=<kubeconfig>.
`

// Exit codes.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

// errFound ends a check that has printed what is wrong.
var errFound = errors.New("not everything is as it should be")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from then on a signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(errOut, usage)
		return exitUsage
	}
	var err error
	switch args[0] {
	case "generate":
		err = generate(args[1:], out)
	case "check":
		err = check(ctx, args[1:], out)
	case "help", "--help", "-help", "-h":
		fmt.Fprint(out, usage)
		return exitOK
	default:
		fmt.Fprintf(errOut, "registrations: there is no command %q\n\n%s", args[0], usage)
		return exitUsage
	}
	var misuse usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &misuse):
		fmt.Fprintf(errOut, "registrations %s: %v\n", args[0], err)
		return exitUsage
	case errors.Is(err, errFound):
		return exitFailed // said in the output
	default:
		fmt.Fprintf(errOut, "registrations %s: %v\n", args[0], err)
		return exitFailed
	}
}

// usageError is a command line that was not understood.
type usageError struct{ error }

// parse reads flags that take no further arguments. Its errors are of type usageError, or flag.ErrHelp once help is printed.
func parse(flags *flag.FlagSet, args []string, help string, out io.Writer) error {
	flags.SetOutput(io.Discard)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(out, help)
			return err
		}
		return usageError{err}
	}
	if flags.NArg() > 0 {
		return usageError{fmt.Errorf("%q is not understood; --help lists the flags", flags.Arg(0))}
	}
	return nil
}
