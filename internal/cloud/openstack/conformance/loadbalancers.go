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

	unknownBalancerID = "7a2c6c1e-0000-4000-8000-000000000000"
	policyOfOthers    = "Policy does not allow this request to be performed."
)

func loadBalancers() []Behaviour {
	return slices.Concat(balancersMade(), balancersRefused(), balancersShown(), balancerPartsMade(), balancerPartsRefused(), balancerPartsChanged(),
		balancersOfOthers(), balancerDeletion())
}

// balancerPath is where a load balancer is.
func balancerPath(balancer Object) string { return balancersPath + "/" + balancer.ID() }

// NetworkForLoadBalancers makes a network with a subnet for load balancers.
func (c *Case) NetworkForLoadBalancers() (network, subnet Object) {
	c.Helper()
	network = c.Network()
	return network, c.Subnet(network, "10.250.0.0/24")
}

// waitForBalancer waits until nothing is under way at a load balancer.
func (c *Case) waitForBalancer(balancer Object) {
	c.Helper()
	c.WaitUntil("the load balancer is ACTIVE", func() bool {
		return c.Member.Get(LoadBalancer, balancerPath(balancer)).object().Text("provisioning_status") == "ACTIVE"
	})
}

// waitUntilBalancerGone waits until a load balancer is gone.
func (c *Case) waitUntilBalancerGone(balancer Object) {
	c.Helper()
	c.WaitUntil("the load balancer is gone", func() bool { return c.Member.Get(LoadBalancer, balancerPath(balancer)).Status == 404 })
}

// postBalancer makes a load balancer, which is removed with all it has at the end.
func (c *Case) postBalancer(body Body) Object {
	c.Helper()
	created := c.Member.Post(LoadBalancer, balancersPath, Body{"loadbalancer": body}).RequireStatus(201)
	c.SetPlaceholder(created.Text("vip_port_id"), "VIP port")
	c.DeleteAtCleanup(c.Member, LoadBalancer, balancerPath(created)+"?cascade=true")
	return created
}

// Balancer makes a load balancer that is ready, quietly.
func (c *Case) Balancer(subnet Object) Object {
	c.Helper()
	var created Object
	c.WithoutRecording(func() { created = c.postBalancer(Body{"name": "given", "vip_subnet_id": subnet.ID()}) })
	c.waitForBalancer(created)
	return created
}

// part makes what hangs below a load balancer and waits until it is there.
func (c *Case) part(balancer Object, path, kind string, body Body) Object {
	c.Helper()
	created := c.Member.Post(LoadBalancer, path, Body{kind: body}).RequireStatus(201)
	assert.Equal(c, "PENDING_CREATE", created.Text("provisioning_status"))
	c.waitForBalancer(balancer)
	return created
}

// givenPart is part without a record.
func (c *Case) givenPart(balancer Object, path, kind string, body Body) (created Object) {
	c.Helper()
	c.WithoutRecording(func() { created = c.part(balancer, path, kind, body) })
	return created
}

// requestWhilePending makes a request right after a change of a load balancer, again and again until the cloud was not quicker than that.
func (c *Case) requestWhilePending(balancer Object, request func() *Response) *Response {
	c.Helper()
	var response *Response
	c.WaitUntil("a request comes while a load balancer is busy", func() bool {
		c.waitForBalancer(balancer)
		c.Member.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{"name": "busy"}}).RequireStatus(200)
		response = request()
		return strings.Contains(string(response.Raw), "immutable") || strings.Contains(string(response.Raw), "Invalid state")
	})
	return response
}

