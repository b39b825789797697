package conformance

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func servers() []Behaviour {
	return slices.Concat(lifeOfServers(), placesOfServers(), refusedServers(), listsOfServers(), partsOfServers())
}

// postServer asks for a server and removes it at the end. It is written down.
func (c *Case) postServer(body Body, headers ...string) Object {
	c.Helper()
	made := c.Member.Post(Compute, serversPath, body, headers...).Succeeds(202)
	c.Remove(c.Member, Compute, serverPath(made))
	return made
}

// portsOf lists the ports of a server.
func (c *Case) portsOf(server Object) []Object {
	c.Helper()
	return c.Member.Get(Network, "/v2.0/ports?device_id="+server.ID()+"&fields=device_id&fields=device_owner&fields=status&fields=name").List("ports")
}

func lifeOfServers() []Behaviour {
	return []Behaviour{
		behaviour("a server on a port that was made before takes the port, and leaves it free when it goes", func(c *Case) {
			network, _ := c.Site()
			port, zone := c.Port(network), c.Zones()[0]
			made := c.postServer(c.ServerBody(Body{
				"name": "machine-1", "networks": []Body{{"port": port.ID()}}, "availability_zone": zone,
				"metadata": Body{"pool": "a", "kubernetes.io-cluster-one": "1"},
			}))
			assert.NotEmpty(c, made.Text("adminPass"))
			assert.NotContains(c, made, "status", "one must ask for it")
			c.Becomes(made, "ACTIVE")
			got := c.Member.Get(Compute, serverPath(made)).Succeeds(200)
			assert.Equal(c, zone, got.Text("OS-EXT-AZ:availability_zone"))
			assert.Equal(c, "a", got.Text("metadata.pool"))
			assert.Equal(c, "active", got.Text("OS-EXT-STS:vm_state"))
			bound := c.Member.Get(Network, "/v2.0/ports/"+port.ID()+"?fields=device_id&fields=device_owner&fields=name&fields=status").Succeeds(200)
			assert.Equal(c, made.ID(), bound.Text("device_id"))
			assert.Equal(c, "compute:"+zone, bound.Text("device_owner"))
			c.Member.Delete(Compute, serverPath(made)).Succeeds(204)
			c.Gone(Compute, serverPath(made))
			free := c.Member.Get(Network, "/v2.0/ports/"+port.ID()+"?fields=device_id&fields=device_owner&fields=name&fields=status").Succeeds(200)
			assert.Empty(c, free.Text("device_id")+free.Text("device_owner"))
			assert.Equal(c, "DOWN", free.Text("status"))
		}),
		behaviour("a server on a network gets a port from Nova, which goes with it", func(c *Case) {
			network, subnet := c.Site()
			made := c.postServer(c.ServerBody(Body{"networks": []Body{{"uuid": network.ID(), "fixed_ip": "10.20.0.77"}}, "availability_zone": c.Zones()[0]}))
			c.Becomes(made, "ACTIVE")
			got := c.Member.Get(Compute, serverPath(made)).Succeeds(200)
			require.Len(c, got.Objects("addresses.given"), 1)
			assert.Equal(c, "10.20.0.77", got.Objects("addresses.given")[0].Text("addr"))
			require.Len(c, c.portsOf(made), 1)
			c.Member.Get(Compute, serverPath(made)+"/os-interface").Succeeds(200)
			assert.Len(c, c.Member.Get(Network, "/v2.0/ports?fixed_ips=subnet_id="+subnet.ID()+"&device_owner=compute:"+c.Zones()[0]).List("ports"), 1)
			c.Member.Delete(Compute, serverPath(made)).Succeeds(204)
			c.Gone(Compute, serverPath(made))
			assert.Empty(c, c.portsOf(made))
		}),
		behaviour("a server shows more with each microversion", func(c *Case) {
			network, _ := c.Site()
			server := c.Server(Body{"networks": []Body{{"uuid": network.ID()}}})
			for _, version := range []string{"2.1", "2.3", "2.9", "2.19", "2.26", "2.46", "2.47", "2.63", "2.71", "2.73", "2.75", "2.93"} {
				c.Member.Get(Compute, serverPath(server), at(version)...).Succeeds(200)
			}
			now := c.Member.Get(Compute, serverPath(server), at("2.47")...).Succeeds(200)
			assert.Equal(c, tinyFlavor, now.Text("flavor.original_name"), "instead of an ID")
		}),
		behaviour("a server that is not there is NOT FOUND, also when it is deleted twice", func(c *Case) {
			for _, id := range []string{nothing, "none"} {
				c.Member.Get(Compute, serversPath+"/"+id).Refused(404, "itemNotFound").Saying("Instance %s could not be found.", id)
				c.Member.Delete(Compute, serversPath+"/"+id).Refused(404, "itemNotFound")
			}
			network, _ := c.Site()
			server := c.Server(Body{"networks": []Body{{"uuid": network.ID()}}})
			c.Stranger.Get(Compute, serverPath(server)).Refused(404, "itemNotFound")
			c.Stranger.Delete(Compute, serverPath(server)).Refused(404, "itemNotFound")
			c.Member.Delete(Compute, serverPath(server)).Succeeds(204)
			c.Gone(Compute, serverPath(server))
			c.Member.Delete(Compute, serverPath(server)).Refused(404, "itemNotFound")
		}),
		behaviour("where a server runs is for operators to see", func(c *Case) {
			network, _ := c.Site()
			server := c.Server(Body{"networks": []Body{{"uuid": network.ID()}}})
			const host = "OS-EXT-SRV-ATTR:host"
			assert.NotContains(c, c.Member.Get(Compute, serverPath(server)).Succeeds(200), host)
			c.Quietly(func() {
				assert.NotEmpty(c, c.Operator.Get(Compute, serverPath(server)).Succeeds(200).Text(host))
			})
			assert.Empty(c, c.Member.Get(Compute, serversPath+"?all_tenants=0&name=none").List("servers"))
			c.Member.Get(Compute, serversPath+"?all_tenants=1").Refused(403, "forbidden")
			assert.Len(c, c.Operator.Get(Compute, serversPath+"?all_tenants=1&project_id="+c.Member.ProjectID).List("servers"), 1)
		}),
		behaviour("a key pair that a server was made with can be deleted", func(c *Case) {
			network, _ := c.Site()
			c.Quietly(func() { c.importKeyPair("machines").Succeeds(200) })
			server := c.Server(Body{"networks": []Body{{"uuid": network.ID()}}, "key_name": "machines", "config_drive": true})
			c.Member.Delete(Compute, keyPairPath("machines")).Succeeds(202)
			got := c.Member.Get(Compute, serverPath(server)).Succeeds(200)
			assert.Equal(c, "machines", got.Text("key_name"))
			assert.Equal(c, "True", got.Text("config_drive"))
		}),
		behaviour("a server keeps the name of its network when two ports are in it, and shows a floating IP beside its address", func(c *Case) {
			network, subnet := c.Site()
			router := c.RouterWithGateway()
			c.Interface(router, subnet)
			one, two := c.Port(network), c.Port(network)
			server := c.Server(Body{"networks": []Body{{"port": one.ID()}, {"port": two.ID()}}})
			c.Given(Network, "/v2.0/floatingips", Body{"floatingip": Body{"floating_network_id": c.External.ID(), "port_id": one.ID()}})
			c.Until("the server shows its floating IP", func() bool {
				return len(c.Member.Get(Compute, serverPath(server)).Succeeds(200).Objects("addresses.given")) == 3
			})
			kinds := map[string]int{}
			for _, address := range c.Member.Get(Compute, serverPath(server)).Succeeds(200).Objects("addresses.given") {
				kinds[address.Text("OS-EXT-IPS:type")]++
			}
			assert.Equal(c, map[string]int{"fixed": 2, "floating": 1}, kinds)
		}),
	}
}

