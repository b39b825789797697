// Command fakecloud serves the fake OpenStack of internal/cloud/openstack/fake as a program, so that it can run in a pod. URLs in its responses
// have the host of the request, so that all clients can use its catalog. Faults are injected by HTTP, too, below /-/. Its state is in memory.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("fakecloud", flag.ContinueOnError)
	listen := flags.String("listen", ":5000", "`address` to serve on, all services and the admin API")
	latency := flags.Duration("latency", 0, "how long each call takes before it has an effect")
	build := flags.Duration("server-build", 0, "how long a server takes from BUILD to ACTIVE")
	remove := flags.Duration("server-delete", 0, "how long a server takes until it is gone")
	images := flags.String("images", "", "comma-separated `names` of images to have besides its own, for x86_64")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	cloud := fake.New(
		fake.WithLatency(*latency), transition(fake.ServerBuild, *build), transition(fake.ServerDelete, *remove),
	)
	for name := range strings.SplitSeq(*images, ",") {
		if name != "" {
			cloud.AddImage(name, "x86_64")
		}
	}
	if err := cloud.Start(*listen); err != nil {
		return err
	}
	fmt.Println("serving at", cloud.AuthURL())
	<-ctx.Done()
	return cloud.Close()
}

func transition(kind string, after time.Duration) fake.Option {
	return fake.WithTransition(kind, fake.Transition{After: after})
}
