package openstack

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

const (
	getNetworks     = "neutron GET /v2.0/networks"
	postNetwork     = "neutron POST /v2.0/networks"
	deleteNetwork   = "neutron DELETE /v2.0/networks/{id}"
	getSubnets      = "neutron GET /v2.0/subnets"
	postSubnet      = "neutron POST /v2.0/subnets"
	deleteSubnet    = "neutron DELETE /v2.0/subnets/{id}"
	getRouters      = "neutron GET /v2.0/routers"
	getRouter       = "neutron GET /v2.0/routers/{id}"
	putRouter       = "neutron PUT /v2.0/routers/{id}"
	postRouter      = "neutron POST /v2.0/routers"
	deleteRouter    = "neutron DELETE /v2.0/routers/{id}"
	addInterface    = "neutron PUT /v2.0/routers/{id}/add_router_interface"
	removeInterface = "neutron PUT /v2.0/routers/{id}/remove_router_interface"
	getPorts        = "neutron GET /v2.0/ports"
	getGroups       = "neutron GET /v2.0/security-groups"
	postGroup       = "neutron POST /v2.0/security-groups"
	deleteGroup     = "neutron DELETE /v2.0/security-groups/{id}"
	postRules       = "neutron POST /v2.0/security-group-rules"
	getFloatingIPs  = "neutron GET /v2.0/floatingips"
	deleteFloating  = "neutron DELETE /v2.0/floatingips/{id}"
	getShares       = "manila GET /v2/share-networks/detail"
	postShare       = "manila POST /v2/share-networks"
	deleteShare     = "manila DELETE /v2/share-networks/{id}"
	getBalancers    = "octavia GET /v2.0/lbaas/loadbalancers"
	deleteBalancer  = "octavia DELETE /v2.0/lbaas/loadbalancers/{id}"
)

// What a feature adds to the calls of the default shoot, or saves.
func TestDriver_APICallsOfFeatures(t *testing.T) {
	for name, feature := range map[string]struct {
		use                 func(env *environment)
		before              func(env *environment) // the deletion
		first, noop, remove map[string]int
	}{
		"a given router": {
			use: func(env *environment) {
				env.config.Networks.Router = &openstackv1alpha1.Router{ID: env.plantRouter("theirs")}
			},
			first:  map[string]int{getRouters: 1, getPorts: 1, postRouter: -1},
			remove: map[string]int{getRouter: 1, deleteRouter: -1}, // it may have routes to nodes
		},
		"a given network": {
			use: func(env *environment) {
				env.config.Networks.ID = new(env.plant("networks", fake.Attrs{"name": "theirs"}))
			},
			first:  map[string]int{getNetworks: 1, postNetwork: -1},
			remove: map[string]int{deleteNetwork: -1, deleteSubnet: 1},
		},
		"a given network and subnet": {
			use: func(env *environment) {
				network := env.plant("networks", fake.Attrs{"name": "theirs"})
				env.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: new(env.plantSubnet(network, "theirs", "10.250.64.0/20"))}
			},
			first:  map[string]int{getNetworks: 1, getSubnets: 1, postNetwork: -1, postSubnet: -1},
			remove: map[string]int{deleteNetwork: -1},
		},
		"a given security group": {
			use: func(env *environment) {
				env.config.Networks.SecurityGroupID = new(env.plant("security-groups", fake.Attrs{"name": "theirs"}))
			},
			first:  map[string]int{getGroups: 1, postGroup: -1, postRules: -1},
			remove: map[string]int{deleteGroup: -1},
		},
		"a subnet pool": {
			use: func(env *environment) {
				pool := env.plant("subnetpools", fake.Attrs{"name": "v4", "prefixes": []string{"10.128.0.0/12"}, "default_prefixlen": 24})
				env.config.Networks = openstackv1alpha1.Networks{SubnetPool: &openstackv1alpha1.SubnetPool{ID: pool}}
			},
		},
		"a selected floating subnet": {
			use:   func(env *environment) { env.selectFloatingSubnet("public-*") },
			first: map[string]int{getSubnets: 1},
		},
		"dual stack": {
			use: func(env *environment) {
				env.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112"}
				env.shoot.Spec.Networking.IPFamilies = append(env.shoot.Spec.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6)
			},
			first:  map[string]int{postSubnet: 3, addInterface: 1},
			remove: map[string]int{removeInterface: 1},
		},
		"a share network": {
			use: func(env *environment) {
				env.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
			},
			first:  map[string]int{postShare: 1},
			noop:   map[string]int{getShares: 1},
			remove: map[string]int{deleteShare: 1},
		},
		"a route to a node that was left": {
			before: func(env *environment) {
				env.updateResource("routers", "router", env.state()["Router"], fake.Attrs{
					"routes": []any{map[string]any{"destination": "100.96.1.0/24", "nexthop": "10.250.0.7"}},
				})
			},
			remove: map[string]int{getRouter: 1, putRouter: 1, removeInterface: 1},
		},
		"a load balancer that was left": {
			before: func(env *environment) { env.createLoadBalancer(technicalID, env.state()["Subnet"]) },
			remove: map[string]int{getBalancers: 1, deleteBalancer: 1, getFloatingIPs: 1, deleteFloating: 1, getGroups: 1, deleteGroup: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			plain, special := newEnvironment(t), newEnvironment(t)
			if feature.use != nil {
				feature.use(special)
			}
			for _, step := range []struct {
				name string
				do   func(env *environment)
				want map[string]int
			}{
				{"first", func(env *environment) { env.mustReconcile() }, feature.first},
				{"no-op", func(env *environment) { env.mustReconcile() }, feature.noop},
				{"delete", func(env *environment) { env.mustDelete() }, feature.remove},
			} {
				if step.name == "delete" && feature.before != nil {
					feature.before(special)
				}
				plain.cloud.ResetLog()
				special.cloud.ResetLog()
				step.do(plain)
				step.do(special)
				calls := special.takeCalls()
				assert.Equal(t, nonNil(step.want), difference(calls.Count(), plain.takeCalls().Count()), "%s, calls in order:\n%s", step.name, calls)
			}
		})
	}
}

func nonNil(counts map[string]int) map[string]int {
	if counts == nil {
		return map[string]int{}
	}
	return counts
}

// difference returns what a has more than b, by name, or less.
func difference(a, b map[string]int) map[string]int {
	result := map[string]int{}
	for name, count := range a {
		if more := count - b[name]; more != 0 {
			result[name] = more
		}
	}
	for name, count := range b {
		if _, found := a[name]; !found {
			result[name] = -count
		}
	}
	return result
}
