package conformance

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func servers() []Behaviour {
	return slices.Concat(serverLifecycle(), serverPlacement(), invalidServers(), listsOfServers(), serverParts())
}

// postServer asks for a server and removes it at the end. It is written down.
func (c *Case) postServer(body Body, headers ...string) Object {
	c.Helper()
	created := c.Member.Post(Compute, serversPath, body, headers...).RequireStatus(202)
	c.DeleteAtCleanup(c.Member, Compute, serverPath(created))
	return created
}

// portsOf lists the ports of a server.
func (c *Case) portsOf(server Object) []Object {
	c.Helper()
	return c.Member.Get(Network, "/v2.0/ports?device_id="+server.ID()+"&fields=device_id&fields=device_owner&fields=status&fields=name").List("ports")
}

func serverLifecycle() []Behaviour {
	return []Behaviour{
		behaviour("a server on a port that was made before takes the port, and leaves it free when it goes", func(c *Case) {
			network, _ := c.NetworkForServers()
			port, zone := c.Port(network), c.Zones()[0]
			created := c.postServer(c.ServerBody(Body{
				"name": "machine-1", "networks": []Body{{"port": port.ID()}}, "availability_zone": zone,
				"metadata": Body{"pool": "a", "kubernetes.io-cluster-one": "1"},
			}))
			assert.NotEmpty(c, created.Text("adminPass"))
			assert.NotContains(c, created, "status", "one must ask for it")
			c.WaitForServer(created, "ACTIVE")
			got := c.Member.Get(Compute, serverPath(created)).RequireStatus(200)
			assert.Equal(c, zone, got.Text("OS-EXT-AZ:availability_zone"))
			assert.Equal(c, "a", got.Text("metadata.pool"))
			assert.Equal(c, "active", got.Text("OS-EXT-STS:vm_state"))
			bound := c.Member.Get(Network, "/v2.0/ports/"+port.ID()+"?fields=device_id&fields=device_owner&fields=name&fields=status").RequireStatus(200)
			assert.Equal(c, created.ID(), bound.Text("device_id"))
			assert.Equal(c, "compute:"+zone, bound.Text("device_owner"))
			c.Member.Delete(Compute, serverPath(created)).RequireStatus(204)
			c.WaitUntilGone(Compute, serverPath(created))
			free := c.Member.Get(Network, "/v2.0/ports/"+port.ID()+"?fields=device_id&fields=device_owner&fields=name&fields=status").RequireStatus(200)
			assert.Empty(c, free.Text("device_id")+free.Text("device_owner"))
			assert.Equal(c, "DOWN", free.Text("status"))
		}),
		behaviour("a server on a network gets a port from Nova, which goes with it", func(c *Case) {
			network, subnet := c.NetworkForServers()
			created := c.postServer(c.ServerBody(Body{"networks": []Body{{"uuid": network.ID(), "fixed_ip": "10.20.0.77"}}, "availability_zone": c.Zones()[0]}))
			c.WaitForServer(created, "ACTIVE")
			got := c.Member.Get(Compute, serverPath(created)).RequireStatus(200)
			require.Len(c, got.Objects("addresses.given"), 1)
			assert.Equal(c, "10.20.0.77", got.Objects("addresses.given")[0].Text("addr"))
			require.Len(c, c.portsOf(created), 1)
			c.Member.Get(Compute, serverPath(created)+"/os-interface").RequireStatus(200)
			assert.Len(c, c.Member.Get(Network, "/v2.0/ports?fixed_ips=subnet_id="+subnet.ID()+"&device_owner=compute:"+c.Zones()[0]).List("ports"), 1)
			c.Member.Delete(Compute, serverPath(created)).RequireStatus(204)
			c.WaitUntilGone(Compute, serverPath(created))
			assert.Empty(c, c.portsOf(created))
		}),
		behaviour("a server shows more with each microversion", func(c *Case) {
			network, _ := c.NetworkForServers()
			server := c.Server(Body{"networks": []Body{{"uuid": network.ID()}}})
			for _, version := range []string{"2.1", "2.3", "2.9", "2.19", "2.26", "2.46", "2.47", "2.63", "2.71", "2.73", "2.75", "2.93"} {
				c.Member.Get(Compute, serverPath(server), microversionHeader(version)...).RequireStatus(200)
			}
			now := c.Member.Get(Compute, serverPath(server), microversionHeader("2.47")...).RequireStatus(200)
			assert.Equal(c, tinyFlavor, now.Text("flavor.original_name"), "instead of an ID")
		}),
		behaviour("a server that is not there is NOT FOUND, also when it is deleted twice", func(c *Case) {
			for _, id := range []string{unknownComputeID, "none"} {
				c.Member.Get(Compute, serversPath+"/"+id).AssertError(404, "itemNotFound").AssertMessage("Instance %s could not be found.", id)
				c.Member.Delete(Compute, serversPath+"/"+id).AssertError(404, "itemNotFound")
			}
			network, _ := c.NetworkForServers()
			server := c.Server(Body{"networks": []Body{{"uuid": network.ID()}}})
			c.OtherMember.Get(Compute, serverPath(server)).AssertError(404, "itemNotFound")
			c.OtherMember.Delete(Compute, serverPath(server)).AssertError(404, "itemNotFound")
			c.Member.Delete(Compute, serverPath(server)).RequireStatus(204)
			c.WaitUntilGone(Compute, serverPath(server))
			c.Member.Delete(Compute, serverPath(server)).AssertError(404, "itemNotFound")
		}),
		behaviour("where a server runs is for operators to see", func(c *Case) {
			network, _ := c.NetworkForServers()
			server := c.Server(Body{"networks": []Body{{"uuid": network.ID()}}})
			const host = "OS-EXT-SRV-ATTR:host"
			assert.NotContains(c, c.Member.Get(Compute, serverPath(server)).RequireStatus(200), host)
			c.WithoutRecording(func() {
				assert.NotEmpty(c, c.Operator.Get(Compute, serverPath(server)).RequireStatus(200).Text(host))
			})
			assert.Empty(c, c.Member.Get(Compute, serversPath+"?all_tenants=0&name=none").List("servers"))
			c.Member.Get(Compute, serversPath+"?all_tenants=1").AssertError(403, "forbidden")
			assert.Len(c, c.Operator.Get(Compute, serversPath+"?all_tenants=1&project_id="+c.Member.ProjectID).List("servers"), 1)
		}),
		behaviour("a key pair that a server was made with can be deleted", func(c *Case) {
			network, _ := c.NetworkForServers()
			c.WithoutRecording(func() { c.importKeyPair("machines").RequireStatus(200) })
			server := c.Server(Body{"networks": []Body{{"uuid": network.ID()}}, "key_name": "machines", "config_drive": true})
			c.Member.Delete(Compute, keyPairPath("machines")).RequireStatus(202)
			got := c.Member.Get(Compute, serverPath(server)).RequireStatus(200)
			assert.Equal(c, "machines", got.Text("key_name"))
			assert.Equal(c, "True", got.Text("config_drive"))
		}),
		behaviour("a server keeps the name of its network when two ports are in it, and shows a floating IP beside its address", func(c *Case) {
			network, subnet := c.NetworkForServers()
			router := c.RouterWithGateway()
			c.Interface(router, subnet)
			one, two := c.Port(network), c.Port(network)
			server := c.Server(Body{"networks": []Body{{"port": one.ID()}, {"port": two.ID()}}})
			c.Fixture(Network, "/v2.0/floatingips", Body{"floatingip": Body{"floating_network_id": c.External.ID(), "port_id": one.ID()}})
			c.WaitUntil("the server shows its floating IP", func() bool {
				return len(c.Member.Get(Compute, serverPath(server)).RequireStatus(200).Objects("addresses.given")) == 3
			})
			kinds := map[string]int{}
			for _, address := range c.Member.Get(Compute, serverPath(server)).RequireStatus(200).Objects("addresses.given") {
				kinds[address.Text("OS-EXT-IPS:type")]++
			}
			assert.Equal(c, map[string]int{"fixed": 2, "floating": 1}, kinds)
		}),
	}
}

