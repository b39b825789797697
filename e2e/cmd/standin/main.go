// Command standin replaces a program that has no image here, in pods that only have to exist. It accepts any arguments, prints them, and runs
// until it receives a signal. It can:
//
//   - answer each request to a port with 200, as the liveness probe of a storage driver does, with the argument --health-port=N.
//   - connect to a server and exit, with --dial=HOST:PORT, and fail if that takes longer than eight seconds: a network needs a moment to
//     learn of the pod, and a resolver retries after five seconds.
//   - forward each connection to a port, with the environment variable STANDIN_FORWARD=:443=HOST:PORT.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	healthFlag      = "--health-port="
	dialFlag        = "--dial="
	dialTimeout     = 8 * time.Second
	forwardVariable = "STANDIN_FORWARD"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv(forwardVariable))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, forward string) error {
	fmt.Println("standing in for a program with the arguments", args)
	for _, arg := range args {
		if target, found := strings.CutPrefix(arg, dialFlag); found {
			return dial(ctx, target)
		}
		if port, found := strings.CutPrefix(arg, healthFlag); found {
			if err := serveHealth(ctx, ":"+port); err != nil {
				return err
			}
		}
	}
	if forward != "" {
		own, target, isPair := strings.Cut(forward, "=")
		if !isPair {
			return fmt.Errorf("%s must be [HOST]:PORT=HOST:PORT, not %q", forwardVariable, forward)
		}
		if err := proxy(ctx, own, target); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// dial connects to a server once.
func dial(ctx context.Context, target string) error {
	connection, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", target)
	if err != nil {
		return err
	}
	return connection.Close()
}

// serveHealth answers all requests to an address with 200.
func serveHealth(ctx context.Context, address string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for probes: %w", err)
	}
	well := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	server := &http.Server{Handler: well, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // until the process ends
	return nil
}

// proxy forwards connections from an address to a server.
func proxy(ctx context.Context, own, target string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", own)
	if err != nil {
		return fmt.Errorf("listening for what is handed on to %s: %w", target, err)
	}
	go func() {
		for {
			caller, err := listener.Accept()
			if err != nil {
				fmt.Fprintln(os.Stderr, "no longer listening:", err)
				return
			}
			go connect(ctx, caller, target)
		}
	}()
	return nil
}

// connect copies in both directions until both have ended.
func connect(ctx context.Context, caller net.Conn, target string) {
	defer func() { _ = caller.Close() }()
	server, err := new(net.Dialer).DialContext(ctx, "tcp", target)
	if err != nil {
		fmt.Fprintln(os.Stderr, "handing on:", err)
		return
	}
	defer func() { _ = server.Close() }()
	var both sync.WaitGroup
	both.Go(func() { copyOneWay(server, caller) })
	both.Go(func() { copyOneWay(caller, server) })
	both.Wait()
}

// copyOneWay copies one direction, and closes the writing side.
func copyOneWay(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil && !errors.Is(err, net.ErrClosed) {
		_ = to.Close() // whoever waits for more need not
	}
	if half, can := to.(interface{ CloseWrite() error }); can {
		_ = half.CloseWrite()
	}
}