// placesOfServers is about zones and server groups.
func placesOfServers() []Behaviour {
	return []Behaviour{
		behaviour("the zones of compute are listed for everybody, and a server lands in the one that it asks for", func(c *Case) {
			zones := c.Zones()
			c.Member.Get(Compute, "/v2.1/os-availability-zone").Succeeds(200)
			network, _ := c.Site()
			for _, zone := range slices.Compact([]string{zones[0], zones[len(zones)-1]}) {
				server := c.Server(Body{"networks": []Body{{"uuid": network.ID()}}, "availability_zone": zone})
				got := c.Member.Get(Compute, serverPath(server)).Succeeds(200)
				assert.Equal(c, zone, got.Text("OS-EXT-AZ:availability_zone"))
			}
			assert.Len(c, c.Member.Get(Compute, serversPath+"/detail?sort_key=created_at").List("servers"), len(slices.Compact([]string{zones[0], zones[len(zones)-1]})))
			c.Member.Get(Compute, "/v2.1/os-availability-zone/detail").Refused(403, "forbidden")
		}),
		behaviour("a server that finds no host is in ERROR with a fault that says so, and can be deleted", func(c *Case) {
			network, _ := c.Site()
			zone := c.Zones()[0]
			var group Object
			c.Quietly(func() { group = c.makeGroup(Body{"name": "pool", "policies": []string{"anti-affinity"}}) })
			c.serverInGroup(group, Body{"networks": []Body{{"uuid": network.ID()}}, "availability_zone": zone})
			port := c.Port(network)
			body := c.ServerBody(Body{"name": "two", "networks": []Body{{"port": port.ID()}}, "availability_zone": zone})
			body["os:scheduler_hints"] = Body{"group": group.ID()}
			second := c.postServer(body)
			c.Becomes(second, "ERROR")
			got := c.Member.Get(Compute, serverPath(second)).Succeeds(200)
			assert.Equal(c, "500", got.Text("fault.code"))
			assert.Contains(c, got.Text("fault.message"), "No valid host was found.")
			assert.NotEmpty(c, got.Text("fault.created"))
			failed := c.Member.Get(Compute, serversPath+"/detail?status=ERROR").List("servers")
			require.Len(c, failed, 1)
			assert.NotContains(c, failed[0], "fault", "a list does not tell why")
			c.Member.Get(Compute, groupPath(group)).Succeeds(200)
			c.Member.Get(Network, "/v2.0/ports/"+port.ID()+"?fields=device_id&fields=device_owner&fields=status").Succeeds(200)
			c.Member.Delete(Compute, serverPath(second)).Succeeds(204)
			c.Gone(Compute, serverPath(second))
			c.Member.Get(Network, "/v2.0/ports/"+port.ID()+"?fields=device_id&fields=device_owner&fields=status").Succeeds(200)
		}),
		behaviour("a hard affinity keeps servers in one zone", func(c *Case) {
			zones := c.Zones()
			network, _ := c.Site()
			var group Object
			c.Quietly(func() { group = c.makeGroup(Body{"name": "pool", "policies": []string{"affinity"}}) })
			c.serverInGroup(group, Body{"networks": []Body{{"uuid": network.ID()}}, "availability_zone": zones[0]})
			c.serverInGroup(group, Body{"networks": []Body{{"uuid": network.ID()}}, "availability_zone": zones[0]})
			body := c.ServerBody(Body{"networks": []Body{{"uuid": network.ID()}}, "availability_zone": zones[len(zones)-1]})
			body["os:scheduler_hints"] = Body{"group": group.ID()}
			other := c.postServer(body)
			c.Becomes(other, "ERROR")
			c.Member.Get(Compute, serverPath(other)).Succeeds(200)
		}),
	}
}

