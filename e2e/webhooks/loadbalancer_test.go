package webhooks

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loadBalancer is the one address of several replicas. New connections are passed to them in turn, to none that does not listen.
type loadBalancer struct {
	// address is host:port.
	address, host string

	mutex    sync.Mutex
	replicas []string
	next     int
	open     map[net.Conn]string
}

func newLoadBalancer(t *testing.T) *loadBalancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	e := &loadBalancer{address: listener.Addr().String(), host: "127.0.0.1", open: map[net.Conn]string{}}
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

// setBackendsAndDisconnect ends all other connections, too. Nobody may be calling.
func (e *loadBalancer) setBackendsAndDisconnect(replicas ...string) {
	e.setBackends(replicas...)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for connection := range e.open {
		_ = connection.Close()
	}
}

// connections counts the connections that a replica has at the moment.
func (e *loadBalancer) connections(replica string) int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	count := 0
	for _, other := range e.open {
		if other == replica {
			count++
		}
	}
	return count
}

func (e *loadBalancer) forward(inside net.Conn) {
	defer func() { _ = inside.Close() }()
	outside, replica := e.dial()
	if outside == nil {
		return
	}
	e.trackConnection(inside, replica)
	defer e.trackConnection(inside, "")
	go func() {
		_, _ = io.Copy(outside, inside)
		_ = outside.Close()
	}()
	_, _ = io.Copy(inside, outside)
}

// dial returns a connection to the replica whose turn it is, or to the next one that listens, or nil.
func (e *loadBalancer) dial() (connection net.Conn, replica string) {
	e.mutex.Lock()
	replicas, turn := e.replicas, e.next
	e.next++
	e.mutex.Unlock()
	for i := range replicas {
		replica := replicas[(turn+i)%len(replicas)]
		if connection, err := net.Dial("tcp", replica); err == nil {
			return connection, replica
		}
	}
	return nil, ""
}

// trackConnection keeps in mind to which replica an open connection leads, or that it has ended.
func (e *loadBalancer) trackConnection(connection net.Conn, replica string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if replica != "" {
		e.open[connection] = replica
	} else {
		delete(e.open, connection)
	}
}
