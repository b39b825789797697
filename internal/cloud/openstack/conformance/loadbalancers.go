package conformance

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	balancersPath = "/v2/lbaas/loadbalancers"
	listenersPath = "/v2/lbaas/listeners"
	poolsPath     = "/v2/lbaas/pools"
	monitorsPath  = "/v2/lbaas/healthmonitors"
	policiesPath  = "/v2/lbaas/l7policies"

	nowhere        = "7a2c6c1e-0000-4000-8000-000000000000"
	policyOfOthers = "Policy does not allow this request to be performed."
)

func loadBalancers() []Behaviour {
	return slices.Concat(balancersMade(), balancersRefused(), balancersShown(), balancerPartsMade(), balancerPartsRefused(), balancerPartsChanged(),
		balancersOfOthers(), balancersEnd())
}

// balancerPath is where a load balancer is.
func balancerPath(balancer Object) string { return balancersPath + "/" + balancer.ID() }

// Balanced makes a network with a subnet for load balancers.
func (c *Case) Balanced() (network, subnet Object) {
	c.Helper()
	network = c.Network()
	return network, c.Subnet(network, "10.250.0.0/24")
}

// settles waits until nothing is under way at a load balancer.
func (c *Case) settles(balancer Object) {
	c.Helper()
	c.Until("the load balancer is ACTIVE", func() bool {
		return c.Member.Get(LoadBalancer, balancerPath(balancer)).object().Text("provisioning_status") == "ACTIVE"
	})
}

// vanishes waits until a load balancer is gone.
func (c *Case) vanishes(balancer Object) {
	c.Helper()
	c.Until("the load balancer is gone", func() bool { return c.Member.Get(LoadBalancer, balancerPath(balancer)).Status == 404 })
}

// postBalancer makes a load balancer, which is removed with all it has at the end.
func (c *Case) postBalancer(body Body) Object {
	c.Helper()
	made := c.Member.Post(LoadBalancer, balancersPath, Body{"loadbalancer": body}).Succeeds(201)
	c.Named(made.Text("vip_port_id"), "VIP port")
	c.Remove(c.Member, LoadBalancer, balancerPath(made)+"?cascade=true")
	return made
}

// Balancer makes a load balancer that is ready, quietly.
func (c *Case) Balancer(subnet Object) Object {
	c.Helper()
	var made Object
	c.Quietly(func() { made = c.postBalancer(Body{"name": "given", "vip_subnet_id": subnet.ID()}) })
	c.settles(made)
	return made
}

// part makes what hangs below a load balancer and waits until it is there.
func (c *Case) part(balancer Object, path, kind string, body Body) Object {
	c.Helper()
	made := c.Member.Post(LoadBalancer, path, Body{kind: body}).Succeeds(201)
	assert.Equal(c, "PENDING_CREATE", made.Text("provisioning_status"))
	c.settles(balancer)
	return made
}

// givenPart is part without a record.
func (c *Case) givenPart(balancer Object, path, kind string, body Body) (made Object) {
	c.Helper()
	c.Quietly(func() { made = c.part(balancer, path, kind, body) })
	return made
}

// busy makes a request right after a change of a load balancer, again and again until the cloud was not quicker than that.
func (c *Case) busy(balancer Object, request func() *Answer) *Answer {
	c.Helper()
	var answer *Answer
	c.Until("a request comes while a load balancer is busy", func() bool {
		c.settles(balancer)
		c.Member.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{"name": "busy"}}).Succeeds(200)
		answer = request()
		return strings.Contains(string(answer.Raw), "immutable") || strings.Contains(string(answer.Raw), "Invalid state")
	})
	return answer
}