func balancersMade() []Behaviour {
	return []Behaviour{
		behaviour("a load balancer is PENDING_CREATE at first and ACTIVE by and by, with a port of its own in the subnet", func(c *Case) {
			network, subnet := c.NetworkForLoadBalancers()
			created := c.postBalancer(Body{"name": "kube_service_shoot--garden--one_default_web", "description": "one", "vip_subnet_id": subnet.ID()})
			assert.Equal(c, "PENDING_CREATE", created.Text("provisioning_status"))
			assert.Equal(c, "OFFLINE", created.Text("operating_status"))
			assert.Equal(c, subnet.ID(), created.Text("vip_subnet_id"))
			assert.Equal(c, network.ID(), created.Text("vip_network_id"))
			c.waitForBalancer(created)
			ready := c.Member.Get(LoadBalancer, balancerPath(created)).RequireStatus(200)
			assert.Equal(c, "ONLINE", ready.Text("operating_status"))
			port := c.Member.Get(Network, "/v2.0/ports/"+created.Text("vip_port_id")).RequireStatus(200)
			assert.Equal(c, "Octavia", port.Text("device_owner"))
			assert.Equal(c, "lb-"+created.ID(), port.Text("device_id"))
			assert.Equal(c, "octavia-lb-"+created.ID(), port.Text("name"))
			assert.Equal(c, c.Member.ProjectID, port.Text("project_id"))
			require.Len(c, port.Objects("fixed_ips"), 1)
			assert.Equal(c, created.Text("vip_address"), port.Objects("fixed_ips")[0].Text("ip_address"))
		}),
		behaviour("a load balancer takes an address of one's choice, and a subnet of its own choice in a network", func(c *Case) {
			network, subnet := c.NetworkForLoadBalancers()
			created := c.postBalancer(Body{"vip_subnet_id": subnet.ID(), "vip_address": "10.250.0.77", "tags": []string{"a", "b"}, "admin_state_up": false})
			assert.Equal(c, "10.250.0.77", created.Text("vip_address"))
			c.waitForBalancer(created)
			c.Member.Get(LoadBalancer, balancerPath(created)).RequireStatus(200)
			other := c.postBalancer(Body{"vip_network_id": network.ID(), "provider": "octavia"})
			assert.Equal(c, subnet.ID(), other.Text("vip_subnet_id"))
			c.waitForBalancer(other)
		}),
		behaviour("a load balancer on a given port leaves the port alone, and behind", func(c *Case) {
			network, _ := c.NetworkForLoadBalancers()
			port := c.Port(network)
			created := c.postBalancer(Body{"vip_port_id": port.ID()})
			assert.Equal(c, port.ID(), created.Text("vip_port_id"))
			c.waitForBalancer(created)
			c.Member.Get(Network, "/v2.0/ports/"+port.ID()).RequireStatus(200)
			c.Member.Delete(LoadBalancer, balancerPath(created)).RequireStatus(204)
			c.waitUntilBalancerGone(created)
			assert.Empty(c, c.Member.Get(Network, "/v2.0/ports/"+port.ID()).RequireStatus(200).Text("device_owner"))
		}),
	}
}

