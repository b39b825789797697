package conformance

import (
	"net/http"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func balancersOfOthers() []Behaviour {
	return []Behaviour{
		behaviour("strangers see no load balancer in a list, and are forbidden each that they name", func(c *Case) {
			balancer, listener, pool := c.Served()
			assert.Empty(c, c.Stranger.Get(LoadBalancer, balancersPath).List("loadbalancers"))
			assert.Empty(c, c.Stranger.Get(LoadBalancer, listenersPath+"?loadbalancer_id="+balancer.ID()).List("listeners"))
			for _, answer := range []*Answer{
				c.Stranger.Get(LoadBalancer, balancersPath+"?project_id="+c.Member.ProjectID),
				c.Stranger.Get(LoadBalancer, balancerPath(balancer)),
				c.Stranger.Get(LoadBalancer, balancerPath(balancer)+"/status"),
				c.Stranger.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{"name": "mine"}}),
				c.Stranger.Delete(LoadBalancer, balancerPath(balancer)+"?cascade=true"),
				c.Stranger.Get(LoadBalancer, listenersPath+"/"+listener.ID()),
				c.Stranger.Post(LoadBalancer, listenersPath, Body{"listener": listenerBody(balancer, "TCP", 81)}),
				c.Stranger.Get(LoadBalancer, membersPath(pool)),
				c.Stranger.Post(LoadBalancer, balancersPath, Body{"loadbalancer": Body{"project_id": c.Member.ProjectID, "vip_subnet_id": balancer.Text("vip_subnet_id")}}),
			} {
				answer.Refused(403, "Client").Saying(policyOfOthers)
			}
			c.Stranger.Post(LoadBalancer, balancersPath, Body{"loadbalancer": Body{"vip_subnet_id": balancer.Text("vip_subnet_id")}}).Refused(400, "Client")
			c.Stranger.Post(LoadBalancer, balancersPath, Body{"loadbalancer": Body{"vip_network_id": balancer.Text("vip_network_id")}}).Refused(400, "Client")
		}),
		behaviour("a member of the project without the role load-balancer_member is forbidden everything", func(c *Case) {
			_, subnet := c.Balanced()
			balancer := c.Balancer(subnet)
			plain := c.colleague("member")
			for _, answer := range []*Answer{
				plain.Get(LoadBalancer, balancersPath),
				plain.Get(LoadBalancer, balancerPath(balancer)),
				plain.Post(LoadBalancer, balancersPath, Body{"loadbalancer": Body{"vip_subnet_id": subnet.ID()}}),
				plain.Delete(LoadBalancer, balancerPath(balancer)),
			} {
				answer.Refused(403, "Client").Saying(policyOfOthers)
			}
			plain.Get(LoadBalancer, balancersPath+"/"+nowhere).Refused(404, "Client")
		}),
	}
}

// colleague makes another user of the member's project, with one role there, and removes it at the end.
func (c *Case) colleague(role string) *Caller {
	c.Helper()
	login := Login{User: c.Login.User + "-colleague", Password: "colleague", Project: c.Login.Project}
	var made *Caller
	c.Quietly(func() {
		user := c.Operator.Post(Identity, "/v3/users", Body{"user": Body{"name": login.User, "password": login.Password, "domain_id": "default"}}).Succeeds(201)
		c.Remove(c.Operator, Identity, "/v3/users/"+user.ID())
		roles := c.Operator.Get(Identity, "/v3/roles?name="+role).List("roles")
		for _, one := range roles {
			if one.Text("name") == role {
				c.Operator.Put(Identity, "/v3/projects/"+c.Member.ProjectID+"/users/"+user.ID()+"/roles/"+one.ID(), nil).Succeeds(204)
			}
		}
		made = c.LogIn(login)
	})
	return made
}

