package conformance

import (
	"maps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func listenerBody(balancer Object, protocol string, port int) Body {
	return Body{"loadbalancer_id": balancer.ID(), "protocol": protocol, "protocol_port": port, "name": "listener"}
}

func poolBody(listener Object) Body {
	return Body{"listener_id": listener.ID(), "protocol": "TCP", "lb_algorithm": "ROUND_ROBIN", "name": "pool"}
}

func monitorBody(pool Object) Body {
	return Body{"pool_id": pool.ID(), "type": "TCP", "delay": 5, "timeout": 3, "max_retries": 2, "name": "monitor"}
}

func memberBody(address string) Body {
	return Body{"address": address, "protocol_port": 30080, "name": "node " + address}
}

func membersPath(pool Object) string { return poolsPath + "/" + pool.ID() + "/members" }

// LoadBalancerWithPool makes a load balancer with a listener and a pool, quietly.
func (c *Case) LoadBalancerWithPool() (balancer, listener, pool Object) {
	c.Helper()
	_, subnet := c.NetworkForLoadBalancers()
	balancer = c.Balancer(subnet)
	listener = c.givenPart(balancer, listenersPath, "listener", listenerBody(balancer, "TCP", 80))
	pool = c.givenPart(balancer, poolsPath, "pool", poolBody(listener))
	return balancer, listener, pool
}

func balancerPartsMade() []Behaviour {
	return []Behaviour{
		behaviour("a load balancer gets listener, pool, member and health monitor one after the other, as the cloud-controller-manager makes them", func(c *Case) {
			_, subnet := c.NetworkForLoadBalancers()
			balancer := c.Balancer(subnet)
			listener := c.part(balancer, listenersPath, "listener", Body{
				"loadbalancer_id": balancer.ID(), "protocol": "TCP", "protocol_port": 443, "name": "listener_0_kube_service", "connection_limit": -1,
				"timeout_client_data": 60000, "allowed_cidrs": []string{"0.0.0.0/0"}, "tags": []string{"kube_service"},
			})
			pool := c.part(balancer, poolsPath, "pool", Body{
				"listener_id": listener.ID(), "protocol": "TCP", "lb_algorithm": "ROUND_ROBIN", "name": "pool_0_kube_service",
				"session_persistence": Body{"type": "SOURCE_IP"},
			})
			member := c.part(balancer, membersPath(pool), "member", Body{"address": "10.250.0.9", "protocol_port": 30443, "name": "node", "subnet_id": subnet.ID()})
			monitor := c.part(balancer, monitorsPath, "healthmonitor", monitorBody(pool))
			assert.Equal(c, pool.ID(), c.Member.Get(LoadBalancer, listenersPath+"/"+listener.ID()).RequireStatus(200).Text("default_pool_id"))
			shown := c.Member.Get(LoadBalancer, poolsPath+"/"+pool.ID()).RequireStatus(200)
			assert.Equal(c, monitor.ID(), shown.Text("healthmonitor_id"))
			assert.Equal(c, member.ID(), shown.Objects("members")[0].ID())
			c.Member.Get(LoadBalancer, membersPath(pool)+"/"+member.ID()).RequireStatus(200)
			c.Member.Get(LoadBalancer, monitorsPath+"/"+monitor.ID()).RequireStatus(200)
			assert.Len(c, c.Member.Get(LoadBalancer, listenersPath+"?loadbalancer_id="+balancer.ID()).List("listeners"), 1)
			assert.Len(c, c.Member.Get(LoadBalancer, poolsPath+"?loadbalancer_id="+balancer.ID()).List("pools"), 1)
			assert.Len(c, c.Member.Get(LoadBalancer, membersPath(pool)).List("members"), 1)
			assert.Len(c, c.Member.Get(LoadBalancer, monitorsPath+"?pool_id="+pool.ID()).List("healthmonitors"), 1)
			assert.Empty(c, c.Member.Get(LoadBalancer, listenersPath+"?name=nope").List("listeners"))
			c.Member.Get(LoadBalancer, poolsPath+"?listener_id="+listener.ID()).AssertError(400, "Client")
			whole := c.Member.Get(LoadBalancer, balancerPath(balancer)).RequireStatus(200)
			assert.Equal(c, listener.ID(), whole.Objects("listeners")[0].ID())
			assert.Equal(c, pool.ID(), whole.Objects("pools")[0].ID())
			c.Member.Get(LoadBalancer, balancerPath(balancer)+"/status").RequireStatus(200)
		}),
		behaviour("a load balancer can be made with all its parts in one request", func(c *Case) {
			network, _ := c.NetworkForLoadBalancers()
			whole := func(pool Body) Body {
				maps.Copy(pool, Body{
					"name": "pool", "protocol": "TCP", "lb_algorithm": "ROUND_ROBIN", "members": []Body{memberBody("10.250.0.9")},
				})
				return Body{"name": "whole", "vip_network_id": network.ID(), "listeners": []Body{{
					"name": "listener", "protocol": "TCP", "protocol_port": 443, "default_pool": pool,
				}}}
			}
			created := c.postBalancer(whole(Body{}))
			require.Len(c, created.Objects("listeners"), 1)
			assert.Equal(c, "listener", created.Objects("listeners")[0].Text("name"), "whole objects instead of IDs")
			c.waitForBalancer(created)
			c.Member.Get(LoadBalancer, balancerPath(created)+"/status").RequireStatus(200)
			// Of members that will be monitored, Octavia says now this and now that in the first answer.
			c.WithoutRecording(func() {
				created = c.postBalancer(whole(Body{"healthmonitor": Body{
					"name": "monitor", "type": "HTTP", "delay": 5, "timeout": 3, "max_retries": 2, "url_path": "/healthz",
				}}))
			})
			c.waitForBalancer(created)
			assert.Len(c, c.Member.Get(LoadBalancer, monitorsPath).List("healthmonitors"), 1)
			c.Member.Post(LoadBalancer, balancersPath, Body{"loadbalancer": Body{"vip_network_id": network.ID(), "listeners": []Body{{"protocol": "TCP"}}}}).
				AssertError(400, "Client").AssertMessage("protocol_port")
			c.Member.Post(LoadBalancer, balancersPath, Body{"loadbalancer": Body{"vip_network_id": network.ID(), "listeners": []Body{{
				"protocol": "TCP", "protocol_port": 1, "colour": "red",
			}}}}).AssertError(400, "Client")
		}),
	}
}

