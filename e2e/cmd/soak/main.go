// Command soak runs the controllers of all contracts, two replicas of each, with many shoots under faults: restarts of the API server, errors and
// overload of the cloud, expired tokens, killed leaders, and clocks that differ. Meanwhile shoots are reconciled, deleted and created again. At the
// end all of them must be healthy, the cloud must have what it had at the start, and no process may have grown.
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

const usage = `Usage: make soak, or in the folder e2e: go run ./cmd/soak [flags]

Creates shoots with Infrastructure, ControlPlane, Network and Worker in one seed with a fake OpenStack, and two replicas of
each controller. Then, in an order that the seed of the random numbers determines, causes faults: the API server is killed and
started again, the cloud answers 429 or 5xx or loses responses, all tokens expire, leaders are killed, the clocks of the
cloud, of gardenlet and of Leases differ by up to two days. Meanwhile shoots are reconciled, deleted and created again.
Leaders are killed in the first half only, so that the processes of the second half can be compared with themselves.

Fails if a shoot does not become healthy again, the cloud has more or less than before, a controller keeps more memory
or goroutines at the end than in the middle, or anything is left after the deletion of all shoots.

  --shoots N     the number of shoots (default 200)
  --duration D   how long faults are caused (default 10m)
  --rounds N     cause all kinds of faults N times in each half, instead of a duration
  --seed N       the seed of the random numbers, which is printed (default: another one each time)
  --help         print this page

Ctrl-C ends all processes, and removes all files.

Exit codes: 0 done, 1 failed, 2 not understood.
`

func main() {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage) }
	var o options
	flags.IntVar(&o.shoots, "shoots", 200, "")
	flags.DurationVar(&o.duration, "duration", 10*time.Minute, "")
	flags.IntVar(&o.rounds, "rounds", 0, "")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "")
	err := flags.Parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err == nil {
		if err = o.check(flags.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "soak:", err)
		}
	}
	if err != nil {
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from then on a signal ends the program at once
	err = run(ctx, terminal.New(os.Stdout), o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}
