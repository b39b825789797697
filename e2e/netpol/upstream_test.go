//go:build netpol

package netpol

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
// policies, terminating endpoints and stale connections. Those with labels of features, such as SCTP, need more than a cluster of kind has.
func TestServices(t *testing.T) {
	const atLeast = 60
	if !getEnvironment(t).withoutKubeProxy {
		t.Skip("the cluster has kube-proxy")
	}
	results := runUpstream(t, upstreamtests.Run{
		Focus: `\[sig-network\] (Services|Networking Granular Checks: Services|Conntrack|Connectivity Pod Lifecycle|EndpointSlice|NoSNAT|Service CIDRs|KubeProxy) `,
		Skip:  `\[Conformance\]|\[Feature:|\[Serial\]|\[Disruptive\]`, Timeout: time.Hour,
	})
	assert.GreaterOrEqual(t, len(results), atLeast)
}

func runUpstream(t *testing.T, run upstreamtests.Run) []upstreamtests.Result {
	env := getEnvironment(t)
	run.Kubeconfig, run.Processes, run.Dir = env.Kubeconfig, 4, filepath.Join(env.dir, t.Name())
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