func balancerPartsRefused() []Behaviour {
	return []Behaviour{
		behaviour("two listeners share a port only if their protocols differ", func(c *Case) {
			_, subnet := c.NetworkForLoadBalancers()
			balancer := c.Balancer(subnet)
			post := func(protocol string) *Response {
				return c.Member.Post(LoadBalancer, listenersPath, Body{"listener": listenerBody(balancer, protocol, 80)})
			}
			c.part(balancer, listenersPath, "listener", listenerBody(balancer, "TCP", 80))
			post("TCP").AssertError(409, "Client").AssertMessage("is already using protocol TCP and protocol_port 80")
			post("HTTP").AssertError(409, "Client")
			c.part(balancer, listenersPath, "listener", listenerBody(balancer, "UDP", 80))
			assert.Equal(c, "ACTIVE", c.Member.Get(LoadBalancer, balancerPath(balancer)).RequireStatus(200).Text("provisioning_status"))
		}),
		behaviour("a listener has one pool, a pool one health monitor, and a pool each address and port once", func(c *Case) {
			balancer, listener, pool := c.LoadBalancerWithPool()
			c.Member.Post(LoadBalancer, poolsPath, Body{"pool": poolBody(listener)}).AssertError(409, "Client").AssertMessage("This listener already has a default pool")
			c.part(balancer, membersPath(pool), "member", memberBody("10.250.0.9"))
			c.Member.Post(LoadBalancer, membersPath(pool), Body{"member": memberBody("10.250.0.9")}).AssertError(409, "Client")
			c.part(balancer, monitorsPath, "healthmonitor", monitorBody(pool))
			c.Member.Post(LoadBalancer, monitorsPath, Body{"healthmonitor": monitorBody(pool)}).AssertError(409, "Client")
			c.part(balancer, membersPath(pool), "member", memberBody("10.250.0.10"))
			c.Member.Get(LoadBalancer, membersPath(pool)).RequireStatus(200)
		}),
		behaviour("parts need what they belong to, and what makes them up", func(c *Case) {
			balancer, listener, pool := c.LoadBalancerWithPool()
			post := func(path, kind string, body Body) *Response {
				return c.Member.Post(LoadBalancer, path, Body{kind: body})
			}
			post(listenersPath, "listener", Body{"loadbalancer_id": unknownBalancerID, "protocol": "TCP", "protocol_port": 1}).AssertError(404, "Client")
			post(listenersPath, "listener", Body{"protocol": "TCP", "protocol_port": 1}).AssertError(400, "Client")
			post(listenersPath, "listener", Body{"loadbalancer_id": balancer.ID(), "protocol_port": 1}).AssertError(400, "Client")
			post(listenersPath, "listener", listenerBody(balancer, "TCP", 0)).AssertError(400, "Client")
			post(listenersPath, "listener", listenerBody(balancer, "TCP", 70000)).AssertError(400, "Client")
			post(poolsPath, "pool", Body{"protocol": "TCP", "lb_algorithm": "ROUND_ROBIN"}).AssertError(400, "Client")
			post(poolsPath, "pool", Body{"loadbalancer_id": balancer.ID(), "protocol": "TCP"}).AssertError(400, "Client")
			post(poolsPath, "pool", Body{"loadbalancer_id": unknownBalancerID, "protocol": "TCP", "lb_algorithm": "ROUND_ROBIN"}).AssertError(404, "Client")
			post(membersPath(pool), "member", Body{"address": "10.250.0.9"}).AssertError(400, "Client")
			post(membersPath(pool), "member", Body{"address": "10.250.0.9", "protocol_port": 1, "subnet_id": unknownBalancerID}).AssertError(400, "Client")
			assert.Equal(c, 404, post(poolsPath+"/"+unknownBalancerID+"/members", "member", memberBody("10.250.0.9")).Status)
			post(monitorsPath, "healthmonitor", Body{"pool_id": pool.ID(), "type": "TCP"}).AssertError(400, "Client")
			post(monitorsPath, "healthmonitor", Body{"pool_id": unknownBalancerID, "type": "TCP", "delay": 5, "timeout": 3, "max_retries": 2}).AssertError(404, "Client")
			post(monitorsPath, "healthmonitor", Body{
				"pool_id": pool.ID(), "type": "TCP", "delay": 5, "timeout": 3, "max_retries": 2, "url_path": "/",
			}).AssertError(400, "Client")
			c.Member.Put(LoadBalancer, listenersPath+"/"+listener.ID(), Body{"listener": Body{"protocol_port": 5}}).AssertError(400, "Client")
			c.Member.Put(LoadBalancer, listenersPath+"/"+listener.ID(), Body{"listener": Body{"default_pool_id": unknownBalancerID}}).AssertError(404, "Client")
			c.Member.Get(LoadBalancer, listenersPath+"/"+unknownBalancerID).AssertError(404, "Client")
			c.Member.Delete(LoadBalancer, poolsPath+"/"+unknownBalancerID).AssertError(404, "Client")
		}),
	}
}

