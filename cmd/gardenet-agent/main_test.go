package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/trellis-garden/trellis/internal/gardenet/nft/nfttest"
	"github.com/trellis-garden/trellis/internal/golden"
)

const (
	timeout  = time.Minute
	interval = 50 * time.Millisecond
	// childVariable makes the test program the agent.
	childVariable = "TRELLIS_TEST_CHILD"
	address       = "127.0.0.1:19081"
	document      = `{"podRanges": ["10.96.0.0/11"], "nodeRanges": ["10.250.0.0/24"], "routes": "nodes", "masquerade": {"enabled": true},
		"networkPolicy": {"recheck": true}, "reportsNetwork": true}`
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestHelp(t *testing.T) {
	child := exec.CommandContext(t.Context(), os.Args[0], "--help")
	child.Env = append(os.Environ(), childVariable+"=agent")
	output, err := child.Output()
	require.NoError(t, err)
	golden.Check(t, filepath.Join("testdata", "help.txt"), string(output))
}

// TestProcess runs the agent on a node that is a network namespace, with a real API server.
func TestProcess(t *testing.T) {
	if !nfttest.InNamespace(t) {
		return
	}
	connect(t)
	clients, kubeconfig := apiServer(t)
	createNode(t, clients, "own", "10.250.0.1", "10.96.1.0/24")
	createNode(t, clients, "other", "10.250.0.2", "10.96.2.0/24")
	host := t.TempDir()
	require.NoError(t, os.Symlink("/proc", filepath.Join(host, "proc")))
	config := filepath.Join(host, "config.json")
	require.NoError(t, os.WriteFile(config, []byte(document), 0o600))
	args := []string{"--node=own", "--config=" + config, "--kubeconfig=" + kubeconfig, "--bind-address=" + address, "--host-root=" + host, "--log-level=debug"}
	conflistFolder := filepath.Join(host, "etc", "cni", "net.d")

	stop := start(t, args)
	assert.Contains(t, routes(t), "10.96.2.0/24 via 10.250.0.2")
	createPod(t, clients, "own", "10.96.1.5")
	require.Eventually(t, func() bool { return strings.Contains(listRules(t), "10.96.1.5") }, timeout, interval)
	assert.Contains(t, listRules(t), "0x00000100", "the first generation")
	isolatePods(t, clients)
	require.Eventually(t, func() bool { return strings.Contains(listRules(t), "0x00000200") }, timeout, interval, "connections are checked again")
	rules := listRules(t)
	assert.Contains(t, rules, "masquerade")
	conflist := onlyFile(t, conflistFolder)
	assert.Contains(t, conflist, "10.96.1.0/24")
	assert.Eventually(t, func() bool { return networkIsAvailable(t, clients) }, timeout, interval)

	stop()
	assert.Contains(t, routes(t), "10.96.2.0/24 via 10.250.0.2", "nothing is withdrawn")
	assert.Equal(t, rules, listRules(t))
	assert.Equal(t, conflist, onlyFile(t, conflistFolder))

	stop = start(t, args)
	assert.Equal(t, rules, listRules(t), "a restart changes nothing, not even handles")
	require.NoError(t, clients.CoreV1().Nodes().Delete(t.Context(), "other", metav1.DeleteOptions{}))
	assert.Eventually(t, func() bool { return !strings.Contains(routes(t), "10.96.2.0/24") }, timeout, interval)
	stop()
}

// connect makes the namespace a node with one uplink and a gateway.
func connect(t *testing.T) {
	t.Helper()
	up := func(name string) netlink.Link {
		link, err := netlink.LinkByName(name)
		require.NoError(t, err)
		require.NoError(t, netlink.LinkSetUp(link))
		return link
	}
	up("lo")
	require.NoError(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "uplink"}, PeerName: "network"}))
	up("network")
	ip, err := netlink.ParseAddr("10.250.0.1/24")
	require.NoError(t, err)
	uplink := up("uplink")
	require.NoError(t, netlink.AddrAdd(uplink, ip))
	require.NoError(t, netlink.RouteAdd(&netlink.Route{LinkIndex: uplink.Attrs().Index, Gw: net.IPv4(10, 250, 0, 254)}))
}

func apiServer(t *testing.T) (clients *kubernetes.Clientset, kubeconfig string) {
	t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join("..", "..", ".cache", "envtest")
	}
	env := &envtest.Environment{BinaryAssetsDirectory: assets}
	restConfig, err := env.Start()
	require.NoError(t, err, "is there an API server? make envtest-assets builds one")
	t.Cleanup(func() { assert.NoError(t, env.Stop()) })
	clients, err = kubernetes.NewForConfig(restConfig)
	require.NoError(t, err)
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, env.KubeConfig, 0o600))
	return clients, kubeconfig
}

func createNode(t *testing.T, clients *kubernetes.Clientset, name, ip, pods string) {
	t.Helper()
	node, err := clients.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{PodCIDR: pods, PodCIDRs: []string{pods}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}}
	_, err = clients.CoreV1().Nodes().UpdateStatus(t.Context(), node, metav1.UpdateOptions{})
	require.NoError(t, err)
}

func createPod(t *testing.T, clients *kubernetes.Clientset, node, ip string) {
	t.Helper()
	pod, err := clients.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}}
	_, err = clients.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// isolatePods forbids all that is sent to pods.
func isolatePods(t *testing.T, clients *kubernetes.Clientset) {
	t.Helper()
	_, err := clients.NetworkingV1().NetworkPolicies("default").Create(t.Context(), &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "deny"}, Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func networkIsAvailable(t *testing.T, clients *kubernetes.Clientset) bool {
	t.Helper()
	own, err := clients.CoreV1().Nodes().Get(t.Context(), "own", metav1.GetOptions{})
	require.NoError(t, err)
	for _, c := range own.Status.Conditions {
		if c.Type == corev1.NodeNetworkUnavailable {
			return c.Status == corev1.ConditionFalse
		}
	}
	return false
}

// start starts an agent and waits until it is ready. The result ends it as a kubelet does.
func start(t *testing.T, args []string) (stop func()) {
	t.Helper()
	logs, err := os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	child := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], args...)
	child.Env = append(os.Environ(), childVariable+"=agent")
	child.Stderr = logs
	require.NoError(t, child.Start())
	t.Cleanup(func() {
		_ = child.Process.Kill()
		if content, err := os.ReadFile(logs.Name()); err == nil && t.Failed() {
			t.Logf("%s", content)
		}
		_ = logs.Close()
	})
	require.Eventually(t, func() bool { return isReady(t) }, timeout, interval)
	return func() {
		t.Helper()
		require.NoError(t, child.Process.Signal(syscall.SIGTERM))
		require.NoError(t, child.Wait(), "it ends regularly")
	}
}

func isReady(t *testing.T) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/readyz", http.NoBody)
	require.NoError(t, err)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil && response.StatusCode == http.StatusOK
}

// routes returns all routes of IPv4.
func routes(t *testing.T) string {
	t.Helper()
	list, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	require.NoError(t, err)
	var lines []string
	for _, route := range list {
		if route.Dst != nil {
			lines = append(lines, route.Dst.String()+" via "+route.Gw.String())
		}
	}
	return strings.Join(lines, "\n")
}

// listRules returns all rules with their handles.
func listRules(t *testing.T) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "nft", "-a", "-s", "list", "ruleset").CombinedOutput()
	require.NoError(t, err, "%s", output)
	return string(output)
}

// onlyFile returns the content of the only file in a folder.
func onlyFile(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	content, err := os.ReadFile(filepath.Join(folder, entries[0].Name()))
	require.NoError(t, err)
	return string(content)
}
