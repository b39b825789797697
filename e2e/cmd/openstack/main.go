// Command openstack starts and stops a real OpenStack on this machine.
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

	"github.com/trellis-garden/trellis/e2e/internal/stack"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

const usage = `Usage: openstack COMMAND [flags]

Runs a real OpenStack (release Zed, from Debian's packages: Keystone, Placement, Glance, Nova, Neutron, Cinder, Octavia) as
plain processes on loopback. APIs, policy, address management, scheduling and state machines are the stock code; only what
would need hardware is replaced: servers are objects that nothing runs in, networks carry no packets, volumes no bytes.
Needs Debian 12, root, 4 GiB of memory and 2 GiB of disk, and a package mirror when packages are missing.

Its passwords are public. Therefore everything listens on loopback only, the state directory is open to root alone, and the
databases' account has rights to the cloud's databases and to no file. Who may log in to this machine can still use the
cloud as its administrator: bring it up only where you trust those who can.

  up            install what is missing, start what is not running, fill it with zones, flavors, images and the network
                "public", and write clouds.yaml (clouds admin, member, member-appcred). Do it again at any time. Units of
                packages that it installs are disabled in systemd: nothing of them runs but what it starts itself.
  down          end all processes and remove all state; Debian's packages and the cache stay
  down --keep   end all processes and keep the state. Don't keep servers: the fake hypervisors forget them.
  status        print what runs; exit code 1 unless everything does

  --dir D       the state directory (default %s; there is one cloud per machine, since ports are fixed)
  --cache D     up: where a dump of the fresh databases is kept, which saves their migrations the next time
                (default %s; empty: none)
  --help        print this page

To look around:

  export OS_CLIENT_CONFIG_FILE=%s/clouds.yaml
  /usr/bin/openstack --os-cloud member network list

Exit codes: 0 done, 1 failed, 2 not understood, 3 this machine cannot run it (the sentences say what it needs).
`

// The exit codes.
const (
	failed        = 1
	notUnderstood = 2
	cannotRun     = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

type command struct {
	name, dir, cache string
	keep             bool
}

func run(ctx context.Context, arguments []string) int {
	c, err := parse(arguments, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "openstack:", err, "(try --help)")
		return notUnderstood
	}
	err = c.do(ctx, terminal.New(os.Stdout))
	var unfit *stack.UnfitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &unfit):
		fmt.Fprintln(os.Stderr, "openstack:", unfit)
		return cannotRun
	case ctx.Err() != nil:
		fmt.Fprintf(os.Stderr, "openstack: interrupted. What was started goes on running; `down --dir %s` ends it.\n", c.dir)
	default:
		fmt.Fprintln(os.Stderr, "openstack:", err)
	}
	return failed
}

// parse parses the command line. Flags may be on both sides of the command.
func parse(arguments []string, out io.Writer) (*command, error) {
	c := &command{}
	flags := flag.NewFlagSet("openstack", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&c.dir, "dir", stack.DefaultDir, "")
	flags.StringVar(&c.cache, "cache", stack.DefaultCache, "")
	flags.BoolVar(&c.keep, "keep", false, "")
	for rest := arguments; ; rest = flags.Args()[1:] {
		if err := flags.Parse(rest); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fmt.Fprintf(out, usage, stack.DefaultDir, stack.DefaultCache, stack.DefaultDir)
			}
			return nil, err
		}
		if flags.NArg() == 0 {
			break
		}
		if c.name != "" {
			return nil, fmt.Errorf("%q is one command too many", flags.Arg(0))
		}
		c.name = flags.Arg(0)
	}
	switch c.name {
	case "up", "down", "status":
	case "":
		return nil, errors.New("a command is missing")
	default:
		return nil, fmt.Errorf("there is no command %q", c.name)
	}
	if c.keep && c.name != "down" {
		return nil, errors.New("--keep belongs to down")
	}
	return c, nil
}

func (c *command) do(ctx context.Context, screen *terminal.Screen) error {
	s, err := stack.New(c.dir, screen)
	if err != nil {
		return err
	}
	switch c.name {
	case "up":
		return s.Up(ctx, c.cache)
	case "down":
		return s.Down(ctx, c.keep)
	default:
		all, err := s.Status()
		if err == nil && !all {
			err = errors.New("not everything runs")
		}
		return err
	}
}
