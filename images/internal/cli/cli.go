// Package cli runs the commands of this module: signals, help, messages and exit codes are the same for all. It must not know a command.
package cli

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

// The exit codes besides 0.
const (
	ExitFailed = 1
	ExitUsage  = 2
)

// Program is a program with its help.
type Program struct {
	Name, Usage string
	// Run runs the program with the arguments after its name. It returns flag.ErrHelp for help, and a UsageError if it does not understand the
	// arguments.
	Run func(ctx context.Context, args []string, out io.Writer) error
}

// UsageError is an error of the command line.
type UsageError struct{ Err error }

// Error is that of Err.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e UsageError) Unwrap() error { return e.Err }

// Main runs the program with the arguments of the process until it ends, or is interrupted, and returns the exit code.
func (p Program) Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return p.Do(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// Do runs the program, prints what it ends with, and returns the exit code.
func (p Program) Do(ctx context.Context, args []string, out, problems io.Writer) int {
	err := p.Run(ctx, args, out)
	_, isUsage := errors.AsType[UsageError](err)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, p.Usage)
		return 0
	case isUsage:
		fmt.Fprintf(problems, "%s: %v\nTry \"%[1]s --help\".\n", p.Name, err)
		return ExitUsage
	default:
		fmt.Fprintf(problems, "%s: %v\n", p.Name, err)
		return ExitFailed
	}
}