func balancersEnd() []Behaviour {
	return []Behaviour{
		behaviour("whatever is PENDING cannot be changed: a CONFLICT for the load balancer and for each of its parts", func(c *Case) {
			balancer, listener, pool := c.Served()
			c.busy(balancer, func() *Answer {
				return c.Member.Put(LoadBalancer, balancerPath(balancer), Body{"loadbalancer": Body{"name": "one"}})
			}).Refused(409, "Client").Saying("Invalid state PENDING_UPDATE of loadbalancer resource %s", balancer.ID())
			for _, request := range []func() *Answer{
				func() *Answer {
					return c.Member.Post(LoadBalancer, listenersPath, Body{"listener": listenerBody(balancer, "TCP", 80)})
				},
				func() *Answer {
					return c.Member.Put(LoadBalancer, listenersPath+"/"+listener.ID(), Body{"listener": Body{"name": "two"}})
				},
				func() *Answer {
					return c.Member.Put(LoadBalancer, poolsPath+"/"+pool.ID(), Body{"pool": Body{"name": "two"}})
				},
				func() *Answer {
					return c.Member.Post(LoadBalancer, membersPath(pool), Body{"member": memberBody("10.250.0.9")})
				},
				func() *Answer { return c.Member.Put(LoadBalancer, membersPath(pool), Body{"members": []Body{}}) },
			} {
				answer := c.busy(balancer, request)
				answer.Refused(409, "Client").Saying("Load Balancer %s is immutable and cannot be updated.", balancer.ID())
			}
		}),
		behaviour("a load balancer with parts is deleted by cascade only, and all of it goes", func(c *Case) {
			balancer, listener, pool := c.Served()
			c.givenPart(balancer, membersPath(pool), "member", memberBody("10.250.0.9"))
			monitor := c.givenPart(balancer, monitorsPath, "healthmonitor", monitorBody(pool))
			c.Member.Delete(LoadBalancer, balancerPath(balancer)).Refused(400, "Client").
				Saying("Cannot delete Load Balancer %s - it has children", balancer.ID())
			c.Member.Delete(LoadBalancer, balancerPath(balancer)+"?cascade=false").Refused(400, "Client")
			c.Member.Delete(LoadBalancer, balancerPath(balancer)+"?cascade=true").Succeeds(204)
			c.vanishes(balancer)
			c.Member.Get(LoadBalancer, balancerPath(balancer)).Refused(404, "Client")
			c.Member.Delete(LoadBalancer, balancerPath(balancer)+"?cascade=true").Refused(404, "Client")
			assert.Empty(c, c.Member.Get(LoadBalancer, balancersPath).List("loadbalancers"))
			c.Member.Get(LoadBalancer, listenersPath+"/"+listener.ID()).Refused(404, "Client")
			c.Member.Get(LoadBalancer, poolsPath+"/"+pool.ID()).Refused(404, "Client")
			c.Member.Get(LoadBalancer, monitorsPath+"/"+monitor.ID()).Refused(404, "Client")
			c.Member.Get(Network, "/v2.0/ports/"+balancer.Text("vip_port_id")).Refused(404, "PortNotFound")
		}),
		behaviour("a load balancer that is being deleted is shown until it is gone, and a second deletion is a CONFLICT or comes too late", func(c *Case) {
			_, subnet := c.Balanced()
			c.Until("a second deletion comes before the first is done", func() bool {
				balancer := c.Balancer(subnet)
				c.Member.Delete(LoadBalancer, balancerPath(balancer)).Succeeds(204)
				again := c.Member.Delete(LoadBalancer, balancerPath(balancer))
				shown := c.Member.Get(LoadBalancer, balancerPath(balancer))
				if again.Status != 409 || shown.Status != 200 {
					require.Contains(c, []int{404, 409}, again.Status)
					return false
				}
				again.Refused(409, "Client").Saying("Invalid state PENDING_DELETE of loadbalancer resource %s", balancer.ID())
				assert.Equal(c, "PENDING_DELETE", shown.Succeeds(200).Text("provisioning_status"))
				c.vanishes(balancer)
				return true
			})
		}),
		behaviour("the floating IP of a load balancer stays behind when that is deleted, connected to nothing", func(c *Case) {
			_, subnet := c.Balanced()
			c.Interface(c.RouterWithGateway(), subnet)
			balancer := c.Balancer(subnet)
			floating := c.Given(Network, "/v2.0/floatingips", Body{"floatingip": Body{
				"floating_network_id": c.External.ID(), "port_id": balancer.Text("vip_port_id"), "description": "Floating IP for Kubernetes external service",
			}})
			assert.Equal(c, balancer.Text("vip_port_id"), c.Member.Get(Network, "/v2.0/floatingips/"+floating.ID()).Succeeds(200).Text("port_id"))
			c.Member.Delete(LoadBalancer, balancerPath(balancer)+"?cascade=true").Succeeds(204)
			c.vanishes(balancer)
			left := c.Member.Get(Network, "/v2.0/floatingips/"+floating.ID()).Succeeds(200)
			assert.Empty(c, left.Text("port_id"))
			assert.Equal(c, "DOWN", left.Text("status"))
		}),
		behaviour("neither the subnet nor the network of a load balancer can be deleted while it stands", func(c *Case) {
			network, subnet := c.Balanced()
			balancer := c.Balancer(subnet)
			c.Member.Delete(Network, "/v2.0/subnets/"+subnet.ID()).Refused(409, "SubnetInUse")
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).Refused(409, "NetworkInUse")
			c.Member.Delete(LoadBalancer, balancerPath(balancer)).Succeeds(204)
			c.vanishes(balancer)
			c.Member.Delete(Network, "/v2.0/subnets/"+subnet.ID()).Succeeds(204)
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).Succeeds(204)
		}),
		behaviour("the port of a load balancer can be deleted behind Octavia's back, and then that can be deleted nonetheless", func(c *Case) {
			_, subnet := c.Balanced()
			balancer := c.Balancer(subnet)
			assert.Equal(c, http.StatusNoContent, c.Member.Delete(Network, "/v2.0/ports/"+balancer.Text("vip_port_id")).Status)
			assert.Equal(c, balancer.Text("vip_port_id"), c.Member.Get(LoadBalancer, balancerPath(balancer)).Succeeds(200).Text("vip_port_id"))
			c.Member.Delete(LoadBalancer, balancerPath(balancer)).Succeeds(204)
			c.vanishes(balancer)
		}),
	}
}
