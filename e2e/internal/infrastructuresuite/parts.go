package infrastructuresuite

import (
	"maps"
	"net/http"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/rig"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// Paths of what shoots consist of.
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

// What somebody else makes, with a name.

func makeNetwork(w *rig.World, name string) string {
	w.T.Helper()
	return w.Make(conformance.Network, networks, rig.Body{"network": rig.Body{"name": name}})
}

func makeSubnet(w *rig.World, name, network, cidr string, more rig.Body) string {
	w.T.Helper()
	body := rig.Body{"name": name, "network_id": network, "ip_version": 4, "cidr": cidr}
	maps.Copy(body, more)
	return w.Make(conformance.Network, subnets, rig.Body{"subnet": body})
}

func makeRouter(w *rig.World, name string) string {
	w.T.Helper()
	return w.Make(conformance.Network, routers, rig.Body{"router": rig.Body{
		"name": name, "external_gateway_info": rig.Body{"network_id": w.ExternalNetwork()},
	}})
}

func makeGroup(w *rig.World, name, description string) string {
	w.T.Helper()
	return w.Make(conformance.Network, securityGroups, rig.Body{"security_group": rig.Body{"name": name, "description": description}})
}

func makePort(w *rig.World, name, network string) string {
	w.T.Helper()
	return w.Make(conformance.Network, ports, rig.Body{"port": rig.Body{"name": name, "network_id": network}})
}

func connect(w *rig.World, router, subnet string) {
	w.T.Helper()
	w.Do(http.MethodPut, conformance.Network, routers+"/"+router+"/add_router_interface", rig.Body{"subnet_id": subnet})
}

func disconnect(w *rig.World, router, subnet string) {
	w.T.Helper()
	w.Do(http.MethodPut, conformance.Network, routers+"/"+router+"/remove_router_interface", rig.Body{"subnet_id": subnet})
}

// remove removes resources of Neutron by their paths, in the given order.
func remove(w *rig.World, paths ...string) {
	w.T.Helper()
	for _, path := range paths {
		w.Do(http.MethodDelete, conformance.Network, path, nil)
	}
}

// facts returns what the account has, by kind and ID, without what changes by itself.
func facts(w *rig.World) map[string]conformance.Object {
	w.T.Helper()
	all := map[string]conformance.Object{}
	for _, resource := range w.There() {
		object := maps.Clone(resource.Object)
		delete(object, "revision_number")
		delete(object, "updated_at")
		all[resource.Kind+" "+resource.ID] = object
	}
	return all
}

// assertStays makes sure that all of before is there and as it was. Networks may have got more subnets.
func assertStays(w *rig.World, before map[string]conformance.Object) {
	w.T.Helper()
	after := facts(w)
	for name, was := range before {
		is := maps.Clone(after[name])
		was = maps.Clone(was)
		delete(was, "subnets")
		delete(is, "subnets")
		assert.Equal(w.T, was, is, name)
	}
}
