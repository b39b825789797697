package seeds

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// unresponsiveServer is a listener that takes connections and never says a word, or breaks them off.
type unresponsiveServer struct {
	address     string
	connections atomic.Int64
	close       func()
}

func newUnresponsiveServer(t *testing.T, breaksOff bool) *unresponsiveServer {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := &unresponsiveServer{address: "https://" + listener.Addr().String()}
	var open []net.Conn
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			h.connections.Add(1)
			if breaksOff {
				_ = connection.(*net.TCPConn).SetLinger(0)
				_ = connection.Close()
				continue
			}
			open = append(open, connection)
		}
	}()
	h.close = sync.OnceFunc(func() {
		_ = listener.Close()
		<-ended
		for _, connection := range open {
			_ = connection.Close()
		}
	})
	t.Cleanup(h.close)
	return h
}

// tcpProxy leads connections to another address until it is cut: then those that are there carry nothing more, and nobody is told.
type tcpProxy struct {
	address string

	mu      sync.Mutex
	dropped chan struct{}
}

func newTCPProxy(t *testing.T, to string) *tcpProxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &tcpProxy{address: "https://" + listener.Addr().String(), dropped: make(chan struct{})}
	ended := make(chan struct{})
	var group sync.WaitGroup
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { w.forward(near, to, ended) })
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		close(ended)
		group.Wait()
	})
	return w
}

// dropConnections cuts all connections that are there.
func (w *tcpProxy) dropConnections() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.dropped)
	w.dropped = make(chan struct{})
}

func (w *tcpProxy) forward(near net.Conn, to string, ended <-chan struct{}) {
	w.mu.Lock()
	cut := w.dropped
	w.mu.Unlock()
	defer func() { _ = near.Close() }()
	far, err := new(net.Dialer).Dial("tcp", to)
	if err != nil {
		return
	}
	over := make(chan struct{}, 2)
	carry := func(to io.Writer, from net.Conn) {
		for buffer := make([]byte, 32<<10); ; {
			n, err := from.Read(buffer)
			select {
			case <-cut:
				return
			default:
			}
			if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
				over <- struct{}{}
				return
			}
		}
	}
	go carry(far, near)
	go carry(near, far)
	select {
	case <-cut:
		_ = far.Close()
		<-ended
	case <-over:
		_ = far.Close()
	case <-ended:
		_ = far.Close()
	}
}
