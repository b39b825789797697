package webhook

import (
	"context"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// loadBalancer passes connections to replicas in turn, as a Service does: to none that does not listen.
type loadBalancer struct {
	address string

	mutex    sync.Mutex
	replicas []string
	open     []net.Conn
	next     atomic.Uint64
}

func newLoadBalancer(t *testing.T) *loadBalancer {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	e := &loadBalancer{address: listener.Addr().String()}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go e.forward(context.WithoutCancel(t.Context()), connection)
		}
	}()
	return e
}

func (e *loadBalancer) add(replica string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.replicas = append(e.replicas, replica)
}

func (e *loadBalancer) remove(replica string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.replicas = slices.DeleteFunc(slices.Clone(e.replicas), func(other string) bool { return other == replica })
}

// closeAll removes all and breaks what connections there are.
func (e *loadBalancer) closeAll() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for _, connection := range e.open {
		_ = connection.Close()
	}
	e.replicas, e.open = nil, nil
}

func (e *loadBalancer) forward(ctx context.Context, downstream net.Conn) {
	defer func() { _ = downstream.Close() }()
	e.mutex.Lock()
	replicas := e.replicas
	e.open = append(e.open, downstream)
	e.mutex.Unlock()
	for range replicas {
		upstream, err := new(net.Dialer).DialContext(ctx, "tcp", replicas[e.next.Add(1)%uint64(len(replicas))])
		if err != nil {
			continue
		}
		go func() {
			_, _ = io.Copy(upstream, downstream)
			_ = upstream.Close()
		}()
		_, _ = io.Copy(downstream, upstream)
		return
	}
}