func balancersMade() []Behaviour {
	return []Behaviour{
		behaviour("a load balancer is PENDING_CREATE at first and ACTIVE by and by, with a port of its own in the subnet", func(c *Case) {
			network, subnet := c.Balanced()
			made := c.postBalancer(Body{"name": "kube_service_shoot--garden--one_default_web", "description": "one", "vip_subnet_id": subnet.ID()})
			assert.Equal(c, "PENDING_CREATE", made.Text("provisioning_status"))
			assert.Equal(c, "OFFLINE", made.Text("operating_status"))
			assert.Equal(c, subnet.ID(), made.Text("vip_subnet_id"))
			assert.Equal(c, network.ID(), made.Text("vip_network_id"))
			c.settles(made)
			ready := c.Member.Get(LoadBalancer, balancerPath(made)).Succeeds(200)
			assert.Equal(c, "ONLINE", ready.Text("operating_status"))
			port := c.Member.Get(Network, "/v2.0/ports/"+made.Text("vip_port_id")).Succeeds(200)
			assert.Equal(c, "Octavia", port.Text("device_owner"))
			assert.Equal(c, "lb-"+made.ID(), port.Text("device_id"))
			assert.Equal(c, "octavia-lb-"+made.ID(), port.Text("name"))
			assert.Equal(c, c.Member.ProjectID, port.Text("project_id"))
			require.Len(c, port.Objects("fixed_ips"), 1)
			assert.Equal(c, made.Text("vip_address"), port.Objects("fixed_ips")[0].Text("ip_address"))
		}),
		behaviour("a load balancer takes an address of one's choice, and a subnet of its own choice in a network", func(c *Case) {
			network, subnet := c.Balanced()
			made := c.postBalancer(Body{"vip_subnet_id": subnet.ID(), "vip_address": "10.250.0.77", "tags": []string{"a", "b"}, "admin_state_up": false})
			assert.Equal(c, "10.250.0.77", made.Text("vip_address"))
			c.settles(made)
			c.Member.Get(LoadBalancer, balancerPath(made)).Succeeds(200)
			other := c.postBalancer(Body{"vip_network_id": network.ID(), "provider": "octavia"})
			assert.Equal(c, subnet.ID(), other.Text("vip_subnet_id"))
			c.settles(other)
		}),
		behaviour("a load balancer on a given port leaves the port alone, and behind", func(c *Case) {
			network, _ := c.Balanced()
			port := c.Port(network)
			made := c.postBalancer(Body{"vip_port_id": port.ID()})
			assert.Equal(c, port.ID(), made.Text("vip_port_id"))
			c.settles(made)
			c.Member.Get(Network, "/v2.0/ports/"+port.ID()).Succeeds(200)
			c.Member.Delete(LoadBalancer, balancerPath(made)).Succeeds(204)
			c.vanishes(made)
			assert.Empty(c, c.Member.Get(Network, "/v2.0/ports/"+port.ID()).Succeeds(200).Text("device_owner"))
		}),
	}
}

