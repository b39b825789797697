package policy

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/nft/nfttest"
)

// oneNode returns a random cluster with four pods on one node, whose addresses are always the same.
func oneNode(c *choices) oracle {
	o := randomCluster(c)
	o.nodes = o.nodes[:1]
	o.Pods = slices.DeleteFunc(o.Pods, func(pod *corev1.Pod) bool { return pod.Namespace == "z" || pod.Name == "c" })
	for _, pod := range o.Pods {
		number := 10*int(pod.Namespace[0]-'w') + int(pod.Name[0]-'a')
		pod.Spec.NodeName, pod.Spec.HostNetwork = "one", false
		pod.Status.PodIPs = []corev1.PodIP{{IP: fmt.Sprintf("10.0.1.%d", number)}, {IP: fmt.Sprintf("fd00:10:0:1::%x", number)}}
		pod.Status.PodIP = pod.Status.PodIPs[0].IP
	}
	return o
}

// Kernel, simulator and oracle agree about all connections by TCP and UDP between four pods, for random policies. The simulator is only as good as this.
func TestFor_AgreesWithTheOracleInTheKernel(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	const changes = 12
	all := oneNode(&choices{})
	n := newKernelNode(t, all.on(all.nodes[0]))
	received := n.receive(t, all)
	allowed, probes := 0, 0
	for seed := range changes {
		o := oneNode(&choices{random: rand.New(rand.NewPCG(uint64(seed), 7))})
		simulated, err := newNetwork(o, true, nil)
		require.NoError(t, err)
		n.enforce(o.on(o.nodes[0]))
		var wait sync.WaitGroup
		var expected []string
		for _, c := range all.between() {
			want := o.allows(c)
			require.Equal(t, want, simulated.passes(simulated.way(c.from, c.to), c.first()))
			probes++
			if want {
				allowed++
			}
			if c.protocol == corev1.ProtocolTCP {
				wait.Go(func() { n.connect(t, all, c, want) })
				continue
			}
			text := fmt.Sprintf("%d %s %s %d", seed, c.from, c.to, c.port)
			if want {
				expected = append(expected, text)
			}
			conn, err := n.hostOf(all, c.from).dial("udp", netip.AddrPortFrom(c.to, uint16(c.port)).String(), arrival)
			require.NoError(t, err)
			_, err = conn.Write([]byte(text))
			require.NoError(t, err)
			require.NoError(t, conn.Close())
		}
		wait.Wait()
		require.ElementsMatch(t, expected, collect(received, len(expected)), "seed %d\n%s", seed, describe(o))
		require.False(t, t.Failed(), "seed %d\n%s", seed, describe(o))
	}
	t.Logf("%d of %d connections are allowed", allowed, probes)
	assert.Greater(t, allowed, probes/10)
	assert.Less(t, allowed, probes*9/10)
}

// between returns the connections between different pods.
func (o oracle) between() (connections []connection) {
	for _, from := range o.Pods {
		for _, to := range o.Pods {
			for family := range 2 {
				for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
					for _, port := range []int32{80, 81, 82} {
						if from != to {
							connections = append(connections, connection{
								netip.MustParseAddr(from.Status.PodIPs[family].IP), netip.MustParseAddr(to.Status.PodIPs[family].IP), protocol, port,
							})
						}
					}
				}
			}
		}
	}
	return connections
}

func (n *kernelNode) hostOf(o oracle, address netip.Addr) host {
	for _, pod := range o.Pods {
		if slices.Contains(pod.Status.PodIPs, corev1.PodIP{IP: address.String()}) {
			return n.pods[pod.Namespace+"/"+pod.Name]
		}
	}
	return host{}
}

// receive listens in all pods, by TCP and UDP. What comes by UDP comes out of the channel.
func (n *kernelNode) receive(t *testing.T, o oracle) <-chan string {
	t.Helper()
	received := make(chan string, 10_000)
	for _, pod := range o.Pods {
		for _, port := range []int{80, 81, 82} {
			n.pods[pod.Namespace+"/"+pod.Name].listen(port)
			for _, ip := range pod.Status.PodIPs {
				var socket net.PacketConn
				require.NoError(t, n.pods[pod.Namespace+"/"+pod.Name].do(func() (err error) {
					socket, err = new(net.ListenConfig).ListenPacket(t.Context(), "udp", net.JoinHostPort(ip.IP, fmt.Sprint(port)))
					return err
				}))
				t.Cleanup(func() { _ = socket.Close() })
				go func() {
					buffer := make([]byte, 200)
					for length, _, err := socket.ReadFrom(buffer); err == nil; length, _, err = socket.ReadFrom(buffer) {
						received <- string(buffer[:length])
					}
				}()
			}
		}
	}
	return received
}

// collect returns what is received: as much as is expected, and what comes soon after it.
func collect(received <-chan string, expected int) (texts []string) {
	timeout := time.After(arrival)
	for len(texts) < expected {
		select {
		case text := <-received:
			texts = append(texts, text)
		case <-timeout:
			return texts
		}
	}
	for end := time.After(silence); ; {
		select {
		case text := <-received:
			texts = append(texts, text)
		case <-end:
			return texts
		}
	}
}

// connect checks a connection by TCP.
func (n *kernelNode) connect(t *testing.T, o oracle, c connection, want bool) {
	t.Helper()
	wait := silence
	if want {
		wait = arrival
	}
	conn, err := n.hostOf(o, c.from).dial("tcp", netip.AddrPortFrom(c.to, uint16(c.port)).String(), wait)
	if err == nil {
		_ = conn.Close()
	}
	if (err == nil) != want {
		t.Errorf("TCP %d from %s to %s, allowed %t: %v", c.port, c.from, c.to, want, strings.TrimSpace(fmt.Sprint(err)))
	}
}
