// Command bench prints the costs of an Infrastructure: requests to the cloud, logins and time, for the first reconciliation, one without changes,
// its repetition, and the deletion; the memory of the controller's process; the same for a hundred machines; and what the controllers of all contracts cost
// with numbers of shoots, and the secondary controllers beside them. It measures the binaries as they are released, with gardenlet's own code as the client, and compares the figures with the
// project's budgets, with the recorded ones of the upstream extension, and with those of a real cloud. It also prints the response times of a Shoot
// in admission, and the memory of that process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/stack"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

const usage = `Usage: make bench, or in the folder e2e: go run ./cmd/bench [flags]

Prints calls, logins and wall time of the Infrastructure of a default shoot (everything made for it, IPv4), for the first
reconcile, one with nothing to do, its repetition, and the deletion; then the size and the idle memory of the controller. It is
measured on the fake OpenStack, and again on a real cloud where there is one: the calls must be the same, by name.
The same is counted for a shoot in one and in three zones of the fake AWS, beside what upstream's code would call.
Then prints the calls of a hundred machines of one pool by name, those of one machine more in their order, and those of their
deletion: on the fake, by machine-controller-manager and our machine controller, with simulated nodes. And again at 50 ms
with servers that are ready at once, the conditions of the upstream extension's figures; then by the machine driver alone, 50 at
a time, as the upstream extension's was measured.
Then starts the controllers of all contracts, and creates, reconciles, leaves alone and deletes numbers of shoots, and restarts
the controllers between: time, processor time, memory, requests to the API server, calls of the cloud (50 ms each). What a
shoot costs must not depend on how many there are.
Then starts the secondary controllers beside a hundred shoots of two accounts, and prints what their observations cost: calls of
the cloud for each account and interval, requests to the API server for each object and interval, processor time, memory.
Then prints how long admission takes for a Shoot, with a real garden to look things up in, and what its process takes meanwhile.

  --latency D    how long each call to the fake takes (default 200ms)
  --cloud ENTRY  the real cloud, as an administrator's entry in clouds.yaml, the file that OS_CLIENT_CONFIG_FILE names
                 (default: the one that make openstack-up has brought up, if it runs; OS_CLOUD is not enough)
  --dir DIR      the state directory of the one that make openstack-up has brought up (default %s)
  --only PART    one of infrastructure, aws, machines, scale, secondaries, admission (default: all, one after the other)
  --scale LIST   the numbers of shoots, with commas, in ascending order; none for no such measurement (default 1,10,100)
  --idle D       how long shoots are left alone (default 40s, in which the health of each was checked at least once)
  --json FILE    write the results to a file
  --results DIR  write them to a folder as results.json, results.md and plots as SVG, such as docs/performance
  --help         print this page

In the real cloud, a project and a user are made and removed again. Ctrl-C removes them, too; a second one does not wait.

At the end stands a comparison with the upstream extension, a monolith, whose figures are a record (monolith.yaml).

Exit codes: 0 done, 1 failed, over budget, or a comparison was lost, 2 not understood.
`

func main() {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprintf(flags.Output(), usage, stack.DefaultDir) }
	var o options
	flags.DurationVar(&o.latency, "latency", 200*time.Millisecond, "")
	flags.StringVar(&o.entry, "cloud", "", "")
	flags.StringVar(&o.dir, "dir", stack.DefaultDir, "")
	flags.StringVar(&o.only, "only", "", "")
	flags.DurationVar(&o.idle, "idle", 40*time.Second, "")
	flags.StringVar(&o.json, "json", "", "")
	flags.StringVar(&o.folder, "results", "", "")
	o.scale = []int{1, 10, 100}
	flags.Func("scale", "", func(text string) (err error) {
		o.scale, err = parseScale(text)
		return err
	})
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

// parseScale reads numbers of shoots. They ascend, since each is compared with the one before.
func parseScale(text string) ([]int, error) {
	if text == "" || text == "none" {
		return nil, nil
	}
	var numbers []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a number of shoots; give numbers with commas, such as 1,10,100", word)
		}
		if len(numbers) > 0 && n <= numbers[len(numbers)-1] {
			return nil, fmt.Errorf("%d does not exceed the number before it; give them in ascending order", n)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}
