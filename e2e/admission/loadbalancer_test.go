package admission

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// loadBalancer is the common address of all replicas. It distributes new connections over the replicas that listen.
type loadBalancer struct {
	address string // host:port

	mutex    sync.Mutex
	replicas []string
	next     int
}

func newLoadBalancer(t *testing.T) *loadBalancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	e := &loadBalancer{address: listener.Addr().String()}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go e.forward(connection)
		}
	}()
	return e
}

// setBackends replaces the replicas for new connections.
func (e *loadBalancer) setBackends(replicas ...string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.replicas = replicas
}

func (e *loadBalancer) forward(inside net.Conn) {
	defer func() { _ = inside.Close() }()
	outside := e.dial()
	if outside == nil {
		return
	}
	go func() {
		_, _ = io.Copy(outside, inside)
		_ = outside.Close()
	}()
	_, _ = io.Copy(inside, outside)
}

// dial returns a connection to the next replica that listens, or nil.
func (e *loadBalancer) dial() net.Conn {
	e.mutex.Lock()
	replicas, turn := e.replicas, e.next
	e.next++
	e.mutex.Unlock()
	for i := range replicas {
		if connection, err := net.Dial("tcp", replicas[(turn+i)%len(replicas)]); err == nil {
			return connection
		}
	}
	return nil
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := process.FreeAddress()
	require.NoError(t, err)
	return address
}