func balancersRefused() []Behaviour {
	return []Behaviour{
		behaviour("a load balancer needs a place that exists, and an address that is free", func(c *Case) {
			network, subnet := c.NetworkForLoadBalancers()
			var balancer Object
			c.WithoutRecording(func() { balancer = c.postBalancer(Body{"vip_subnet_id": subnet.ID(), "vip_address": "10.250.0.77"}) })
			bare, tight := c.Network(), c.Network()
			full := c.Subnet(tight, "10.249.0.0/30")
			c.Port(tight)
			refused := func(body Body) *Response {
				return c.Member.Post(LoadBalancer, balancersPath, Body{"loadbalancer": body}).AssertError(400, "Client")
			}
			refused(Body{"name": "one"}).AssertMessage("VIP must contain one of")
			refused(Body{"vip_subnet_id": unknownBalancerID}).AssertMessage("Subnet %s not found.", unknownBalancerID)
			refused(Body{"vip_network_id": unknownBalancerID}).AssertMessage("Network %s not found.", unknownBalancerID)
			refused(Body{"vip_port_id": unknownBalancerID}).AssertMessage("Port %s not found.", unknownBalancerID)
			refused(Body{"vip_port_id": balancer.Text("vip_port_id")}).AssertMessage("is already used by device")
			refused(Body{"vip_network_id": bare.ID()})
			refused(Body{"vip_network_id": network.ID(), "vip_address": "10.9.0.1"})
			refused(Body{"vip_network_id": network.ID(), "vip_subnet_id": full.ID()})
			refused(Body{"vip_subnet_id": subnet.ID(), "additional_vips": []Body{{"subnet_id": subnet.ID()}}})
			refused(Body{"vip_network_id": tight.ID()}).AssertMessage("do not contain enough available IPs")
			failed := func(body Body) *Response {
				return c.Member.Post(LoadBalancer, balancersPath, Body{"loadbalancer": body}).AssertError(500, "Server")
			}
			failed(Body{"vip_subnet_id": full.ID()}).AssertMessage("No more IP addresses available")
			failed(Body{"vip_subnet_id": subnet.ID(), "vip_address": "10.9.0.1"}).AssertMessage("is not a valid IP for the specified subnet")
			failed(Body{"vip_subnet_id": subnet.ID(), "vip_address": "10.250.0.77"}).AssertMessage("already allocated")
		}),
		behaviour("Octavia refuses bodies that make no sense, and names the attribute", func(c *Case) {
			_, subnet := c.NetworkForLoadBalancers()
			refused := func(body Body) *Response {
				body["vip_subnet_id"] = firstOf(text(body["vip_subnet_id"]), subnet.ID())
				return c.Member.Post(LoadBalancer, balancersPath, Body{"loadbalancer": body}).AssertError(400, "Client")
			}
			refused(Body{"vip_subnet_id": "nope"}).AssertMessage("vip_subnet_id")
			refused(Body{"vip_address": "nope"})
			refused(Body{"name": 5})
			refused(Body{"name": strings.Repeat("x", 256)})
			refused(Body{"tags": []int{1}})
			refused(Body{"colour": "red"}).AssertMessage("Unknown attribute")
			refused(Body{"provider": "f5"}).AssertMessage("Provider 'f5' is not enabled.")
			refused(Body{"flavor_id": unknownBalancerID})
			refused(Body{"availability_zone": "nope"})
			c.Member.Post(LoadBalancer, balancersPath, Body{"colour": "red"}).AssertError(400, "Client")
			c.Member.Post(LoadBalancer, balancersPath, "{").AssertError(400, "Client")
		}),
		behaviour("an unknown load balancer is NOT FOUND, whatever is asked of it", func(c *Case) {
			c.Member.Get(LoadBalancer, balancersPath+"/"+unknownBalancerID).AssertError(404, "Client").AssertMessage("Load Balancer %s not found.", unknownBalancerID)
			c.Member.Get(LoadBalancer, balancersPath+"/nope").AssertError(404, "Client")
			c.Member.Get(LoadBalancer, balancersPath+"/"+unknownBalancerID+"/status").AssertError(404, "Client")
			c.Member.Put(LoadBalancer, balancersPath+"/"+unknownBalancerID, Body{"loadbalancer": Body{"name": "one"}}).AssertError(404, "Client")
			c.Member.Delete(LoadBalancer, balancersPath+"/"+unknownBalancerID).AssertError(404, "Client")
			c.Member.Delete(LoadBalancer, balancersPath+"/"+unknownBalancerID+"?cascade=true").AssertError(404, "Client")
			assert.Equal(c, 404, c.Member.Get(LoadBalancer, "/v2/lbaas/nope").Status)
		}),
	}
}

