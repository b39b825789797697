package policy

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/gardenet/nft/nfttest"
)

const (
	denyWeb     = "shop: podSelector: {matchLabels: {app: web}}, ingress: []"
	clientToWeb = "shop: podSelector: {matchLabels: {app: web}}, ingress: [{from: [{podSelector: {matchLabels: {app: client}}}], ports: [{port: http}, {port: 53, protocol: UDP}]}]"
)

func TestFor_PacketsInTheKernel(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	n := newKernelNode(t, shop(t))
	client, web, api := n.pods["shop/client"], n.pods["shop/web"], n.pods["shop/api"]
	web.listen(8080)
	web.listen(8081)
	client.listen(80)
	n.node.listen(10250)

	n.enforce(shop(t))
	for _, address := range []string{"10.0.1.3:8080", "[fd00:10:0:1::3]:8080", "10.0.1.1:10250", "10.0.1.3:8081"} {
		client.reaches(address)
	}
	n.enforce(shop(t, clientToWeb))
	for _, address := range []string{"10.0.1.3:8080", "[fd00:10:0:1::3]:8080"} {
		client.reaches(address)
		api.doesNotReach(address)
		n.node.reaches(address)
	}
	client.doesNotReach("10.0.1.3:8081")
	n.enforce(shop(t, "shop: podSelector: {matchLabels: {app: client}}, policyTypes: [Egress], egress: [{to: [{podSelector: {}}], ports: [{port: http}]}]"))
	client.reaches("10.0.1.3:8080")
	client.doesNotReach("10.0.1.3:8081")
	client.doesNotReach("10.0.1.1:10250")
	web.reaches("10.0.1.2:80")
	n.node.reaches("10.0.1.2:80")

	unknown := shop(t)
	unknown.Pods = unknown.Pods[1:]
	n.enforce(unknown)
	client.doesNotReach("10.0.1.3:8080")
	client.doesNotReach("10.0.1.1:10250")
	web.doesNotReach("10.0.1.2:80")
	n.node.reaches("10.0.1.2:80")
	assert.Contains(t, nfttest.List(t, "gardenet"), "counter dropped-unknown")
}

func TestFor_EstablishedConnectionsInTheKernel(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	n := newKernelNode(t, shop(t))
	client, web := n.pods["shop/client"], n.pods["shop/web"]
	accepted := web.listen(8080)
	n.enforce(shop(t))
	requests, err := client.dial("tcp", "10.0.1.3:8080", arrival)
	require.NoError(t, err)
	server := <-accepted
	// By UDP, the server sends without being asked again.
	datagrams, answers := connectUDP(t, client, web)
	send(t, requests)
	receives(t, server)
	send(t, answers)
	receives(t, datagrams)

	n.enforce(shop(t, denyWeb))
	require.Equal(t, uint8(2), n.generation)
	send(t, requests)
	receivesNothing(t, server)
	send(t, server)
	receivesNothing(t, requests)
	send(t, answers)
	receivesNothing(t, datagrams)
	send(t, datagrams)
	receivesNothing(t, answers)

	n.enforce(shop(t, clientToWeb))
	require.Equal(t, uint8(2), n.generation, "more is allowed")
	receives(t, server)
	receives(t, requests)
	send(t, answers)
	receives(t, datagrams)

	// A connection that is allowed goes on, whoever sends first.
	n.enforce(shop(t, clientToWeb, "shop: podSelector: {}, policyTypes: [Egress], egress: [{}]"))
	require.Equal(t, uint8(3), n.generation)
	send(t, server)
	receives(t, requests)
	send(t, answers)
	receives(t, datagrams)
	send(t, datagrams)
	receives(t, answers)
}

