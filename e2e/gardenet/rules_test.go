//go:build gardenet

package gardenet

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nft runs a command of nftables on the node.
func (n *node) nft(t *testing.T, command string) error {
	return n.do(func() error {
		output, err := exec.CommandContext(t.Context(), "nft", strings.Fields(command)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("nft %s: %w: %s", command, err, output)
		}
		return nil
	})
}

// listRules returns the table of the agent with the handles of all rules, and without what counters have counted.
func (n *node) listRules(t *testing.T) string {
	var output []byte
	require.NoError(t, n.do(func() (err error) {
		output, err = exec.CommandContext(t.Context(), "nft", "-a", "-s", "list", "table", "inet", "gardenet").Output()
		return err
	}))
	return string(output)
}

// logRules logs what explains a failure.
func (c *cluster) logRules(t *testing.T) {
	for name, n := range c.nodes {
		if n.agent != nil {
			output, _ := n.agent.Output()
			t.Logf("agent on node %s:\n%s", name, output)
		}
		if n.router != nil {
			output, _ := n.router.Output()
			t.Logf("router on node %s:\n%s", name, output)
		}
		for _, command := range []string{"nft list ruleset", "ip -d addr", "ip route", "ip -6 route", "ip neigh", "bridge fdb"} {
			_ = n.do(func() error {
				fields := strings.Fields(command)
				output, err := exec.CommandContext(t.Context(), fields[0], fields[1:]...).CombinedOutput()
				t.Logf("node %s: %s: %v\n%s", name, command, err, output)
				return nil
			})
		}
	}
}
