package openstack

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestConfigurationErrors_RejectedByCloud(t *testing.T) {
	const nowhere = "11111111-1111-1111-1111-111111111111"
	for name, test := range map[string]struct {
		make func(env *environment)
		want string
	}{
		"a range that is taken in the given network": {func(env *environment) {
			env.config.Networks.ID = new(env.plant("networks", fake.Attrs{"name": "theirs"}))
			env.plantSubnet(*env.config.Networks.ID, "theirs", "10.250.0.0/16")
		}, "networks.workers: the cloud does not take the range 10.250.0.0/19; give another one: POST subnets answered 400"},
		"an IPv6 range that is taken in the given network": {func(env *environment) {
			env.config.Networks.ID = new(env.plant("networks", fake.Attrs{"name": "theirs"}))
			env.plant("subnets", fake.Attrs{"network_id": *env.config.Networks.ID, "ip_version": 6, "cidr": "2001:db8:2::/64"})
			env.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112"}
			env.shoot.Spec.Networking.IPFamilies = append(env.shoot.Spec.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6)
		}, "networks.ipv6.podCIDR: "},
		"a subnet pool that does not exist": {func(env *environment) {
			env.config.Networks = openstackv1alpha1.Networks{SubnetPool: &openstackv1alpha1.SubnetPool{ID: nowhere}}
		}, "networks.subnetPool: the cloud has no such subnet pool"},
		"a prefix length that the pool does not give": {func(env *environment) {
			pool := env.plant("subnetpools", fake.Attrs{"name": "v4", "prefixes": []string{"10.128.0.0/12"}, "default_prefixlen": 24, "min_prefixlen": 24})
			env.config.Networks = openstackv1alpha1.Networks{SubnetPool: &openstackv1alpha1.SubnetPool{ID: pool, PrefixLength: new(16)}}
		}, "networks.subnetPool: "},
		"an MTU that the cloud does not support": {func(env *environment) { env.config.Networks.MTU = new(9001) }, "networks.mtu: "},
		"an MTU that the cloud does not support, raised later": {func(env *environment) {
			env.mustReconcile()
			env.config.Networks.MTU = new(9001)
		}, "networks.mtu: "},
		"a zone without networks": {func(env *environment) {
			env.config.Networks.AvailabilityZoneHints = &openstackv1alpha1.AvailabilityZoneHints{Network: []string{"nowhere"}}
		}, "networks.availabilityZoneHints.network: "},
		"a zone without routers": {func(env *environment) {
			env.config.Networks.AvailabilityZoneHints = &openstackv1alpha1.AvailabilityZoneHints{Router: []string{"nowhere"}}
		}, "networks.availabilityZoneHints.router: "},
	} {
		t.Run(name, func(t *testing.T) {
			env := newEnvironment(t)
			test.make(env)
			_, err := env.reconcile()
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
		})
	}
}

func TestConfigurationErrors_OtherRefusals(t *testing.T) {
	for name, fault := range map[string]wire.Fault{
		"a network of ours that is refused":    {Match: wire.Match{Method: "POST", Path: "/v2.0/networks"}, Status: 400},
		"a router that is refused":             {Match: wire.Match{Method: "POST", Path: "/v2.0/routers"}, Status: 400},
		"a network that is gone":               {Match: wire.Match{Method: "POST", Path: "/v2.0/subnets"}, Status: 404, Type: "NetworkNotFound"},
		"a subnet whose quota is used up":      {Match: wire.Match{Method: "POST", Path: "/v2.0/subnets"}, Status: 409, Type: "OverQuota"},
		"a subnet for which there is no space": {Match: wire.Match{Method: "POST", Path: "/v2.0/subnets"}, Status: 400, Type: "SubnetAllocationError"},
	} {
		t.Run(name, func(t *testing.T) {
			env := newEnvironment(t)
			env.cloud.Inject(fault)
			_, err := env.reconcile()
			require.Error(t, err)
			assert.NotEqual(t, cloud.Configuration, cloud.KindOf(err))
		})
	}
}

func TestConfigurationErrors_GatewayPolicy(t *testing.T) {
	for name, test := range map[string]struct {
		make func(env *environment)
		kind cloud.Kind
		want string
	}{
		"a floating subnet by name, which the project does not see": {func(env *environment) {
			env.config.FloatingPoolSubnetName = new("public-a")
		}, cloud.Configuration, `floatingPoolSubnetName: "public-a" cannot be looked up, since the cloud shows this project no subnet of the floating network; leave the field out`},
		"a floating subnet of the cloud profile": {func(env *environment) {
			env.profile.Constraints.FloatingPools = []openstackv1alpha1.FloatingPool{{Name: "*", DefaultFloatingSubnet: new("public-a")}}
		}, cloud.Configuration, "constraints.floatingPools.defaultFloatingSubnet of the cloud profile: "},
		"a floating subnet by ID, which the project may not choose": {func(env *environment) {
			env.config.FloatingPoolSubnetName = new("11111111-1111-1111-1111-111111111111")
		}, cloud.Unauthorized, "floatingPoolSubnetName: the cloud's policy does not let this project choose the subnet of a gateway; leave the field out, or ask the cloud's operator"},
		"source NAT": {func(env *environment) {
			env.profile.UseSNAT = new(true)
		}, cloud.Unauthorized, "useSNAT of the cloud profile: the cloud's policy does not let this project choose whether a gateway translates addresses"},
		"source NAT of a router that is there": {func(env *environment) {
			env.mustReconcile()
			env.profile.UseSNAT = new(false)
		}, cloud.Unauthorized, "useSNAT of the cloud profile: "},
	} {
		t.Run(name, func(t *testing.T) {
			env := newEnvironment(t)
			test.make(env)
			_, err := env.reconcile()
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, test.kind, cloud.KindOf(err))
		})
	}
}
