package infrastructuresuite

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/rig"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// testDualStack gives shoots addresses of both families.
func testDualStack(t *testing.T, r *rig.Rig) {
	givenRanges := openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112"}
	t.Run("with given ranges", func(t *testing.T) {
		w := r.NewWorld(t)
		w.StartController()
		shoot := w.Shoot("dual")
		makeDualStack(w, shoot, givenRanges)
		component := w.Gardenlet.Infrastructure(shoot)
		require.NoError(t, component.Deploy(t.Context()))
		require.NoError(t, component.Wait(t.Context()))
		assert.Equal(t, []string{"10.250.0.0/16", "2001:db8:1::/64"}, component.NodesCIDRs())
		assert.Equal(t, []string{"100.96.0.0/11", "2001:db8:2::/64"}, component.PodsCIDRs())
		assert.Equal(t, []string{"100.64.0.0/13", "2001:db8:3::/112"}, component.ServicesCIDRs())
		assertLivesOnBoth(w, shoot)
		assertEmpty(w)
	})
	t.Run("with ranges from a pool", func(t *testing.T) {
		w := r.NewWorld(t)
		w.StartController()
		pool := w.Make(conformance.Network, subnetPools, rig.Body{"subnetpool": rig.Body{
			"name": "theirs", "prefixes": []string{"2001:db8::/48"}, "default_prefixlen": 64,
		}})
		before := w.Inventory()
		shoot := w.Shoot("dual-pool")
		makeDualStack(w, shoot, openstackv1alpha1.IPv6Config{SubnetPoolID: &pool})
		w.Fulfil(shoot)
		assertLivesOnBoth(w, shoot)
		assert.Equal(t, before, w.Inventory(), "the pool stays")
		remove(w, subnetPools+"/"+pool)
	})
	t.Run("that a shoot gets later", func(t *testing.T) {
		w := r.NewWorld(t)
		w.StartController()
		shoot := w.Fulfilled("dual-later")
		before := w.Inventory()
		makeDualStack(w, shoot, givenRanges)
		w.FulfilAgain(shoot)
		assert.Subset(t, w.Inventory(), before, "nothing is made anew")
		assertLivesOnBoth(w, shoot)
		assertEmpty(w)
	})
}

func makeDualStack(w *rig.World, shoot *gardenlet.Shoot, ranges openstackv1alpha1.IPv6Config) {
	w.T.Helper()
	shoot.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
	shoot.InfrastructureConfig = w.Config(func(config *openstackv1alpha1.InfrastructureConfig) { config.Networks.IPv6 = &ranges })
	w.Update(shoot)
}

// assertLivesOnBoth looks at a fulfilled shoot, orders it again, and deletes it.
func assertLivesOnBoth(w *rig.World, shoot *gardenlet.Shoot) {
	w.T.Helper()
	kinds := w.Kinds()
	assert.Equal(w.T, 1, kinds["network"])
	assert.Equal(w.T, 4, kinds["subnet"], "of the nodes, twice, of the pods and of the services")
	assert.Equal(w.T, 1, kinds["router"])
	existing := w.Inventory()
	w.Cloud.ResetLog()
	w.FulfilAgain(shoot)
	assertNothingWritten(w)
	assert.Equal(w.T, existing, w.Inventory())
	w.Destroy(shoot)
}