// serverPlacement is about zones and server groups.
func serverPlacement() []Behaviour {
	return []Behaviour{
		behaviour("the zones of compute are listed for everybody, and a server lands in the one that it asks for", func(c *Case) {
			zones := c.Zones()
			c.Member.Get(Compute, "/v2.1/os-availability-zone").RequireStatus(200)
			network, _ := c.NetworkForServers()
			for _, zone := range slices.Compact([]string{zones[0], zones[len(zones)-1]}) {
				server := c.Server(Body{"networks": []Body{{"uuid": network.ID()}}, "availability_zone": zone})
				got := c.Member.Get(Compute, serverPath(server)).RequireStatus(200)
				assert.Equal(c, zone, got.Text("OS-EXT-AZ:availability_zone"))
			}
			assert.Len(c, c.Member.Get(Compute, serversPath+"/detail?sort_key=created_at").List("servers"), len(slices.Compact([]string{zones[0], zones[len(zones)-1]})))
			c.Member.Get(Compute, "/v2.1/os-availability-zone/detail").AssertError(403, "forbidden")
		}),
		behaviour("a server that finds no host is in ERROR with a fault that says so, and can be deleted", func(c *Case) {
			network, _ := c.NetworkForServers()
			zone := c.Zones()[0]
			var group Object
			c.WithoutRecording(func() { group = c.makeGroup(Body{"name": "pool", "policies": []string{"anti-affinity"}}) })
			c.serverInGroup(group, Body{"networks": []Body{{"uuid": network.ID()}}, "availability_zone": zone})
			port := c.Port(network)
			body := c.ServerBody(Body{"name": "two", "networks": []Body{{"port": port.ID()}}, "availability_zone": zone})
			body["os:scheduler_hints"] = Body{"group": group.ID()}
			second := c.postServer(body)
			c.WaitForServer(second, "ERROR")
			got := c.Member.Get(Compute, serverPath(second)).RequireStatus(200)
			assert.Equal(c, "500", got.Text("fault.code"))
			assert.Contains(c, got.Text("fault.message"), "No valid host was found.")
			assert.NotEmpty(c, got.Text("fault.created"))
			failed := c.Member.Get(Compute, serversPath+"/detail?status=ERROR").List("servers")
			require.Len(c, failed, 1)
			assert.NotContains(c, failed[0], "fault", "a list does not tell why")
			c.Member.Get(Compute, groupPath(group)).RequireStatus(200)
			c.Member.Get(Network, "/v2.0/ports/"+port.ID()+"?fields=device_id&fields=device_owner&fields=status").RequireStatus(200)
			c.Member.Delete(Compute, serverPath(second)).RequireStatus(204)
			c.WaitUntilGone(Compute, serverPath(second))
			c.Member.Get(Network, "/v2.0/ports/"+port.ID()+"?fields=device_id&fields=device_owner&fields=status").RequireStatus(200)
		}),
		behaviour("a hard affinity keeps servers in one zone", func(c *Case) {
			zones := c.Zones()
			network, _ := c.NetworkForServers()
			var group Object
			c.WithoutRecording(func() { group = c.makeGroup(Body{"name": "pool", "policies": []string{"affinity"}}) })
			c.serverInGroup(group, Body{"networks": []Body{{"uuid": network.ID()}}, "availability_zone": zones[0]})
			c.serverInGroup(group, Body{"networks": []Body{{"uuid": network.ID()}}, "availability_zone": zones[0]})
			body := c.ServerBody(Body{"networks": []Body{{"uuid": network.ID()}}, "availability_zone": zones[len(zones)-1]})
			body["os:scheduler_hints"] = Body{"group": group.ID()}
			other := c.postServer(body)
			c.WaitForServer(other, "ERROR")
			c.Member.Get(Compute, serverPath(other)).RequireStatus(200)
		}),
	}
}

