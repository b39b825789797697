// Command fakecloud serves the fake OpenStack of internal/cloud/openstack/fake as a program, so that it can run in a pod. URLs in its responses
// have the host of the request, so that all clients can use its catalog. Faults are injected by HTTP, too, below /-/. It also serves the fake of the
// example cloud. Their state is in memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	example "github.com/trellis-garden/trellis/internal/cloud/example/fake"
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
	exampleListen := flags.String("example-listen", "", "`address` to serve the example cloud on; empty for none")
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
	stopExample, err := serveExample(*exampleListen)
	if err != nil {
		return errors.Join(err, cloud.Close())
	}
	<-ctx.Done()
	return errors.Join(stopExample(), cloud.Close())
}

// serveExample serves the fake of the example cloud, which listens on loopback, on an address for pods.
func serveExample(address string) (stop func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	cloud, err := example.Start()
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(cloud.URL())
	if err != nil {
		return nil, errors.Join(err, cloud.Close())
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listening for the example cloud: %w", err), cloud.Close())
	}
	server := &http.Server{Handler: httputil.NewSingleHostReverseProxy(target), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // it ends with Close
	fmt.Println("serving the example cloud at", address)
	return func() error { return errors.Join(server.Close(), cloud.Close()) }, nil
}

func transition(kind string, after time.Duration) fake.Option {
	return fake.WithTransition(kind, fake.Transition{After: after})
}