func balancersShown() []Behaviour {
	return []Behaviour{
		behaviour("a load balancer's name, description and tags can be changed, its address cannot", func(c *Case) {
			_, subnet := c.NetworkForLoadBalancers()
			balancer := c.Balancer(subnet)
			changed := c.Member.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{
				"name": "two", "description": "second", "tags": []string{"a"},
			}}).RequireStatus(200)
			assert.Equal(c, "PENDING_UPDATE", changed.Text("provisioning_status"))
			assert.Equal(c, "two", changed.Text("name"))
			c.waitForBalancer(balancer)
			c.Member.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{"name": nil, "admin_state_up": false}}).RequireStatus(200)
			c.waitForBalancer(balancer)
			c.Member.Get(LoadBalancer, balancerPath(balancer)).RequireStatus(200)
			c.Member.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{"vip_address": "10.250.0.9"}}).AssertError(400, "Client")
		}),
		behaviour("load balancers are found by name, description, subnet, network, address, status and tags", func(c *Case) {
			network, subnet := c.NetworkForLoadBalancers()
			other := c.Subnet(c.Network(), "10.251.0.0/24")
			var one Object
			c.WithoutRecording(func() {
				one = c.postBalancer(Body{"name": "same", "description": "one", "vip_subnet_id": subnet.ID(), "vip_address": "10.250.0.7", "tags": []string{"a", "b"}})
				c.waitForBalancer(one)
				c.waitForBalancer(c.postBalancer(Body{"name": "same", "description": "two", "vip_subnet_id": other.ID(), "tags": []string{"b"}}))
			})
			for query, count := range map[string]int{
				"": 2, "name=same": 2, "name=sam": 0, "description=one": 1, "vip_subnet_id=" + subnet.ID(): 1, "vip_network_id=" + network.ID(): 1,
				"vip_address=10.250.0.7": 1, "vip_port_id=" + one.Text("vip_port_id"): 1, "id=" + one.ID(): 1, "project_id=" + c.Member.ProjectID: 2,
				"provisioning_status=ACTIVE": 2, "provisioning_status=ERROR": 0, "operating_status=ONLINE": 2, "admin_state_up=true": 2,
				"tags=b": 2, "tags=a,b": 1, "tags-any=a,c": 1, "not-tags=a": 1, "not-tags-any=b,c": 0, "name=same&description=two": 1,
			} {
				c.WithoutRecording(func() {
					assert.Lenf(c, c.Member.Get(LoadBalancer, balancersPath+"?"+query).List("loadbalancers"), count, "%q", query)
				})
			}
			c.Member.Get(LoadBalancer, balancersPath+"?vip_network_id="+network.ID()).RequireStatus(200)
			c.Member.Get(LoadBalancer, balancersPath+"?fields=id&fields=name&tags=a").RequireStatus(200)
			c.Member.Get(LoadBalancer, balancerPath(one)+"?fields=id&fields=provisioning_status").RequireStatus(200)
			c.Member.Get(LoadBalancer, balancersPath+"?colour=red").AssertError(400, "Client")
			c.Member.Get(LoadBalancer, balancersPath+"?tenant_id="+c.Member.ProjectID).AssertError(400, "Client")
		}),
		behaviour("lists of load balancers come in pages, with links forth and back", func(c *Case) {
			_, subnet := c.NetworkForLoadBalancers()
			first, second := c.Balancer(subnet), c.Balancer(subnet)
			low, high := first.ID(), second.ID()
			if low > high {
				low, high = high, low
			}
			c.SetPlaceholder(low, "first")
			c.SetPlaceholder(high, "last")
			page := func(query string) *Response {
				return c.Member.Get(LoadBalancer, balancersPath+"?sort_key=id&fields=name&"+query)
			}
			assert.Empty(c, c.Member.Get(LoadBalancer, balancersPath).RequireStatus(200).Objects("loadbalancers_links"))
			assert.Len(c, page("limit=1").RequireStatus(200).Objects("loadbalancers_links"), 1)
			assert.Len(c, page("limit=1&marker="+low).List("loadbalancers"), 1)
			assert.Empty(c, page("limit=1&marker="+high).List("loadbalancers"))
			c.Member.Get(LoadBalancer, balancersPath+"?marker="+unknownBalancerID).AssertError(400, "Client")
			c.Member.Get(LoadBalancer, balancersPath+"?sort_key=nope").AssertError(400, "Client")
		}),
		behaviour("Octavia answers below both of its versions' paths, and lists its versions", func(c *Case) {
			_, subnet := c.NetworkForLoadBalancers()
			balancer := c.Balancer(subnet)
			assert.Equal(c, balancer.ID(), c.Member.Get(LoadBalancer, "/v2.0/lbaas/loadbalancers/"+balancer.ID()).RequireStatus(200).ID())
			assert.Len(c, c.Member.Get(LoadBalancer, "/v2.0/lbaas/loadbalancers").List("loadbalancers"), 1)
			c.Member.Get(LoadBalancer, "/").RequireStatus(200)
		}),
	}
}
