//go:build gardenet

package gardenet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
)

// testDenied lets an agent log what a policy forbids, and shows that the log is bounded.
func testDenied(t *testing.T, env *environment) {
	const perSecond = 2
	a := env.nodes["a"]
	a.run(t, strings.Replace(configuration(t, tunnel), `"recheck":true`, fmt.Sprintf(`"recheck":true,"logDenied":%d`, perSecond), 1))
	env.setPolicies(t, policy("x", "none", networkingv1.PolicyTypeIngress))
	for _, protocol := range []string{"tcp", "udp"} {
		for _, v6 := range []bool{false, true} {
			forbidden := probe{env.pods["y/a"].namespace, protocol, env.pods["x/a"].address(v6), 80}
			require.True(t, forbidden.eventually(false))
			want := fmt.Sprintf(`"msg":"Policies denied a packet","direction":"ingress","protocol":%q,"from":%q,`, protocol, env.pods["y/a"].address(v6))
			assert.Eventually(t, func() bool {
				forbidden.try(blockedAfter)
				output, err := a.agent.Output()
				return err == nil && strings.Contains(output, want) && strings.Contains(output, fmt.Sprintf(`"fromPod":%q`, "y/a"))
			}, timeout, 500*time.Millisecond, want)
		}
	}
	denied := func() int {
		output, err := a.agent.Output()
		require.NoError(t, err)
		return strings.Count(output, "Policies denied a packet")
	}
	before, start := denied(), time.Now()
	for range 200 {
		probe{env.pods["y/a"].namespace, "udp", env.pods["x/a"].address(false), 80}.try(time.Millisecond)
	}
	time.Sleep(2 * time.Second) // the kernel gathers packets for one second
	const burst = 5
	assert.LessOrEqual(t, denied()-before, burst+perSecond*int(time.Since(start).Seconds()+2))
	a.run(t, configuration(t, tunnel))
	env.setPolicies(t)
}
