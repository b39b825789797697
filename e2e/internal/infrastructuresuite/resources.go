package infrastructuresuite

import (
	"maps"
	"net/http"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// Paths of the resources of shoots.
const (
	networks       = "/v2.0/networks"
	subnets        = "/v2.0/subnets"
	routers        = "/v2.0/routers"
	ports          = "/v2.0/ports"
	floatingIPs    = "/v2.0/floatingips"
	subnetPools    = "/v2.0/subnetpools"
	securityGroups = "/v2.0/security-groups"
	rules          = "/v2.0/security-group-rules"
	keyPairs       = "/v2.1/os-keypairs"
	loadBalancers  = "/v2/lbaas/loadbalancers"
)

// Resources of other owners, with a name.

func makeNetwork(env *testenv.Env, name string) string {
	env.T.Helper()
	return env.Make(conformance.Network, networks, testenv.Body{"network": testenv.Body{"name": name}})
}

func makeSubnet(env *testenv.Env, name, network, cidr string, more testenv.Body) string {
	env.T.Helper()
	body := testenv.Body{"name": name, "network_id": network, "ip_version": 4, "cidr": cidr}
	maps.Copy(body, more)
	return env.Make(conformance.Network, subnets, testenv.Body{"subnet": body})
}

func makeRouter(env *testenv.Env, name string) string {
	env.T.Helper()
	return env.Make(conformance.Network, routers, testenv.Body{"router": testenv.Body{
		"name": name, "external_gateway_info": testenv.Body{"network_id": env.ExternalNetwork()},
	}})
}

func makeGroup(env *testenv.Env, name, description string) string {
	env.T.Helper()
	return env.Make(conformance.Network, securityGroups, testenv.Body{"security_group": testenv.Body{"name": name, "description": description}})
}

func makePort(env *testenv.Env, name, network string) string {
	env.T.Helper()
	return env.Make(conformance.Network, ports, testenv.Body{"port": testenv.Body{"name": name, "network_id": network}})
}

func connect(env *testenv.Env, router, subnet string) {
	env.T.Helper()
	env.Do(http.MethodPut, conformance.Network, routers+"/"+router+"/add_router_interface", testenv.Body{"subnet_id": subnet})
}

func disconnect(env *testenv.Env, router, subnet string) {
	env.T.Helper()
	env.Do(http.MethodPut, conformance.Network, routers+"/"+router+"/remove_router_interface", testenv.Body{"subnet_id": subnet})
}

// remove deletes resources of Neutron by their paths, in the given order.
func remove(env *testenv.Env, paths ...string) {
	env.T.Helper()
	for _, path := range paths {
		env.Do(http.MethodDelete, conformance.Network, path, nil)
	}
}

// stableResources returns the account's resources by kind and ID, without fields that the cloud changes.
func stableResources(env *testenv.Env) map[string]conformance.Object {
	env.T.Helper()
	all := map[string]conformance.Object{}
	for _, resource := range env.Resources() {
		object := maps.Clone(resource.Object)
		delete(object, "revision_number")
		delete(object, "updated_at")
		all[resource.Kind+" "+resource.ID] = object
	}
	return all
}

// assertStays asserts that all resources of before exist unchanged. Networks may have additional subnets.
func assertStays(env *testenv.Env, before map[string]conformance.Object) {
	env.T.Helper()
	after := stableResources(env)
	for name, was := range before {
		is := maps.Clone(after[name])
		was = maps.Clone(was)
		delete(was, "subnets")
		delete(is, "subnets")
		assert.Equal(env.T, was, is, name)
	}
}