func invalidServers() []Behaviour {
	refused := func(c *Case, attributes Body, message string, headers ...string) {
		c.Helper()
		c.Member.Post(Compute, serversPath, c.ServerBody(attributes), headers...).AssertError(400, "badRequest").AssertMessage("%s", message)
	}
	return []Behaviour{
		behaviour("a server refers to things that exist", func(c *Case) {
			network, _ := c.NetworkForServers()
			on := []Body{{"uuid": network.ID()}}
			refused(c, Body{"networks": on, "flavorRef": unknownComputeID}, "Flavor "+unknownComputeID+" could not be found.")
			refused(c, Body{"networks": on, "flavorRef": tinyFlavor}, "Flavor "+tinyFlavor+" could not be found.")
			refused(c, Body{"networks": on, "imageRef": unknownComputeID}, "Can not find requested image")
			refused(c, Body{"networks": on, "imageRef": tinyImage}, "'tiny' is not valid under any of the given schemas")
			refused(c, Body{"networks": on, "imageRef": nil}, "")
			refused(c, Body{"networks": on, "key_name": "none"}, "Invalid key_name provided.")
			refused(c, Body{"networks": on, "availability_zone": "mars"}, "The requested availability zone is not available")
			refused(c, Body{"networks": on, "security_groups": []Body{{"name": "none"}}}, "")
			refused(c, Body{"networks": []Body{{"uuid": unknownComputeID}}}, "Network "+unknownComputeID+" could not be found.")
			refused(c, Body{"networks": []Body{{"port": unknownComputeID}}}, "Port id "+unknownComputeID+" could not be found.")
			refused(c, Body{"networks": []Body{{"uuid": "none"}}}, "")
			hint := func(group string) *Response {
				body := c.ServerBody(Body{"networks": on})
				body["os:scheduler_hints"] = Body{"group": group}
				return c.Member.Post(Compute, serversPath, body)
			}
			hint(unknownComputeID).AssertError(400, "badRequest")
			hint("none").AssertError(400, "badRequest")
			assert.Empty(c, c.Member.Get(Compute, serversPath).List("servers"))
			assert.Empty(c, c.Member.Get(Network, "/v2.0/ports?network_id="+network.ID()+"&device_owner=compute:"+c.Zones()[0]).List("ports"))
		}),
		behaviour("a port serves one server", func(c *Case) {
			network, _ := c.NetworkForServers()
			port := c.Port(network)
			c.Server(Body{"networks": []Body{{"port": port.ID()}}})
			c.Member.Post(Compute, serversPath, c.ServerBody(Body{"networks": []Body{{"port": port.ID()}}})).
				AssertError(409, "conflictingRequest").AssertMessage("Port %s is still in use.", port.ID())
			twice := c.Port(network)
			c.Member.Post(Compute, serversPath, c.ServerBody(Body{"networks": []Body{{"port": twice.ID()}, {"port": twice.ID()}}})).AssertError(400, "badRequest")
			assert.Empty(c, c.Member.Get(Network, "/v2.0/ports/"+twice.ID()+"?fields=device_id&fields=device_owner").RequireStatus(200).Text("device_id"))
		}),
		behaviour("of several networks Nova does not choose", func(c *Case) {
			c.NetworkForServers()
			other := c.Network()
			c.Subnet(other, "10.21.0.0/24")
			c.Member.Post(Compute, serversPath, c.ServerBody(nil)).AssertError(409, "conflictingRequest").
				AssertMessage("Multiple possible networks found, use a Network ID to be more specific.")
			c.Member.Post(Compute, serversPath, c.ServerBody(nil), microversionHeader("2.37")...).AssertError(400, "badRequest")
		}),
		behaviour("a network without a subnet has no addresses for a server, and takes one without any", func(c *Case) {
			network := c.Network()
			c.Member.Post(Compute, serversPath, c.ServerBody(Body{"networks": []Body{{"uuid": network.ID()}}})).AssertError(400, "badRequest")
		}),
		behaviour("a server has a name, a flavor, and nothing that does not exist", func(c *Case) {
			refused(c, Body{"name": nil}, "'name' is a required property")
			refused(c, Body{"flavorRef": nil}, "'flavorRef' is a required property")
			refused(c, Body{"name": ""}, "'' is too short")
			refused(c, Body{"name": strings.Repeat("a", 256)}, "is too long")
			refused(c, Body{"colour": "green"}, "'colour' was unexpected")
			refused(c, Body{"metadata": Body{"pool": 1}}, "1 is not of type 'string'")
			refused(c, Body{"metadata": Body{"pool": strings.Repeat("a", 256)}}, "is too long")
			refused(c, Body{"metadata": Body{"kubernetes.io/cluster": "1"}}, "")
			refused(c, Body{"networks": "none", "tags": []string{"a"}}, "'tags' was unexpected", microversionHeader("2.51")...)
			refused(c, Body{"networks": "none"}, "")
			refused(c, Body{"networks": "some"}, "", microversionHeader("2.37")...)
			refused(c, Body{"config_drive": "perhaps"}, "")
			c.Member.Post(Compute, serversPath, Body{}).AssertError(400, "badRequest")
		}),
		behaviour("user data is base64 and 65535 bytes long at most", func(c *Case) {
			refused(c, Body{"networks": "none", "user_data": "#cloud-config"}, "", microversionHeader("2.37")...)
			refused(c, Body{"networks": "none", "user_data": strings.Repeat("a", 65536)}, "is too long", microversionHeader("2.37")...)
			body := c.ServerBody(Body{"networks": "none", "user_data": base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 49149)))})
			created := c.postServer(body, microversionHeader("2.37")...)
			got := c.WaitForServer(created, "ACTIVE")
			assert.Empty(c, got.At("addresses"))
			c.WithoutRecording(func() {
				assert.Len(c, c.Operator.Get(Compute, serverPath(created), microversionHeader("2.3")...).RequireStatus(200).Text("OS-EXT-SRV-ATTR:user_data"), 65532)
			})
		}),
	}
}
