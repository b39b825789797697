package shoot_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// site has the IDs of the cloud's resources for a shoot's nodes, and of one server.
type site struct {
	external, network, subnet, router, server string
	serverName, flavorName, zone, address     string
}

// makeSite creates an infrastructure's resources, and a server.
func (env *environment) makeSite(t *testing.T) site {
	t.Helper()
	s := site{
		external:   env.pick(t, conformance.Network, "/v2.0/networks", "networks", env.cloud.ExternalNetwork()),
		serverName: "node-1", flavorName: "m1.small",
	}
	s.network = env.create(t, conformance.Network, "/v2.0/networks", "network", conformance.Body{"name": "nodes"})
	s.subnet = env.create(t, conformance.Network, "/v2.0/subnets", "subnet", conformance.Body{
		"name": "nodes", "network_id": s.network, "ip_version": 4, "cidr": "10.250.0.0/24",
	})
	s.router = env.create(t, conformance.Network, "/v2.0/routers", "router", conformance.Body{
		"name": "nodes", "external_gateway_info": conformance.Body{"network_id": s.external},
	})
	env.do(t, http.MethodPut, conformance.Network, "/v2.0/routers/"+s.router+"/add_router_interface", conformance.Body{"subnet_id": s.subnet})
	s.server = env.create(t, conformance.Compute, "/v2.1/servers", "server", conformance.Body{
		"name": s.serverName, "networks": []conformance.Body{{"uuid": s.network}},
		"flavorRef": env.pick(t, conformance.Compute, "/v2.1/flavors", "flavors", s.flavorName),
		"imageRef":  env.pick(t, conformance.Image, "/v2/images", "images", "tiny"),
	})
	server := env.do(t, http.MethodGet, conformance.Compute, "/v2.1/servers/"+s.server, nil)
	s.zone = server.Text("server.OS-EXT-AZ:availability_zone")
	s.address = server.Objects("server.addresses.nodes")[0].Text("addr")
	require.NotEmpty(t, s.zone)
	return s
}

// routes lists the router's routes, as "range via address".
func (env *environment) routes(t *testing.T, s site) (routes []string) {
	t.Helper()
	for _, route := range env.do(t, http.MethodGet, conformance.Network, "/v2.0/routers/"+s.router, nil).Objects("router.routes") {
		routes = append(routes, route.Text("destination")+" via "+route.Text("nexthop"))
	}
	return routes
}

// loadBalancers lists their names.
func (env *environment) loadBalancers(t *testing.T) (names []string) {
	t.Helper()
	for _, balancer := range env.do(t, http.MethodGet, conformance.LoadBalancer, "/v2.0/lbaas/loadbalancers", nil).Objects("loadbalancers") {
		names = append(names, balancer.Text("name"))
	}
	return names
}

// do makes a request as the shoot's account.
func (env *environment) do(t *testing.T, method string, service conformance.Service, path string, body any) conformance.Object {
	t.Helper()
	answer, err := env.account.DoAsMember(t.Context(), method, service, path, body)
	require.NoError(t, err)
	return answer
}

// create creates a resource and returns its ID.
func (env *environment) create(t *testing.T, service conformance.Service, path, kind string, attributes conformance.Body) string {
	t.Helper()
	return env.do(t, http.MethodPost, service, path, conformance.Body{kind: attributes}).Text(kind + ".id")
}

// pick returns the ID of the resource with a name.
func (env *environment) pick(t *testing.T, service conformance.Service, path, kind, name string) string {
	t.Helper()
	for _, object := range env.do(t, http.MethodGet, service, path, nil).Objects(kind) {
		if object.Text("name") == name {
			return object.ID()
		}
	}
	require.FailNow(t, "there is none called "+name)
	return ""
}
