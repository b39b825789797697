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

// entrance passes connections to replicas in turn, as a Service does: to none that does not listen.
type entrance struct {
	address string

	mutex    sync.Mutex
	replicas []string
	open     []net.Conn
	turn     atomic.Uint64
}

func newEntrance(t *testing.T) *entrance {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	e := &entrance{address: listener.Addr().String()}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go e.pass(context.WithoutCancel(t.Context()), connection)
		}
	}()
	return e
}

func (e *entrance) add(replica string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.replicas = append(e.replicas, replica)
}

func (e *entrance) remove(replica string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.replicas = slices.DeleteFunc(slices.Clone(e.replicas), func(other string) bool { return other == replica })
}

// shut removes all and breaks what connections there are.
func (e *entrance) shut() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for _, connection := range e.open {
		_ = connection.Close()
	}
	e.replicas, e.open = nil, nil
}

func (e *entrance) pass(ctx context.Context, inside net.Conn) {
	defer func() { _ = inside.Close() }()
	e.mutex.Lock()
	replicas := e.replicas
	e.open = append(e.open, inside)
	e.mutex.Unlock()
	for range replicas {
		outside, err := new(net.Dialer).DialContext(ctx, "tcp", replicas[e.turn.Add(1)%uint64(len(replicas))])
		if err != nil {
			continue
		}
		go func() {
			_, _ = io.Copy(outside, inside)
			_ = outside.Close()
		}()
		_, _ = io.Copy(inside, outside)
		return
	}
}
