package infrastructuresuite

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// testDualStack creates shoots with addresses of both families.
func testDualStack(t *testing.T, f *testenv.Fixture) {
	givenRanges := openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112"}
	t.Run("with given ranges", func(t *testing.T) {
		env := f.NewEnv(t)
		env.StartController()
		shoot := env.Shoot("dual")
		makeDualStack(env, shoot, givenRanges)
		component := env.Gardenlet.Infrastructure(shoot)
		require.NoError(t, component.Deploy(t.Context()))
		require.NoError(t, component.Wait(t.Context()))
		assert.Equal(t, []string{"10.250.0.0/16", "2001:db8:1::/64"}, component.NodesCIDRs())
		assert.Equal(t, []string{"100.96.0.0/11", "2001:db8:2::/64"}, component.PodsCIDRs())
		assert.Equal(t, []string{"100.64.0.0/13", "2001:db8:3::/112"}, component.ServicesCIDRs())
		assertDualStackLifecycle(env, shoot)
		assertEmpty(env)
	})
	t.Run("with ranges from a pool", func(t *testing.T) {
		env := f.NewEnv(t)
		env.StartController()
		pool := env.Make(conformance.Network, subnetPools, testenv.Body{"subnetpool": testenv.Body{
			"name": "theirs", "prefixes": []string{"2001:db8::/48"}, "default_prefixlen": 64,
		}})
		before := env.Inventory()
		shoot := env.Shoot("dual-pool")
		makeDualStack(env, shoot, openstackv1alpha1.IPv6Config{SubnetPoolID: &pool})
		env.Reconcile(shoot)
		assertDualStackLifecycle(env, shoot)
		assert.Equal(t, before, env.Inventory(), "the pool stays")
		remove(env, subnetPools+"/"+pool)
	})
	t.Run("that a shoot gets later", func(t *testing.T) {
		env := f.NewEnv(t)
		env.StartController()
		shoot := env.NewReconciledShoot("dual-later")
		before := env.Inventory()
		makeDualStack(env, shoot, givenRanges)
		env.ReconcileAgain(shoot)
		assert.Subset(t, env.Inventory(), before, "nothing is made anew")
		assertDualStackLifecycle(env, shoot)
		assertEmpty(env)
	})
}

func makeDualStack(env *testenv.Env, shoot *gardenlet.Shoot, ranges openstackv1alpha1.IPv6Config) {
	env.T.Helper()
	shoot.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
	shoot.InfrastructureConfig = env.Config(func(config *openstackv1alpha1.InfrastructureConfig) { config.Networks.IPv6 = &ranges })
	env.Update(shoot)
}

// assertDualStackLifecycle checks a reconciled shoot, reconciles it again, and deletes it.
func assertDualStackLifecycle(env *testenv.Env, shoot *gardenlet.Shoot) {
	env.T.Helper()
	kinds := env.CountByKind()
	assert.Equal(env.T, 1, kinds["network"])
	assert.Equal(env.T, 4, kinds["subnet"], "of the nodes, twice, of the pods and of the services")
	assert.Equal(env.T, 1, kinds["router"])
	existing := env.Inventory()
	env.Cloud.ResetLog()
	env.ReconcileAgain(shoot)
	assertNothingWritten(env)
	assert.Equal(env.T, existing, env.Inventory())
	env.Destroy(shoot)
}
