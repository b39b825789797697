package conformance

import (
	"net/http"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func balancersOfOthers() []Behaviour {
	return []Behaviour{
		behaviour("strangers see no load balancer in a list, and are forbidden each that they name", func(c *Case) {
			balancer, listener, pool := c.LoadBalancerWithPool()
			assert.Empty(c, c.OtherMember.Get(LoadBalancer, balancersPath).List("loadbalancers"))
			assert.Empty(c, c.OtherMember.Get(LoadBalancer, listenersPath+"?loadbalancer_id="+balancer.ID()).List("listeners"))
			for _, response := range []*Response{
				c.OtherMember.Get(LoadBalancer, balancersPath+"?project_id="+c.Member.ProjectID),
				c.OtherMember.Get(LoadBalancer, balancerPath(balancer)),
				c.OtherMember.Get(LoadBalancer, balancerPath(balancer)+"/status"),
				c.OtherMember.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{"name": "mine"}}),
				c.OtherMember.Delete(LoadBalancer, balancerPath(balancer)+"?cascade=true"),
				c.OtherMember.Get(LoadBalancer, listenersPath+"/"+listener.ID()),
				c.OtherMember.Post(LoadBalancer, listenersPath, Body{"listener": listenerBody(balancer, "TCP", 81)}),
				c.OtherMember.Get(LoadBalancer, membersPath(pool)),
				c.OtherMember.Post(LoadBalancer, balancersPath, Body{"loadbalancer": Body{"project_id": c.Member.ProjectID, "vip_subnet_id": balancer.Text("vip_subnet_id")}}),
			} {
				response.AssertError(403, "Client").AssertMessage(policyOfOthers)
			}
			c.OtherMember.Post(LoadBalancer, balancersPath, Body{"loadbalancer": Body{"vip_subnet_id": balancer.Text("vip_subnet_id")}}).AssertError(400, "Client")
			c.OtherMember.Post(LoadBalancer, balancersPath, Body{"loadbalancer": Body{"vip_network_id": balancer.Text("vip_network_id")}}).AssertError(400, "Client")
		}),
		behaviour("a member of the project without the role load-balancer_member is forbidden everything", func(c *Case) {
			_, subnet := c.NetworkForLoadBalancers()
			balancer := c.Balancer(subnet)
			plain := c.otherUserWithRole("member")
			for _, response := range []*Response{
				plain.Get(LoadBalancer, balancersPath),
				plain.Get(LoadBalancer, balancerPath(balancer)),
				plain.Post(LoadBalancer, balancersPath, Body{"loadbalancer": Body{"vip_subnet_id": subnet.ID()}}),
				plain.Delete(LoadBalancer, balancerPath(balancer)),
			} {
				response.AssertError(403, "Client").AssertMessage(policyOfOthers)
			}
			plain.Get(LoadBalancer, balancersPath+"/"+unknownBalancerID).AssertError(404, "Client")
		}),
	}
}

// otherUserWithRole makes another user of the member's project, with one role there, and removes it at the end.
func (c *Case) otherUserWithRole(role string) *Caller {
	c.Helper()
	login := Login{User: c.Login.User + "-colleague", Password: "colleague", Project: c.Login.Project}
	var created *Caller
	c.WithoutRecording(func() {
		user := c.Operator.Post(Identity, "/v3/users", Body{"user": Body{"name": login.User, "password": login.Password, "domain_id": "default"}}).RequireStatus(201)
		c.DeleteAtCleanup(c.Operator, Identity, "/v3/users/"+user.ID())
		roles := c.Operator.Get(Identity, "/v3/roles?name="+role).List("roles")
		for _, one := range roles {
			if one.Text("name") == role {
				c.Operator.Put(Identity, "/v3/projects/"+c.Member.ProjectID+"/users/"+user.ID()+"/roles/"+one.ID(), nil).RequireStatus(204)
			}
		}
		created = c.LogIn(login)
	})
	return created
}