func balancerPartsChanged() []Behaviour {
	return []Behaviour{
		behaviour("the members of a pool are replaced in one request", func(c *Case) {
			balancer, _, pool := c.LoadBalancerWithPool()
			put := func(query string, members ...Body) {
				c.Helper()
				response := c.Member.Put(LoadBalancer, membersPath(pool)+query, Body{"members": members})
				require.Equalf(c, 202, response.Status, "%s", response.Raw)
				c.waitForBalancer(balancer)
				c.WithoutRecording(func() {
					for _, member := range c.Member.Get(LoadBalancer, membersPath(pool)).List("members") {
						c.SetPlaceholder(member.ID(), "member "+member.Text("address"))
					}
				})
			}
			addresses := func() []string {
				var found []string
				for _, member := range c.Member.Get(LoadBalancer, membersPath(pool)).List("members") {
					found = append(found, member.Text("address"))
				}
				return found
			}
			put("", memberBody("10.250.0.9"), memberBody("10.250.0.10"))
			assert.ElementsMatch(c, []string{"10.250.0.9", "10.250.0.10"}, addresses())
			put("", memberBody("10.250.0.10"), memberBody("10.250.0.11"))
			assert.ElementsMatch(c, []string{"10.250.0.10", "10.250.0.11"}, addresses())
			put("?additive_only=true", memberBody("10.250.0.12"))
			assert.ElementsMatch(c, []string{"10.250.0.10", "10.250.0.11", "10.250.0.12"}, addresses())
			put("", []Body{}...)
			assert.Empty(c, addresses())
		}),
		behaviour("parts can be changed and deleted, and take along what lies in them", func(c *Case) {
			balancer, listener, pool := c.LoadBalancerWithPool()
			member := c.givenPart(balancer, membersPath(pool), "member", memberBody("10.250.0.9"))
			monitor := c.givenPart(balancer, monitorsPath, "healthmonitor", monitorBody(pool))
			change := func(path, kind string, body Body) {
				c.Helper()
				changed := c.Member.Put(LoadBalancer, path, Body{kind: body}).RequireStatus(200)
				assert.Equal(c, "PENDING_UPDATE", changed.Text("provisioning_status"))
				c.waitForBalancer(balancer)
				c.Member.Get(LoadBalancer, path).RequireStatus(200)
			}
			remove := func(path string) {
				c.Helper()
				c.Member.Delete(LoadBalancer, path).RequireStatus(204)
				c.waitForBalancer(balancer)
				c.Member.Get(LoadBalancer, path).AssertError(404, "Client")
			}
			change(membersPath(pool)+"/"+member.ID(), "member", Body{"weight": 5, "name": "two"})
			change(monitorsPath+"/"+monitor.ID(), "healthmonitor", Body{"delay": 6})
			change(poolsPath+"/"+pool.ID(), "pool", Body{"lb_algorithm": "LEAST_CONNECTIONS"})
			change(listenersPath+"/"+listener.ID(), "listener", Body{"connection_limit": 10, "allowed_cidrs": []string{"10.0.0.0/8"}})
			remove(monitorsPath + "/" + monitor.ID())
			remove(poolsPath + "/" + pool.ID())
			assert.Equal(c, 404, c.Member.Get(LoadBalancer, membersPath(pool)).Status)
			assert.Empty(c, c.Member.Get(LoadBalancer, listenersPath+"/"+listener.ID()).RequireStatus(200).Text("default_pool_id"))
			remove(listenersPath + "/" + listener.ID())
			assert.Empty(c, c.Member.Get(LoadBalancer, balancerPath(balancer)).RequireStatus(200).Objects("listeners"))
		}),
		behaviour("a deleted listener leaves its pool behind", func(c *Case) {
			balancer, listener, pool := c.LoadBalancerWithPool()
			c.Member.Delete(LoadBalancer, listenersPath+"/"+listener.ID()).RequireStatus(204)
			c.waitForBalancer(balancer)
			assert.Empty(c, c.Member.Get(LoadBalancer, poolsPath+"/"+pool.ID()).RequireStatus(200).Objects("listeners"))
			c.Member.Delete(LoadBalancer, balancerPath(balancer)).AssertError(400, "Client").AssertMessage("it has children")
		}),
		behaviour("a pool to which a policy leads cannot be deleted, and policies go with their listener", func(c *Case) {
			_, subnet := c.NetworkForLoadBalancers()
			balancer := c.Balancer(subnet)
			listener := c.givenPart(balancer, listenersPath, "listener", listenerBody(balancer, "HTTP", 80))
			pool := c.givenPart(balancer, poolsPath, "pool", Body{"loadbalancer_id": balancer.ID(), "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"})
			c.Member.Post(LoadBalancer, policiesPath, Body{"l7policy": Body{"listener_id": unknownBalancerID, "action": "REJECT"}}).AssertError(404, "Client")
			c.Member.Post(LoadBalancer, policiesPath, Body{"l7policy": Body{"listener_id": listener.ID()}}).AssertError(400, "Client")
			c.Member.Post(LoadBalancer, policiesPath, Body{"l7policy": Body{"listener_id": listener.ID(), "action": "REDIRECT_TO_POOL"}}).AssertError(400, "Client")
			policy := c.part(balancer, policiesPath, "l7policy", Body{
				"listener_id": listener.ID(), "action": "REDIRECT_TO_POOL", "redirect_pool_id": pool.ID(), "name": "one", "position": 1,
			})
			rule := c.part(balancer, policiesPath+"/"+policy.ID()+"/rules", "rule", Body{"type": "PATH", "compare_type": "STARTS_WITH", "value": "/api"})
			c.Member.Get(LoadBalancer, policiesPath+"/"+policy.ID()).RequireStatus(200)
			c.Member.Get(LoadBalancer, policiesPath+"/"+policy.ID()+"/rules/"+rule.ID()).RequireStatus(200)
			c.Member.Get(LoadBalancer, policiesPath+"?listener_id="+listener.ID()).RequireStatus(200)
			c.Member.Delete(LoadBalancer, poolsPath+"/"+pool.ID()).AssertError(409, "Client").AssertMessage("is in use by L7 policy %s", policy.ID())
			c.Member.Delete(LoadBalancer, listenersPath+"/"+listener.ID()).RequireStatus(204)
			c.waitForBalancer(balancer)
			c.Member.Get(LoadBalancer, policiesPath+"/"+policy.ID()).AssertError(404, "Client")
			c.Member.Delete(LoadBalancer, poolsPath+"/"+pool.ID()).RequireStatus(204)
			c.waitForBalancer(balancer)
		}),
	}
}
