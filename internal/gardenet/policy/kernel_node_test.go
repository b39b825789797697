package policy

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
	"github.com/trellis-garden/trellis/internal/gardenet/nft/nfttest"
)

const (
	// silence is how long a test waits for what must not come. A longer time finds more, and no time fails a test that should pass.
	silence = 300 * time.Millisecond
	// arrival is how long a test waits for what must come: TCP sends again after some time.
	arrival = 20 * time.Second
)

// host is a network namespace: that of the test, which is the node, or one of a pod.
type host struct {
	t       *testing.T
	process int
}

// kernelNode is a node with pods in namespaces of their own, and the rules that its kernel has.
type kernelNode struct {
	t     *testing.T
	node  host
	pods  map[string]host
	table nft.Table
	// generation is raised each time that rules become narrower. The first rules are narrower than none.
	generation uint8
}

// newKernelNode makes the local pods of a cluster, as the CNI plugin ptp does.
func newKernelNode(t *testing.T, c Cluster) *kernelNode {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("the program ip is missing: install it (the package is iproute2 on Debian)")
	}
	n := &kernelNode{t: t, node: host{t, os.Getpid()}, pods: map[string]host{}}
	n.node.set("ipv4/ip_forward", "1")
	n.node.set("ipv6/conf/all/forwarding", "1")
	n.node.set("ipv6/conf/default/accept_dad", "0")
	n.run("ip", "link", "set", "lo", "up")
	for i, pod := range c.Pods {
		if pod.Spec.NodeName == c.Node {
			n.addPod(fmt.Sprintf("veth%d", i), pod)
		}
	}
	return n
}

func (n *kernelNode) addPod(device string, pod *corev1.Pod) {
	n.t.Helper()
	sleep := exec.CommandContext(n.t.Context(), "sleep", "600")
	sleep.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	require.NoError(n.t, sleep.Start())
	n.t.Cleanup(func() { _, _ = sleep.Process.Kill(), sleep.Wait() })
	process, added := fmt.Sprint(sleep.Process.Pid), host{n.t, sleep.Process.Pid}
	added.set("ipv6/conf/default/accept_dad", "0")
	n.run("ip", "link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", process)
	n.run("ip", "link", "set", device, "up")
	inPod := func(args ...string) { n.run("nsenter", append([]string{"-t", process, "-n", "ip"}, args...)...) }
	inPod("link", "set", "eth0", "up")
	for _, ip := range pod.Status.PodIPs {
		gateway, length := "10.0.1.1", "32"
		if strings.Contains(ip.IP, ":") {
			gateway, length = "fd00:10:0:1::1", "128"
		}
		n.run("ip", "addr", "add", gateway+"/"+length, "dev", device, "nodad")
		n.run("ip", "route", "add", ip.IP, "dev", device)
		inPod("addr", "add", ip.IP+"/"+length, "dev", "eth0", "nodad")
		inPod("route", "add", gateway, "dev", "eth0")
		inPod("route", "add", "default", "via", gateway)
	}
	n.pods[pod.Namespace+"/"+pod.Name] = added
}

func (n *kernelNode) run(program string, args ...string) {
	n.t.Helper()
	output, err := exec.CommandContext(n.t.Context(), program, args...).CombinedOutput()
	require.NoError(n.t, err, "%s %s: %s", program, args, output)
}

// enforce brings the rules for a cluster into the kernel, as an agent does.
func (n *kernelNode) enforce(c Cluster) {
	n.t.Helper()
	rules := For(c, Options{Recheck: true, Generation: n.generation})
	if Narrows(Rules{n.table.Counters, n.table.Sets, n.table.Chains}, rules) {
		n.generation++
		rules = For(c, Options{Recheck: true, Generation: n.generation})
	}
	require.NoError(n.t, nfttest.Apply(n.t, nft.Difference(n.table, tableOf(rules)), false))
	n.table = tableOf(rules)
}

// set writes a setting of the kernel's network.
func (h host) set(path, value string) {
	h.t.Helper()
	require.NoError(h.t, h.do(func() error { return os.WriteFile("/proc/sys/net/"+path, []byte(value), 0o600) }))
}

// do runs a function in a host's network namespace. Sockets that it opens stay there.
func (h host) do(run func() error) error {
	h.t.Helper()
	number, known := map[string]uintptr{"amd64": 308, "arm64": 268}[runtime.GOARCH]
	if !known {
		h.t.Skipf("the number of the system call setns on %s is not known to this test: add it", runtime.GOARCH)
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
		file, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", h.process))
		if err != nil {
			result <- err
			return
		}
		defer func() { _ = file.Close() }()
		if _, _, failed := syscall.RawSyscall(number, file.Fd(), syscall.CLONE_NEWNET, 0); failed != 0 {
			result <- failed
			return
		}
		result <- run()
	}()
	return <-result
}

// listen accepts TCP connections of both families, which come out of the channel.
func (h host) listen(port int) <-chan net.Conn {
	h.t.Helper()
	accepted := make(chan net.Conn, 100)
	for _, network := range []string{"tcp4", "tcp6"} {
		var listener net.Listener
		require.NoError(h.t, h.do(func() (err error) {
			listener, err = new(net.ListenConfig).Listen(h.t.Context(), network, fmt.Sprintf(":%d", port))
			return err
		}))
		h.t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
				accepted <- conn
			}
		}()
	}
	return accepted
}

// dial connects by TCP, or by UDP, where it sends nothing.
func (h host) dial(network, address string, wait time.Duration) (conn net.Conn, err error) {
	h.t.Helper()
	err = h.do(func() error {
		conn, err = (&net.Dialer{Timeout: wait}).DialContext(h.t.Context(), network, address)
		return err
	})
	if err == nil {
		h.t.Cleanup(func() { _ = conn.Close() })
	}
	return conn, err
}

func (h host) reaches(address string) {
	h.t.Helper()
	_, err := h.dial("tcp", address, arrival)
	require.NoError(h.t, err)
}

func (h host) doesNotReach(address string) {
	h.t.Helper()
	_, err := h.dial("tcp", address, silence)
	require.Error(h.t, err, address)
}

// receives reads one byte.
func receives(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(arrival)))
	_, err := conn.Read(make([]byte, 1))
	require.NoError(t, err)
}

func receivesNothing(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(silence)))
	_, err := conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

func send(t *testing.T, conn net.Conn) {
	t.Helper()
	_, err := conn.Write([]byte("x"))
	require.NoError(t, err)
}
