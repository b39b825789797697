package nflog

import (
	"context"
	"net"
	"net/netip"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/gardenet/nft/nfttest"
)

const rules = `table inet test {
	chain output {
		type filter hook output priority filter; policy accept;
		udp dport 53 limit rate 3/minute log prefix "forbidden" group 100
		udp dport 53 drop
		icmpv6 type echo-request log prefix "ping" group 100
	}
}
`

// Packets that rules log are received, as many as the limit allows.
func TestReceive(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	run(t, "ip", "link", "set", "lo", "up")
	require.NoError(t, nfttest.Apply(t, rules, false))
	ctx, cancel := context.WithCancel(t.Context())
	packets, ended := make(chan Packet, 100), make(chan error, 1)
	go func() { ended <- Receive(ctx, 100, func(p Packet) { packets <- p }) }()

	send := func() Packet {
		for { // until the socket is bound
			for _, to := range []string{"127.0.0.1:53", "[::1]:53"} {
				connection, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.MustParseAddrPort(to)))
				require.NoError(t, err)
				_, _ = connection.Write([]byte("x")) // it is dropped
				require.NoError(t, connection.Close())
			}
			select {
			case p := <-packets:
				return p
			case err := <-ended:
				require.NoError(t, err)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	first := send()
	assert.Equal(t, "forbidden", first.Prefix)
	assert.Equal(t, "udp", first.Protocol)
	assert.Equal(t, uint16(53), first.ToPort)
	assert.NotZero(t, first.FromPort)
	assert.Equal(t, first.From, first.To)
	assert.True(t, first.To.IsLoopback())

	require.ErrorContains(t, Receive(t.Context(), 100, nil), "receiving the packets of log group 100", "another process has the group")
	for range 100 {
		_, _ = net.Dial("udp", "127.0.0.1:53")
	}
	time.Sleep(1500 * time.Millisecond) // the kernel gathers packets for a second
	assert.LessOrEqual(t, len(packets), 10, "the limit is a few packets")
	cancel()
	require.NoError(t, <-ended)
}

func run(t *testing.T, name string, args ...string) {
	output, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, string(output))
}

func TestParse(t *testing.T) {
	four := func(protocol, fragment byte, rest ...byte) []byte {
		return append([]byte{0x45, 0, 0, 40, 0, 0, 0, fragment, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}, rest...)
	}
	six := func(next byte, rest ...byte) []byte {
		header := append([]byte{0x60, 0, 0, 0, 0, 8, next, 64}, netip.MustParseAddr("fd00::1").AsSlice()...)
		return append(append(header, netip.MustParseAddr("fd00::2").AsSlice()...), rest...)
	}
	ports := []byte{0x9c, 0x40, 0, 80}
	for sentence, test := range map[string]struct {
		data []byte
		want Packet
	}{
		"TCP":                              {four(6, 0, ports...), Packet{Protocol: "tcp", FromPort: 40000, ToPort: 80}},
		"UDP over IPv6":                    {six(17, ports...), Packet{Protocol: "udp", FromPort: 40000, ToPort: 80}},
		"SCTP after an extension header":   {six(0, append([]byte{132, 0, 0, 0, 0, 0, 0, 0}, ports...)...), Packet{Protocol: "sctp", FromPort: 40000, ToPort: 80}},
		"a later fragment has no ports":    {four(6, 1, ports...), Packet{Protocol: "tcp"}},
		"ICMP":                             {four(1, 0, 8, 0, 0, 0), Packet{Protocol: "icmp"}},
		"ICMPv6":                           {six(58, 128, 0, 0, 0), Packet{Protocol: "icmpv6"}},
		"another protocol":                 {four(47, 0), Packet{Protocol: "47"}},
		"the transport header is cut off":  {four(6, 0, 1), Packet{Protocol: "tcp"}},
		"the extension header is too long": {six(0, 6, 255, 0, 0, 0, 0, 0, 0), Packet{Protocol: "tcp"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, ok := parse(test.data)
			require.True(t, ok)
			test.want.From, test.want.To = netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
			if test.data[0] == 0x60 {
				test.want.From, test.want.To = netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")
			}
			assert.Equal(t, test.want, got)
		})
	}
	for _, data := range [][]byte{nil, {0x45}, four(6, 0)[:19], six(6)[:39], append([]byte{0x50}, make([]byte, 40)...)} {
		_, ok := parse(data)
		assert.False(t, ok)
	}
}
