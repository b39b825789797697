package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// setOverlay switches Calico's overlay on or off.
func (env *environment) setOverlay(enabled string) {
	env.shoot.Spec.Networking.Type = new("calico")
	env.shoot.Spec.Networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(
		`{"apiVersion":"calico.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkConfig","overlay":{"enabled":` + enabled + `}}`,
	)}
}

// securityGroupRules describes the rules of the shoot's security group.
func (env *environment) securityGroupRules() []string {
	env.t.Helper()
	groups, err := env.session().ListSecurityGroups(env.t.Context(), cloudopenstack.SecurityGroupFilter{IDs: []string{env.state()["SecurityGroup"]}})
	if err != nil || len(groups) != 1 {
		env.t.Fatalf("the shoot's security group cannot be read: %v %v", groups, err)
	}
	var described []string
	for _, rule := range groups[0].Rules {
		described = append(described, describeRule(rule))
	}
	return described
}

func TestNativeRouting(t *testing.T) {
	t.Run("of an IPv4 shoot lets in its pods and nobody else", func(t *testing.T) {
		env := newEnvironment(t)
		env.setOverlay("false")
		empty := env.resources()
		env.mustReconcile()
		group := env.state()["SecurityGroup"]
		assert.ElementsMatch(t, []string{
			"egress IPv4 any", "egress IPv6 any", "ingress IPv4 group " + group,
			"ingress IPv4 tcp 30000-32767 any", "ingress IPv4 udp 30000-32767 any", "ingress IPv4 100.96.0.0/11",
		}, env.securityGroupRules())
		env.takeCalls()
		env.mustReconcile()
		assert.Empty(t, env.takeCalls().Where(wire.Call.IsWrite))
		env.mustDelete()
		env.assertUnchanged(empty)
	})
	t.Run("keeps its rule when the overlay is switched on, since nodes still route, and says so", func(t *testing.T) {
		env := newEnvironment(t)
		env.setOverlay("false")
		env.mustReconcile()
		before := env.securityGroupRules()
		env.setOverlay("true")
		env.takeCalls()
		outcome := env.mustReconcile()
		assert.Empty(t, env.takeCalls().Where(wire.Call.IsWrite))
		assert.Equal(t, before, env.securityGroupRules())
		require.Len(t, outcome.Findings, 1)
		assert.Contains(t, outcome.Findings[0], "still lets in a pod range that is not routed natively any more: ingress IPv4 100.96.0.0/11")
	})
	t.Run("loses a rule in Gardener's words that opens the group to the world", func(t *testing.T) {
		env := newEnvironment(t)
		env.setOverlay("false")
		env.mustReconcile()
		before := env.securityGroupRules()
		env.plant("security-group-rules", fake.Attrs{
			"security_group_id": env.state()["SecurityGroup"], "direction": "ingress", "ethertype": "IPv4", "description": "IPv4" + fromPods,
		})
		assert.Empty(t, env.mustReconcile().Findings)
		assert.ElementsMatch(t, before, env.securityGroupRules())
	})
}

func TestWantedRules_WithoutPodRange(t *testing.T) {
	group := defaultGroup()
	group.podRanges = []string{"", "100.96.0.0/11", ""}
	rules := wantedRules(group, "g")
	assert.Len(t, rules, 6)
	for _, rule := range rules {
		if rule.Direction == ingress {
			assert.NotEmpty(t, rule.RemoteGroupID+rule.RemoteIPPrefix, "%s is open to the world", rule.Description)
		}
	}
}
