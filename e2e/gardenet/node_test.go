//go:build gardenet

package gardenet

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// timeout bounds what agents and packets take on a busy machine.
const timeout = time.Minute

// nodeFixture has the addresses of a node, and the ranges of its pods.
type nodeFixture struct{ address4, address6, pods4, pods6 string }

func (f nodeFixture) addresses() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix(f.address4), netip.MustParsePrefix(f.address6)}
}

// node is a network namespace with an agent.
type node struct {
	*namespace
	name string
	// folder is the root of the node's file system, and has the leases of addresses, the agent's configuration and its log.
	folder     string
	cluster    *cluster
	agent      *process.Process
	router     *process.Process
	generation int
}

func (c *cluster) newNode(t *testing.T, name string, fixture nodeFixture) *node {
	space, err := newNamespace()
	require.NoError(t, err)
	t.Cleanup(space.close)
	require.NoError(t, connect(space, name, fixture.addresses()...))
	n := &node{namespace: space, name: name, folder: t.TempDir(), cluster: c}
	t.Cleanup(n.killAgent)
	t.Cleanup(n.killRouter)
	require.NoError(t, os.Symlink("/proc", filepath.Join(n.folder, "proc")))
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{
		PodCIDR: fixture.pods4, PodCIDRs: []string{fixture.pods4, fixture.pods6},
	}}
	created, err := c.clients.CoreV1().Nodes().Create(t.Context(), object, metav1.CreateOptions{})
	require.NoError(t, err)
	for _, address := range fixture.addresses() {
		created.Status.Addresses = append(created.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: address.Addr().String()})
	}
	_, err = c.clients.CoreV1().Nodes().UpdateStatus(t.Context(), created, metav1.UpdateOptions{})
	require.NoError(t, err)
	return n
}

// run starts an agent with a configuration in place of the present one, and waits until it is ready.
func (n *node) run(t *testing.T, config string) {
	n.endAgent(t)
	n.generation++
	path := filepath.Join(n.folder, "config-"+strconv.Itoa(n.generation)+".json")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))
	require.NoError(t, n.do(func() (err error) {
		n.agent, err = process.Start(n.cluster.agent, []string{
			"--node=" + n.name, "--config=" + path, "--kubeconfig=" + n.cluster.kubeconfig, "--bind-address=127.0.0.1:19081",
			"--host-root=" + n.folder,
		}, nil, filepath.Join(n.folder, "agent.log"))
		return err
	}))
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	err := n.agent.WaitFor(ctx, "the agent to be ready", n.responds("http://127.0.0.1:19081/readyz"))
	if err != nil {
		output, _ := n.agent.Output()
		t.Log(output)
	}
	require.NoError(t, err, "node %s", n.name)
}

// responds returns a check that something in the namespace responds without an error.
func (n *namespace) responds(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: n.dial}}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", url, response.Status)
		}
		return nil
	}
}

// endAgent stops the agent as a kubelet does.
func (n *node) endAgent(t *testing.T) {
	if n.agent == nil {
		return
	}
	require.NoError(t, n.agent.Terminate(t.Context()), "node %s", n.name)
	n.agent = nil
}

func (n *node) killAgent() {
	if n.agent != nil {
		n.agent.Kill()
	}
	n.agent = nil
}

// conflist reads the CNI configuration that the agent has written, with a folder of this node for the leases of addresses: nodes share their files here.
func (n *node) conflist(t *testing.T) []byte {
	files, err := filepath.Glob(filepath.Join(n.folder, "etc", "cni", "net.d", "*.conflist"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	content, err := os.ReadFile(files[0])
	require.NoError(t, err)
	var list map[string]any
	require.NoError(t, json.Unmarshal(content, &list))
	for _, plugin := range list["plugins"].([]any) {
		if ipam, ok := plugin.(map[string]any)["ipam"].(map[string]any); ok {
			ipam["dataDir"] = filepath.Join(n.folder, "leases")
		}
	}
	content, err = json.Marshal(list)
	require.NoError(t, err)
	return content
}
