//go:build gardenet

package gardenet

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// flowInterval is the pause between two messages of a flow.
const flowInterval = 10 * time.Millisecond

// flow is a connection with a message and its echo a hundred times a second.
type flow struct {
	name       string
	connection net.Conn
	stop       chan struct{}
	done       sync.WaitGroup

	mutex          sync.Mutex
	sent, received int
	last           time.Time
	err            error
}

// startFlow opens a connection from a pod, and keeps it busy until the test ends.
func startFlow(t *testing.T, from *pod, protocol string, to netip.Addr) *flow {
	f := &flow{name: from.key + " " + protocol + " " + to.String(), stop: make(chan struct{})}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var err error
	f.connection, err = from.dial(ctx, protocol, netip.AddrPortFrom(to, 80).String())
	require.NoError(t, err, f.name)
	f.done.Add(2)
	go f.send()
	go f.receive()
	t.Cleanup(f.end)
	return f
}

func (f *flow) send() {
	defer f.done.Done()
	for {
		select {
		case <-f.stop:
			return
		case <-time.After(flowInterval):
		}
		_, err := f.connection.Write([]byte("0123456789abcdef"))
		f.mutex.Lock()
		f.sent++
		if err != nil && f.err == nil {
			f.err = err
		}
		f.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

func (f *flow) receive() {
	defer f.done.Done()
	buffer := make([]byte, 4096)
	for {
		n, err := f.connection.Read(buffer)
		f.mutex.Lock()
		f.received += n
		f.last = time.Now()
		if err != nil && f.err == nil {
			f.err = err
		}
		f.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

func (f *flow) end() {
	select {
	case <-f.stop:
		return
	default:
	}
	close(f.stop)
	_ = f.connection.Close()
	f.done.Wait()
}

// state returns the messages sent, the echoes received, when the last one came, and the first error.
func (f *flow) state() (sent, received int, last time.Time, err error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.sent, f.received / 16, f.last, f.err
}

// awaitEcho waits for an echo later than now: the connection lives.
func (f *flow) awaitEcho(t *testing.T) {
	now := time.Now()
	require.Eventually(t, func() bool {
		_, _, last, err := f.state()
		return err == nil && last.After(now)
	}, timeout, flowInterval, "an echo on %s: %v", f.name, f.firstError())
}

// awaitSilence waits until no echo has come for a second although messages are sent: the connection is cut.
func (f *flow) awaitSilence(t *testing.T) {
	require.Eventually(t, func() bool {
		_, _, last, _ := f.state()
		return time.Since(last) > time.Second
	}, timeout, flowInterval, "no echo on %s any more", f.name)
}

func (f *flow) firstError() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.err
}
