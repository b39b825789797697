package openstack

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestDualStack(t *testing.T) {
	dual := func(t *testing.T, ipv6 openstackv1alpha1.IPv6Config) *environment {
		env := newEnvironment(t)
		env.config.Networks.IPv6 = &ipv6
		env.shoot.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
		return env
	}
	t.Run("with given ranges", func(t *testing.T) {
		env := dual(t, openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/64"})
		outcome := env.mustReconcile()
		var names []string
		for _, subnet := range env.resources().Subnets {
			names = append(names, subnet.Name)
		}
		assert.ElementsMatch(t, []string{technicalID, technicalID + "-ipv6", technicalID + "-ipv6-pod", technicalID + "-ipv6-svc"}, names)
		assert.Equal(t, []string{"10.250.0.0/16", "2001:db8:1::/64"}, outcome.Nodes)
		assert.Equal(t, []string{"100.96.0.0/11", "2001:db8:2::/64"}, outcome.Pods)
		assert.Equal(t, []string{"100.64.0.0/13", "2001:db8:3::/112"}, outcome.Services)
		assert.Len(t, outcome.ProviderStatus.(*openstackv1alpha1.InfrastructureStatus).Networks.Subnets, 4)
	})
	t.Run("from a pool, with pods that are routed natively", func(t *testing.T) {
		env := dual(t, openstackv1alpha1.IPv6Config{})
		pool := env.plant("subnetpools", fake.Attrs{"name": "v6", "prefixes": []string{"2001:db8::/48"}, "default_prefixlen": 64})
		env.config.Networks.IPv6.SubnetPoolID = &pool
		env.shoot.Spec.Networking.Type = new("calico")
		env.shoot.Spec.Networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"calico.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkConfig","overlay":{"enabled":false},"ipv4":{"mode":"Never"}}`)}
		outcome := env.mustReconcile()
		require.Len(t, outcome.Pods, 2)
		state := env.resources()
		var podRules []string
		for _, rule := range state.SecurityGroups[len(state.SecurityGroups)-1].Rules {
			if isGardenerRule(string(rule.Description)) && rule.RemoteIPPrefix != "" && rule.Protocol == "" {
				podRules = append(podRules, string(rule.RemoteIPPrefix))
			}
		}
		assert.ElementsMatch(t, outcome.Pods, podRules, "#1404: the pod ranges of both families are let in")
	})
	t.Run("with given ranges beside a pool, which has no effect", func(t *testing.T) {
		env := dual(t, openstackv1alpha1.IPv6Config{
			SubnetPoolID: new("my-pool"), NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112",
		})
		outcome := env.mustReconcile()
		assert.Equal(t, []string{"10.250.0.0/16", "2001:db8:1::/64"}, outcome.Nodes)
		assert.Equal(t, []string{"100.96.0.0/11", "2001:db8:2::/64"}, outcome.Pods)
		assert.Empty(t, outcome.Findings)
		env.takeCalls()
		assert.Empty(t, env.mustReconcile().Findings)
		assert.Empty(t, env.takeCalls().Where(wire.Call.IsWrite))
	})
	t.Run("is stable, costs no more reads, and is deleted", func(t *testing.T) {
		env := dual(t, openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112"})
		env.reconcileTwiceAndDelete()
		env.mustReconcile()
		env.takeCalls()
		env.mustReconcile()
		assert.Len(t, env.takeCalls(), 6)
	})
	t.Run("that the shoot gives up leaves interfaces that are not foreign", func(t *testing.T) {
		env := dual(t, openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112"})
		empty := env.resources()
		env.mustReconcile()
		env.shoot.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4}
		assert.Empty(t, env.mustReconcile().Findings)
		env.mustDelete()
		env.assertUnchanged(empty)
	})
	t.Run("can be switched on later", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		env.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112"}
		env.shoot.Spec.Networking.IPFamilies = append(env.shoot.Spec.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6)
		env.mustReconcile()
		assert.Len(t, env.resources().Subnets, 4)
		env.mustDelete()
		assert.Equal(t, countByKind(newEnvironment(t).resources()), countByKind(env.resources()))
	})
}

func TestSubnetPool(t *testing.T) {
	env := newEnvironment(t)
	pool := env.plant("subnetpools", fake.Attrs{"name": "v4", "prefixes": []string{"10.128.0.0/12"}, "default_prefixlen": 24})
	env.config.Networks = openstackv1alpha1.Networks{SubnetPool: &openstackv1alpha1.SubnetPool{ID: pool, PrefixLength: new(22)}}
	outcome := env.mustReconcile()
	require.NotNil(t, outcome.NodesCIDR)
	assert.Contains(t, *outcome.NodesCIDR, "/22")
	assert.Equal(t, []string{*outcome.NodesCIDR}, outcome.Nodes)
	assert.Equal(t, *outcome.NodesCIDR, env.state()["WorkersCIDR"])
	env.mustDelete()
	assert.Empty(t, env.resources().Subnets)
}