func balancersRefused() []Behaviour {
	return []Behaviour{
		behaviour("a load balancer needs a place that exists, and an address that is free", func(c *Case) {
			network, subnet := c.Balanced()
			var balancer Object
			c.Quietly(func() { balancer = c.postBalancer(Body{"vip_subnet_id": subnet.ID(), "vip_address": "10.250.0.77"}) })
			bare, tight := c.Network(), c.Network()
			full := c.Subnet(tight, "10.249.0.0/30")
			c.Port(tight)
			refused := func(body Body) *Answer {
				return c.Member.Post(LoadBalancer, balancersPath, Body{"loadbalancer": body}).Refused(400, "Client")
			}
			refused(Body{"name": "one"}).Saying("VIP must contain one of")
			refused(Body{"vip_subnet_id": nowhere}).Saying("Subnet %s not found.", nowhere)
			refused(Body{"vip_network_id": nowhere}).Saying("Network %s not found.", nowhere)
			refused(Body{"vip_port_id": nowhere}).Saying("Port %s not found.", nowhere)
			refused(Body{"vip_port_id": balancer.Text("vip_port_id")}).Saying("is already used by device")
			refused(Body{"vip_network_id": bare.ID()})
			refused(Body{"vip_network_id": network.ID(), "vip_address": "10.9.0.1"})
			refused(Body{"vip_network_id": network.ID(), "vip_subnet_id": full.ID()})
			refused(Body{"vip_subnet_id": subnet.ID(), "additional_vips": []Body{{"subnet_id": subnet.ID()}}})
			refused(Body{"vip_network_id": tight.ID()}).Saying("do not contain enough available IPs")
			failed := func(body Body) *Answer {
				return c.Member.Post(LoadBalancer, balancersPath, Body{"loadbalancer": body}).Refused(500, "Server")
			}
			failed(Body{"vip_subnet_id": full.ID()}).Saying("No more IP addresses available")
			failed(Body{"vip_subnet_id": subnet.ID(), "vip_address": "10.9.0.1"}).Saying("is not a valid IP for the specified subnet")
			failed(Body{"vip_subnet_id": subnet.ID(), "vip_address": "10.250.0.77"}).Saying("already allocated")
		}),
		behaviour("Octavia refuses bodies that make no sense, and names the attribute", func(c *Case) {
			_, subnet := c.Balanced()
			refused := func(body Body) *Answer {
				body["vip_subnet_id"] = firstOf(text(body["vip_subnet_id"]), subnet.ID())
				return c.Member.Post(LoadBalancer, balancersPath, Body{"loadbalancer": body}).Refused(400, "Client")
			}
			refused(Body{"vip_subnet_id": "nope"}).Saying("vip_subnet_id")
			refused(Body{"vip_address": "nope"})
			refused(Body{"name": 5})
			refused(Body{"name": strings.Repeat("x", 256)})
			refused(Body{"tags": []int{1}})
			refused(Body{"colour": "red"}).Saying("Unknown attribute")
			refused(Body{"provider": "f5"}).Saying("Provider 'f5' is not enabled.")
			refused(Body{"flavor_id": nowhere})
			refused(Body{"availability_zone": "nope"})
			c.Member.Post(LoadBalancer, balancersPath, Body{"colour": "red"}).Refused(400, "Client")
			c.Member.Post(LoadBalancer, balancersPath, "{").Refused(400, "Client")
		}),
		behaviour("an unknown load balancer is NOT FOUND, whatever is asked of it", func(c *Case) {
			c.Member.Get(LoadBalancer, balancersPath+"/"+nowhere).Refused(404, "Client").Saying("Load Balancer %s not found.", nowhere)
			c.Member.Get(LoadBalancer, balancersPath+"/nope").Refused(404, "Client")
			c.Member.Get(LoadBalancer, balancersPath+"/"+nowhere+"/status").Refused(404, "Client")
			c.Member.Put(LoadBalancer, balancersPath+"/"+nowhere, Body{"loadbalancer": Body{"name": "one"}}).Refused(404, "Client")
			c.Member.Delete(LoadBalancer, balancersPath+"/"+nowhere).Refused(404, "Client")
			c.Member.Delete(LoadBalancer, balancersPath+"/"+nowhere+"?cascade=true").Refused(404, "Client")
			assert.Equal(c, 404, c.Member.Get(LoadBalancer, "/v2/lbaas/nope").Status)
		}),
	}
}

