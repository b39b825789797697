//go:build gardenet

package gardenet

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The ways between nodes, as the driver writes them: the tunnel alone, routes by the addresses of nodes alone, and the stage between them, in which each node
// accepts both.
const (
	native = "native"
	both   = "both"
	tunnel = "tunnel"
)

// configuration is the document of the driver for two families with policies.
func configuration(t *testing.T, way string) string {
	document := map[string]any{
		"podRanges":     []string{"100.96.0.0/11", "fd00:96::/64"},
		"nodeRanges":    []string{"10.250.0.0/24", "fd00:250::/64"},
		"routes":        "nodes",
		"masquerade":    map[string]any{"enabled": true},
		"networkPolicy": map[string]any{"recheck": true},
		"hostPorts":     true,
		"bandwidth":     true,
	}
	if way != native {
		document["tunnel"] = map[string]any{"id": 1, "port": 8472}
	}
	if way == tunnel {
		document["routes"] = "tunnel"
	}
	text, err := json.Marshal(document)
	require.NoError(t, err)
	return string(text)
}

// runAll starts new agents on all nodes, one after the other, as a DaemonSet does.
func (c *cluster) runAll(t *testing.T, way string) {
	for _, name := range []string{"a", "b"} {
		c.nodes[name].run(t, configuration(t, way))
	}
}
