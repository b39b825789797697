//go:build netpol

package netpol

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/trellis-garden/trellis/e2e/internal/upstreamtests"
)

// TestNetworkPolicies runs all of upstream's tests of NetworkPolicies, two of them of the API alone, except the three that open SCTP sockets, which many kernels lack.
func TestNetworkPolicies(t *testing.T) {
	const tests = 47
	results := runUpstream(t, upstreamtests.Run{Focus: `\[sig-network\] Netpol`, Skip: "SCTPConnectivity", Timeout: time.Hour})
	assert.Len(t, results, tests, "those of the version of Kubernetes that is pinned")
}

// TestConformance runs those of the conformance tests that concern networks. None needs anything outside of the cluster.
func TestConformance(t *testing.T) {
	const atLeast = 40
	results := runUpstream(t, upstreamtests.Run{Focus: `\[sig-network\].*\[Conformance\]`, Timeout: time.Hour})
	assert.GreaterOrEqual(t, len(results), atLeast)
}

// TestServices runs tests of Services that are no conformance tests, where gardenet's service routers route Services: conformance leaves out most of what depends on traffic
// policies, terminating endpoints and stale connections. Those with labels of features, such as SCTP, and those that
// need two nodes in each of three zones, need more than this cluster has.
func TestServices(t *testing.T) {
	const atLeast = 60
	env := getEnvironment(t)
	if !env.withoutKubeProxy {
		t.Skip("the cluster has kube-proxy")
	}
	env.spreadPods(t)
	results := runUpstream(t, upstreamtests.Run{
		Focus: `\[sig-network\] (Services|Networking Granular Checks: Services|Conntrack|Connectivity Pod Lifecycle|EndpointSlice|NoSNAT|Service CIDRs|KubeProxy|Traffic Distribution) `,
		Skip:  `\[Conformance\]|\[Feature:|\[Serial\]|\[Disruptive\]|Traffic Distribution.*(multiple nodes|PreferSameNode)`, Timeout: time.Hour,
	})
	assert.GreaterOrEqual(t, len(results), atLeast)
}

// spreadPods makes three zones of the three nodes, and lets pods run on all of them, which some tests need.
func (env *environment) spreadPods(t *testing.T) {
	t.Helper()
	nodes, err := env.clients.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for i, node := range nodes.Items {
		patch := fmt.Sprintf(`{"metadata": {"labels": {%q: "zone-%d"}}, "spec": {"taints": []}}`, corev1.LabelTopologyZone, i)
		_, err := env.clients.CoreV1().Nodes().Patch(t.Context(), node.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		require.NoError(t, err)
	}
}

// schedulable is the number of nodes without taints.
func (env *environment) schedulable(t *testing.T) int {
	t.Helper()
	nodes, err := env.clients.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	return len(slices.DeleteFunc(nodes.Items, func(node corev1.Node) bool { return len(node.Spec.Taints) > 0 }))
}

func runUpstream(t *testing.T, run upstreamtests.Run) []upstreamtests.Result {
	env := getEnvironment(t)
	run.Kubeconfig, run.Nodes, run.Processes, run.Dir = env.Kubeconfig, env.schedulable(t), 4, filepath.Join(env.dir, t.Name())
	require.NoError(t, os.Mkdir(run.Dir, 0o755))
	require.NoError(t, env.dropUnroutedServices(t.Context()))
	start := time.Now()
	results, err := env.suite.Tests(t.Context(), run)
	require.NoError(t, err)
	passed := 0
	for _, result := range results {
		if assert.True(t, result.Passed, "%s\n%s", result.Name, result.Failure) {
			passed++
		}
	}
	upstreamtests.Print(os.Stderr, results)
	t.Logf("%d of %d tests passed in %.0f s", passed, len(results), time.Since(start).Seconds())
	return results
}
