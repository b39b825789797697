//go:build gardenet

package gardenet

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// blockedAfter is how long a probe waits for a response that must not come.
const blockedAfter = 700 * time.Millisecond

// dial opens a connection from the namespace. The address has no name, so that no other thread takes part.
func (n *namespace) dial(ctx context.Context, protocol, address string) (connection net.Conn, err error) {
	err = n.do(func() error {
		connection, err = (&net.Dialer{}).DialContext(ctx, protocol, address)
		return err
	})
	return connection, err
}

// serve sends back what arrives at a port, by TCP and by UDP, of both families.
func (n *namespace) serve(t *testing.T, port int) {
	require.NoError(t, n.do(func() error {
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = listener.Close() })
		go acceptAll(listener)
		for _, network := range []struct{ protocol, address string }{{"udp4", "0.0.0.0"}, {"udp6", "[::]"}} {
			socket, err := net.ListenPacket(network.protocol, fmt.Sprintf("%s:%d", network.address, port))
			if err != nil {
				return err
			}
			t.Cleanup(func() { _ = socket.Close() })
			go echoPackets(socket)
		}
		return nil
	}))
}

func acceptAll(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close()
			fmt.Fprintln(connection, connection.RemoteAddr(), connection.LocalAddr())
			_, _ = io.Copy(connection, connection)
		}()
	}
}

func echoPackets(socket net.PacketConn) {
	buffer := make([]byte, 2048)
	for {
		n, from, err := socket.ReadFrom(buffer)
		if err != nil {
			return
		}
		_, _ = socket.WriteTo(buffer[:n], from)
	}
}

// probe is one attempt to reach something.
type probe struct {
	from     *namespace
	protocol string // tcp or udp
	to       netip.Addr
	port     int
}

// try reports whether a response came in time.
func (p probe) try(within time.Duration) bool { return p.exchange(within) == nil }

func (p probe) exchange(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	connection, err := p.from.dial(ctx, p.protocol, netip.AddrPortFrom(p.to, uint16(p.port)).String())
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	if p.protocol == "udp" {
		if _, err := connection.Write([]byte("hello")); err != nil {
			return err
		}
	}
	_, err = connection.Read(make([]byte, 64))
	return err
}

// sourceSeen returns the address from which a server at the other end sees a connection.
func (p probe) sourceSeen(t *testing.T) netip.Addr {
	source, _ := p.endsSeen(t)
	return source
}

// endsSeen returns the addresses of both ends of a connection, as the server sees them.
func (p probe) endsSeen(t *testing.T) (source, server netip.Addr) {
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	connection, err := p.from.dial(ctx, "tcp", netip.AddrPortFrom(p.to, uint16(p.port)).String())
	require.NoError(t, err)
	defer connection.Close()
	require.NoError(t, connection.SetDeadline(time.Now().Add(timeout)))
	var texts [2]string
	_, err = fmt.Fscanln(connection, &texts[0], &texts[1])
	require.NoError(t, err)
	var ends [2]netip.Addr
	for i, text := range texts {
		parsed, err := netip.ParseAddrPort(text)
		require.NoError(t, err)
		ends[i] = parsed.Addr().Unmap()
	}
	return ends[0], ends[1]
}

// eventually waits until a probe has the result.
func (p probe) eventually(allowed bool) bool {
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); {
		if p.try(blockedAfter) == allowed {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}
