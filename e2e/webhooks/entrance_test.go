package webhooks

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// entrance is the one address of several replicas. New connections are passed to them in turn, to none that does not listen.
type entrance struct {
	// address is host:port.
	address, host string

	mutex    sync.Mutex
	replicas []string
	turn     int
	open     map[net.Conn]string
}

func newEntrance(t *testing.T) *entrance {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	e := &entrance{address: listener.Addr().String(), host: "127.0.0.1", open: map[net.Conn]string{}}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go e.pass(connection)
		}
	}()
	return e
}

// leadTo replaces the replicas for new connections.
func (e *entrance) leadTo(replicas ...string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.replicas = replicas
}

// leadOnlyTo ends all other connections, too. Nobody may be calling.
func (e *entrance) leadOnlyTo(replicas ...string) {
	e.leadTo(replicas...)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for connection := range e.open {
		_ = connection.Close()
	}
}

// connections counts the connections that a replica has at the moment.
func (e *entrance) connections(replica string) int {
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

func (e *entrance) pass(inside net.Conn) {
	defer func() { _ = inside.Close() }()
	outside, replica := e.dial()
	if outside == nil {
		return
	}
	e.note(inside, replica)
	defer e.note(inside, "")
	go func() {
		_, _ = io.Copy(outside, inside)
		_ = outside.Close()
	}()
	_, _ = io.Copy(inside, outside)
}

// dial returns a connection to the replica whose turn it is, or to the next one that listens, or nil.
func (e *entrance) dial() (connection net.Conn, replica string) {
	e.mutex.Lock()
	replicas, turn := e.replicas, e.turn
	e.turn++
	e.mutex.Unlock()
	for i := range replicas {
		replica := replicas[(turn+i)%len(replicas)]
		if connection, err := net.Dial("tcp", replica); err == nil {
			return connection, replica
		}
	}
	return nil, ""
}

// note keeps in mind to which replica an open connection leads, or that it has ended.
func (e *entrance) note(connection net.Conn, replica string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if replica != "" {
		e.open[connection] = replica
	} else {
		delete(e.open, connection)
	}
}
