package gardener

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNetwork_RangesAreDisjoint(t *testing.T) {
	ranges := map[string]netip.Prefix{
		"services of the garden": netip.MustParsePrefix(gardenServices), "machines": netip.MustParsePrefix(machines),
		"hosts": netip.MustParsePrefix("10.240.0.0/16"), "pods of shoots": netip.MustParsePrefix("100.96.0.0/11"), "services of shoots": netip.MustParsePrefix("100.64.0.0/13"),
	}
	for _, spec := range SeedSpecs() {
		assert.True(t, ranges["hosts"].Contains(spec.API), spec.Name)
		assert.True(t, ranges["hosts"].Contains(spec.Etcd), spec.Name)
		assert.True(t, spec.Nodes.Contains(spec.Bridge.Address.Addr()), "gardenlet compares the address of the node of %s", spec.Name)
		assert.True(t, spec.Bridge.Address.Contains(spec.Pods.Addr()), "pods of %s are in the network of the bridge", spec.Name)
		assert.LessOrEqual(t, len(spec.Bridge.Name), 15, "the kernel's limit")
		ranges["nodes of "+spec.Name], ranges["pods of "+spec.Name], ranges["services of "+spec.Name] = spec.Nodes, spec.Pods, spec.Services
	}
	for one, its := range ranges {
		for other, others := range ranges {
			assert.False(t, one != other && its.Overlaps(others), "%s %s and %s %s", one, its, other, others)
		}
	}
}

func TestNetwork_HasAllAddresses(t *testing.T) {
	network := Network()
	local := func(address netip.Addr) bool {
		for _, prefix := range network.Local {
			if prefix.Contains(address) {
				return true
			}
		}
		return false
	}
	for _, address := range []string{gardenAPI, etcdOfGarden, shootsEtcd, clouds, admission} {
		assert.True(t, local(netip.MustParseAddr(address)), address)
	}
	assert.Len(t, network.Bridges, len(SeedSpecs()))
	for _, spec := range SeedSpecs() {
		assert.True(t, local(spec.API), spec.Name)
		assert.True(t, local(spec.Services.Addr()), spec.Name)
	}
}
