package seednode

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"
)

// dialTimeout bounds the connection to an endpoint.
const dialTimeout = 5 * time.Second

// destinations are where connections lead to: to any target or, for an ingress gateway, to those of the host that the client asks TLS for.
type destinations struct {
	targets []string
	byHost  map[string][]string
}

func (d destinations) isEmpty() bool { return len(d.targets) == 0 && len(d.byHost) == 0 }

// forward forwards connections from an address to one of several.
type forward struct {
	listener net.Listener
	running  sync.WaitGroup

	lock         sync.Mutex
	destinations destinations
	open         map[net.Conn]bool
	closed       bool
}

func newForward(ctx context.Context, at string) (*forward, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, fmt.Errorf("listening for a Service: %w", err)
	}
	f := &forward{listener: listener, open: map[net.Conn]bool{}}
	f.running.Go(f.accept)
	return f, nil
}

// lead sets where new connections lead to.
func (f *forward) lead(to destinations) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.destinations = to
}

// stopListening refuses new connections. Others go on.
func (f *forward) stopListening() { _ = f.listener.Close() }

// close ends all connections, and waits for that.
func (f *forward) close() {
	f.stopListening()
	f.lock.Lock()
	f.closed = true
	for connection := range f.open {
		_ = connection.Close()
	}
	f.lock.Unlock()
	f.running.Wait()
}

func (f *forward) accept() {
	for {
		connection, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.running.Go(func() { f.serve(connection) })
	}
}

// keep remembers an open connection, and closes it if all are closed.
func (f *forward) keep(connection net.Conn) (forget func()) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.open[connection] = true
	if f.closed {
		_ = connection.Close()
	}
	return func() {
		f.lock.Lock()
		defer f.lock.Unlock()
		delete(f.open, connection)
		_ = connection.Close()
	}
}

func (f *forward) serve(connection net.Conn) {
	defer f.keep(connection)()
	targets, read := f.choose(connection)
	endpoint := dial(targets)
	if endpoint == nil {
		return
	}
	defer f.keep(endpoint)()
	if _, err := endpoint.Write(read); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { transfer(endpoint, connection) })
	both.Go(func() { transfer(connection, endpoint) })
	both.Wait()
}

// choose returns where a connection leads to, in random order, and what had to be read of it to know that.
func (f *forward) choose(connection net.Conn) (targets []string, read []byte) {
	f.lock.Lock()
	to := f.destinations
	f.lock.Unlock()
	targets = slices.Clone(to.targets)
	if len(to.byHost) > 0 {
		host, hello, err := readServerName(connection)
		if err != nil {
			return nil, nil
		}
		targets, read = slices.Clone(targetsFor(to.byHost, host)), hello
	}
	rand.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	return targets, read
}

// dial connects to the first of the targets that accepts, nil if there is none.
func dial(targets []string) net.Conn {
	for _, target := range targets {
		if endpoint, err := net.DialTimeout("tcp", target, dialTimeout); err == nil {
			return endpoint
		}
	}
	return nil
}

// transfer copies until one side ends. The other side then knows that nothing more comes. If a side fails, both end.
func transfer(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		_ = to.Close()
		_ = from.Close()
		return
	}
	if half, is := to.(*net.TCPConn); is {
		_ = half.CloseWrite()
	}
}
