// Command standin takes the place of a program that there is no image for, in pods that nobody needs for what they do but somebody for
// being there. It takes any arguments, says which, and runs until it is told to end. Some things it does:
//
//   - With --health-port=N among its arguments it answers every request to that port with 200, as the liveness probe of a storage driver.
//   - With --dial=HOST:PORT it connects there instead of running on, and fails when that is not done within eight seconds: a
//     network may take a moment to learn of the pod, and a resolver asks again after five.
//   - With the environment variable STANDIN_FORWARD=:443=HOST:PORT it hands each connection to its own port on to another server.
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

// dial tells whether a server can be reached.
func dial(ctx context.Context, target string) error {
	connection, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", target)
	if err != nil {
		return err
	}
	return connection.Close()
}

// serveHealth says that all is well to whoever asks at an address.
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

// proxy connects whoever comes to an address with a server elsewhere.
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

// connect copies both ways until both have said all.
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

// copyOneWay copies what one says to the other, and says that there is no more.
func copyOneWay(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil && !errors.Is(err, net.ErrClosed) {
		_ = to.Close() // whoever waits for more need not
	}
	if half, can := to.(interface{ CloseWrite() error }); can {
		_ = half.CloseWrite()
	}
}