func balancerDeletion() []Behaviour {
	return []Behaviour{
		behaviour("whatever is PENDING cannot be changed: a CONFLICT for the load balancer and for each of its parts", func(c *Case) {
			balancer, listener, pool := c.LoadBalancerWithPool()
			c.requestWhilePending(balancer, func() *Response {
				return c.Member.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{"name": "one"}})
			}).AssertError(409, "Client").AssertMessage("Invalid state PENDING_UPDATE of loadbalancer resource %s", balancer.ID())
			for _, request := range []func() *Response{
				func() *Response {
					return c.Member.Post(LoadBalancer, listenersPath, Body{"listener": listenerBody(balancer, "TCP", 80)})
				},
				func() *Response {
					return c.Member.Put(LoadBalancer, listenersPath+"/"+listener.ID(), Body{"listener": Body{"name": "two"}})
				},
				func() *Response {
					return c.Member.Put(LoadBalancer, poolsPath+"/"+pool.ID(), Body{"pool": Body{"name": "two"}})
				},
				func() *Response {
					return c.Member.Post(LoadBalancer, membersPath(pool), Body{"member": memberBody("10.250.0.9")})
				},
				func() *Response { return c.Member.Put(LoadBalancer, membersPath(pool), Body{"members": []Body{}}) },
			} {
				response := c.requestWhilePending(balancer, request)
				response.AssertError(409, "Client").AssertMessage("Load Balancer %s is immutable and cannot be updated.", balancer.ID())
			}
		}),
		behaviour("a load balancer with parts is deleted by cascade only, and all of it goes", func(c *Case) {
			balancer, listener, pool := c.LoadBalancerWithPool()
			c.givenPart(balancer, membersPath(pool), "member", memberBody("10.250.0.9"))
			monitor := c.givenPart(balancer, monitorsPath, "healthmonitor", monitorBody(pool))
			c.Member.Delete(LoadBalancer, balancerPath(balancer)).AssertError(400, "Client").
				AssertMessage("Cannot delete Load Balancer %s - it has children", balancer.ID())
			c.Member.Delete(LoadBalancer, balancerPath(balancer)+"?cascade=false").AssertError(400, "Client")
			c.Member.Delete(LoadBalancer, balancerPath(balancer)+"?cascade=true").RequireStatus(204)
			c.waitUntilBalancerGone(balancer)
			c.Member.Get(LoadBalancer, balancerPath(balancer)).AssertError(404, "Client")
			c.Member.Delete(LoadBalancer, balancerPath(balancer)+"?cascade=true").AssertError(404, "Client")
			assert.Empty(c, c.Member.Get(LoadBalancer, balancersPath).List("loadbalancers"))
			c.Member.Get(LoadBalancer, listenersPath+"/"+listener.ID()).AssertError(404, "Client")
			c.Member.Get(LoadBalancer, poolsPath+"/"+pool.ID()).AssertError(404, "Client")
			c.Member.Get(LoadBalancer, monitorsPath+"/"+monitor.ID()).AssertError(404, "Client")
			c.Member.Get(Network, "/v2.0/ports/"+balancer.Text("vip_port_id")).AssertError(404, "PortNotFound")
		}),
		behaviour("a load balancer that is being deleted is shown until it is gone, and a second deletion is a CONFLICT or comes too late", func(c *Case) {
			_, subnet := c.NetworkForLoadBalancers()
			c.WaitUntil("a second deletion comes before the first is done", func() bool {
				balancer := c.Balancer(subnet)
				c.Member.Delete(LoadBalancer, balancerPath(balancer)).RequireStatus(204)
				again := c.Member.Delete(LoadBalancer, balancerPath(balancer))
				shown := c.Member.Get(LoadBalancer, balancerPath(balancer))
				if again.Status != 409 || shown.Status != 200 {
					require.Contains(c, []int{404, 409}, again.Status)
					return false
				}
				again.AssertError(409, "Client").AssertMessage("Invalid state PENDING_DELETE of loadbalancer resource %s", balancer.ID())
				assert.Equal(c, "PENDING_DELETE", shown.RequireStatus(200).Text("provisioning_status"))
				c.waitUntilBalancerGone(balancer)
				return true
			})
		}),
		behaviour("the floating IP of a load balancer stays behind when that is deleted, connected to nothing", func(c *Case) {
			_, subnet := c.NetworkForLoadBalancers()
			c.Interface(c.RouterWithGateway(), subnet)
			balancer := c.Balancer(subnet)
			floating := c.Fixture(Network, "/v2.0/floatingips", Body{"floatingip": Body{
				"floating_network_id": c.External.ID(), "port_id": balancer.Text("vip_port_id"), "description": "Floating IP for Kubernetes external service",
			}})
			assert.Equal(c, balancer.Text("vip_port_id"), c.Member.Get(Network, "/v2.0/floatingips/"+floating.ID()).RequireStatus(200).Text("port_id"))
			c.Member.Delete(LoadBalancer, balancerPath(balancer)+"?cascade=true").RequireStatus(204)
			c.waitUntilBalancerGone(balancer)
			left := c.Member.Get(Network, "/v2.0/floatingips/"+floating.ID()).RequireStatus(200)
			assert.Empty(c, left.Text("port_id"))
			assert.Equal(c, "DOWN", left.Text("status"))
		}),
		behaviour("neither the subnet nor the network of a load balancer can be deleted while it stands", func(c *Case) {
			network, subnet := c.NetworkForLoadBalancers()
			balancer := c.Balancer(subnet)
			c.Member.Delete(Network, "/v2.0/subnets/"+subnet.ID()).AssertError(409, "SubnetInUse")
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).AssertError(409, "NetworkInUse")
			c.Member.Delete(LoadBalancer, balancerPath(balancer)).RequireStatus(204)
			c.waitUntilBalancerGone(balancer)
			c.Member.Delete(Network, "/v2.0/subnets/"+subnet.ID()).RequireStatus(204)
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).RequireStatus(204)
		}),
		behaviour("the port of a load balancer can be deleted behind Octavia's back, and then that can be deleted nonetheless", func(c *Case) {
			_, subnet := c.NetworkForLoadBalancers()
			balancer := c.Balancer(subnet)
			assert.Equal(c, http.StatusNoContent, c.Member.Delete(Network, "/v2.0/ports/"+balancer.Text("vip_port_id")).Status)
			assert.Equal(c, balancer.Text("vip_port_id"), c.Member.Get(LoadBalancer, balancerPath(balancer)).RequireStatus(200).Text("vip_port_id"))
			c.Member.Delete(LoadBalancer, balancerPath(balancer)).RequireStatus(204)
			c.waitUntilBalancerGone(balancer)
		}),
	}
}