// connectUDP returns both ends of a connection at port 53, after a packet in each direction.
func connectUDP(t *testing.T, client, server host) (requests, answers net.Conn) {
	t.Helper()
	var listener net.PacketConn
	require.NoError(t, server.do(func() (err error) {
		listener, err = new(net.ListenConfig).ListenPacket(t.Context(), "udp", "10.0.1.3:53")
		return err
	}))
	requests, err := client.dial("udp", "10.0.1.3:53", arrival)
	require.NoError(t, err)
	send(t, requests)
	_, from, err := listener.ReadFrom(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	require.NoError(t, server.do(func() (err error) {
		local := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.IPv4(10, 0, 1, 3), Port: 53}}
		answers, err = local.DialContext(t.Context(), "udp", from.String())
		return err
	}))
	t.Cleanup(func() { _ = answers.Close() })
	send(t, answers)
	receives(t, requests)
	return requests, answers
}

// By way of a Service a pod reaches itself, and NodeLocalDNS' packets are not tracked.
func TestFor_ServicesInTheKernel(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	n := newKernelNode(t, shop(t))
	client, web := n.pods["shop/client"], n.pods["shop/web"]
	require.NoError(t, nfttest.Apply(t, `table ip services {
		chain received { type filter hook prerouting priority raw; ip daddr 10.0.1.1 udp dport 53 notrack; }
		chain sent { type filter hook output priority raw; ip saddr 10.0.1.1 udp sport 53 notrack; }
		chain services {
			type nat hook prerouting priority dstnat
			ip daddr 10.96.0.1 tcp dport 80 dnat to 10.0.1.2:80
			ip daddr 10.96.0.2 tcp dport 80 dnat to 10.0.1.3:8080
		}
		chain hairpin { type nat hook postrouting priority srcnat; ip saddr 10.0.1.2 ip daddr 10.0.1.2 masquerade; }
	}`, false))
	client.listen(80)
	accepted := web.listen(8080)
	n.enforce(shop(t, "shop: podSelector: {}, policyTypes: [Ingress, Egress]"))
	client.reaches("10.96.0.1:80")
	client.doesNotReach("10.96.0.2:80")
	require.Error(t, askNode(t, n.node, client, silence))

	n.enforce(shop(t, "shop: podSelector: {}, policyTypes: [Ingress, Egress]",
		"shop: podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 10.0.1.1/32}}], ports: [{port: 53, protocol: UDP}]}, {to: [{podSelector: {}}]}]",
		"shop: podSelector: {}, policyTypes: [Ingress], ingress: [{ports: [{port: 8080}]}]"))
	client.reaches("10.96.0.1:80")
	for len(accepted) > 0 {
		<-accepted
	}
	request, err := client.dial("tcp", "10.96.0.2:80", arrival)
	require.NoError(t, err)
	server, generation := <-accepted, n.generation
	require.NoError(t, askNode(t, n.node, client, arrival))

	// Replies of a Service's endpoint are checked by the addresses of pods.
	n.enforce(shop(t, "shop: podSelector: {}, policyTypes: [Ingress, Egress]",
		"shop: podSelector: {}, policyTypes: [Egress], egress: [{to: [{podSelector: {matchLabels: {app: web}}}], ports: [{port: http}]}]",
		"shop: podSelector: {}, policyTypes: [Ingress], ingress: [{ports: [{port: 8080}]}]"))
	require.Greater(t, n.generation, generation)
	send(t, server)
	receives(t, request)
	send(t, request)
	receives(t, server)
}

// askNode sends a packet to port 53 of the node by UDP, and gets a reply.
func askNode(t *testing.T, node, client host, wait time.Duration) error {
	t.Helper()
	var listener net.PacketConn
	require.NoError(t, node.do(func() (err error) {
		listener, err = new(net.ListenConfig).ListenPacket(t.Context(), "udp4", "10.0.1.1:53")
		return err
	}))
	defer func() { _ = listener.Close() }()
	request, err := client.dial("udp", "10.0.1.1:53", arrival)
	require.NoError(t, err)
	send(t, request)
	require.NoError(t, listener.SetReadDeadline(time.Now().Add(wait)))
	_, from, err := listener.ReadFrom(make([]byte, 1))
	if err != nil {
		return err
	}
	_, err = listener.WriteTo([]byte("x"), from)
	require.NoError(t, err)
	receives(t, request)
	return nil
}