func refusedServers() []Behaviour {
	refused := func(c *Case, attributes Body, says string, headers ...string) {
		c.Helper()
		c.Member.Post(Compute, serversPath, c.ServerBody(attributes), headers...).Refused(400, "badRequest").Saying("%s", says)
	}
	return []Behaviour{
		behaviour("a server refers to things that exist", func(c *Case) {
			network, _ := c.Site()
			on := []Body{{"uuid": network.ID()}}
			refused(c, Body{"networks": on, "flavorRef": nothing}, "Flavor "+nothing+" could not be found.")
			refused(c, Body{"networks": on, "flavorRef": tinyFlavor}, "Flavor "+tinyFlavor+" could not be found.")
			refused(c, Body{"networks": on, "imageRef": nothing}, "Can not find requested image")
			refused(c, Body{"networks": on, "imageRef": tinyImage}, "'tiny' is not valid under any of the given schemas")
			refused(c, Body{"networks": on, "imageRef": nil}, "")
			refused(c, Body{"networks": on, "key_name": "none"}, "Invalid key_name provided.")
			refused(c, Body{"networks": on, "availability_zone": "mars"}, "The requested availability zone is not available")
			refused(c, Body{"networks": on, "security_groups": []Body{{"name": "none"}}}, "")
			refused(c, Body{"networks": []Body{{"uuid": nothing}}}, "Network "+nothing+" could not be found.")
			refused(c, Body{"networks": []Body{{"port": nothing}}}, "Port id "+nothing+" could not be found.")
			refused(c, Body{"networks": []Body{{"uuid": "none"}}}, "")
			hint := func(group string) *Answer {
				body := c.ServerBody(Body{"networks": on})
				body["os:scheduler_hints"] = Body{"group": group}
				return c.Member.Post(Compute, serversPath, body)
			}
			hint(nothing).Refused(400, "badRequest")
			hint("none").Refused(400, "badRequest")
			assert.Empty(c, c.Member.Get(Compute, serversPath).List("servers"))
			assert.Empty(c, c.Member.Get(Network, "/v2.0/ports?network_id="+network.ID()+"&device_owner=compute:"+c.Zones()[0]).List("ports"))
		}),
		behaviour("a port serves one server", func(c *Case) {
			network, _ := c.Site()
			port := c.Port(network)
			c.Server(Body{"networks": []Body{{"port": port.ID()}}})
			c.Member.Post(Compute, serversPath, c.ServerBody(Body{"networks": []Body{{"port": port.ID()}}})).
				Refused(409, "conflictingRequest").Saying("Port %s is still in use.", port.ID())
			twice := c.Port(network)
			c.Member.Post(Compute, serversPath, c.ServerBody(Body{"networks": []Body{{"port": twice.ID()}, {"port": twice.ID()}}})).Refused(400, "badRequest")
			assert.Empty(c, c.Member.Get(Network, "/v2.0/ports/"+twice.ID()+"?fields=device_id&fields=device_owner").Succeeds(200).Text("device_id"))
		}),
		behaviour("of several networks Nova does not choose", func(c *Case) {
			c.Site()
			other := c.Network()
			c.Subnet(other, "10.21.0.0/24")
			c.Member.Post(Compute, serversPath, c.ServerBody(nil)).Refused(409, "conflictingRequest").
				Saying("Multiple possible networks found, use a Network ID to be more specific.")
			c.Member.Post(Compute, serversPath, c.ServerBody(nil), at("2.37")...).Refused(400, "badRequest")
		}),
		behaviour("a network without a subnet has no addresses for a server, and takes one without any", func(c *Case) {
			network := c.Network()
			c.Member.Post(Compute, serversPath, c.ServerBody(Body{"networks": []Body{{"uuid": network.ID()}}})).Refused(400, "badRequest")
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
			refused(c, Body{"networks": "none", "tags": []string{"a"}}, "'tags' was unexpected", at("2.51")...)
			refused(c, Body{"networks": "none"}, "")
			refused(c, Body{"networks": "some"}, "", at("2.37")...)
			refused(c, Body{"config_drive": "perhaps"}, "")
			c.Member.Post(Compute, serversPath, Body{}).Refused(400, "badRequest")
		}),
		behaviour("user data is base64 and 65535 bytes long at most", func(c *Case) {
			refused(c, Body{"networks": "none", "user_data": "#cloud-config"}, "", at("2.37")...)
			refused(c, Body{"networks": "none", "user_data": strings.Repeat("a", 65536)}, "is too long", at("2.37")...)
			body := c.ServerBody(Body{"networks": "none", "user_data": base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 49149)))})
			made := c.postServer(body, at("2.37")...)
			got := c.Becomes(made, "ACTIVE")
			assert.Empty(c, got.At("addresses"))
			c.Quietly(func() {
				assert.Len(c, c.Operator.Get(Compute, serverPath(made), at("2.3")...).Succeeds(200).Text("OS-EXT-SRV-ATTR:user_data"), 65532)
			})
		}),
	}
}