func balancersShown() []Behaviour {
	return []Behaviour{
		behaviour("a load balancer's name, description and tags can be changed, its address cannot", func(c *Case) {
			_, subnet := c.Balanced()
			balancer := c.Balancer(subnet)
			changed := c.Member.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{
				"name": "two", "description": "second", "tags": []string{"a"},
			}}).Succeeds(200)
			assert.Equal(c, "PENDING_UPDATE", changed.Text("provisioning_status"))
			assert.Equal(c, "two", changed.Text("name"))
			c.settles(balancer)
			c.Member.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{"name": nil, "admin_state_up": false}}).Succeeds(200)
			c.settles(balancer)
			c.Member.Get(LoadBalancer, balancerPath(balancer)).Succeeds(200)
			c.Member.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{"vip_address": "10.250.0.9"}}).Refused(400, "Client")
		}),
		behaviour("load balancers are found by name, description, subnet, network, address, status and tags", func(c *Case) {
			network, subnet := c.Balanced()
			other := c.Subnet(c.Network(), "10.251.0.0/24")
			var one Object
			c.Quietly(func() {
				one = c.postBalancer(Body{"name": "same", "description": "one", "vip_subnet_id": subnet.ID(), "vip_address": "10.250.0.7", "tags": []string{"a", "b"}})
				c.settles(one)
				c.settles(c.postBalancer(Body{"name": "same", "description": "two", "vip_subnet_id": other.ID(), "tags": []string{"b"}}))
			})
			for query, count := range map[string]int{
				"": 2, "name=same": 2, "name=sam": 0, "description=one": 1, "vip_subnet_id=" + subnet.ID(): 1, "vip_network_id=" + network.ID(): 1,
				"vip_address=10.250.0.7": 1, "vip_port_id=" + one.Text("vip_port_id"): 1, "id=" + one.ID(): 1, "project_id=" + c.Member.ProjectID: 2,
				"provisioning_status=ACTIVE": 2, "provisioning_status=ERROR": 0, "operating_status=ONLINE": 2, "admin_state_up=true": 2,
				"tags=b": 2, "tags=a,b": 1, "tags-any=a,c": 1, "not-tags=a": 1, "not-tags-any=b,c": 0, "name=same&description=two": 1,
			} {
				c.Quietly(func() {
					assert.Lenf(c, c.Member.Get(LoadBalancer, balancersPath+"?"+query).List("loadbalancers"), count, "%q", query)
				})
			}
			c.Member.Get(LoadBalancer, balancersPath+"?vip_network_id="+network.ID()).Succeeds(200)
			c.Member.Get(LoadBalancer, balancersPath+"?fields=id&fields=name&tags=a").Succeeds(200)
			c.Member.Get(LoadBalancer, balancerPath(one)+"?fields=id&fields=provisioning_status").Succeeds(200)
			c.Member.Get(LoadBalancer, balancersPath+"?colour=red").Refused(400, "Client")
			c.Member.Get(LoadBalancer, balancersPath+"?tenant_id="+c.Member.ProjectID).Refused(400, "Client")
		}),
		behaviour("lists of load balancers come in pages, with links forth and back", func(c *Case) {
			_, subnet := c.Balanced()
			first, second := c.Balancer(subnet), c.Balancer(subnet)
			low, high := first.ID(), second.ID()
			if low > high {
				low, high = high, low
			}
			c.Named(low, "first")
			c.Named(high, "last")
			page := func(query string) *Answer {
				return c.Member.Get(LoadBalancer, balancersPath+"?sort_key=id&fields=name&"+query)
			}
			assert.Empty(c, c.Member.Get(LoadBalancer, balancersPath).Succeeds(200).Objects("loadbalancers_links"))
			assert.Len(c, page("limit=1").Succeeds(200).Objects("loadbalancers_links"), 1)
			assert.Len(c, page("limit=1&marker="+low).List("loadbalancers"), 1)
			assert.Empty(c, page("limit=1&marker="+high).List("loadbalancers"))
			c.Member.Get(LoadBalancer, balancersPath+"?marker="+nowhere).Refused(400, "Client")
			c.Member.Get(LoadBalancer, balancersPath+"?sort_key=nope").Refused(400, "Client")
		}),
		behaviour("Octavia answers below both of its versions' paths, and lists its versions", func(c *Case) {
			_, subnet := c.Balanced()
			balancer := c.Balancer(subnet)
			assert.Equal(c, balancer.ID(), c.Member.Get(LoadBalancer, "/v2.0/lbaas/loadbalancers/"+balancer.ID()).Succeeds(200).ID())
			assert.Len(c, c.Member.Get(LoadBalancer, "/v2.0/lbaas/loadbalancers").List("loadbalancers"), 1)
			c.Member.Get(LoadBalancer, "/").Succeeds(200)
		}),
	}
}
