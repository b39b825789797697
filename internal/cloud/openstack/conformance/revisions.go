package conformance

import (
	"strconv"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// revision is the revision number of a resource, read quietly.
func (c *Case) revision(path string) int {
	c.Helper()
	number := 0
	c.WithoutRecording(func() {
		var err error
		number, err = strconv.Atoi(c.Member.Get(Network, path).RequireStatus(200).Text("revision_number"))
		require.NoError(c, err)
	})
	return number
}

// assertRevisionGrows asserts that an action raises the revision number of a resource.
func (c *Case) assertRevisionGrows(what, path string, change func()) {
	c.Helper()
	before := c.revision(path)
	change()
	assert.Greaterf(c, c.revision(path), before, "the revision of %s", what)
}

// assertRevisionUnchanged asserts that an action leaves the revision number of a resource as it is.
func (c *Case) assertRevisionUnchanged(what, path string, change func()) {
	c.Helper()
	before := c.revision(path)
	change()
	assert.Equalf(c, before, c.revision(path), "the revision of %s", what)
}

// ifMatch is the header that makes a request depend on a revision.
func ifMatch(revision int) []string {
	return []string{"If-Match", "revision_number=" + strconv.Itoa(revision)}
}

func revisions() []Behaviour {
	return append(revisionNumbers(), constrainedRequests()...)
}

func revisionNumbers() []Behaviour {
	return []Behaviour{
		behaviour("every change of a resource raises its revision number", func(c *Case) {
			for _, one := range c.taggable() {
				c.assertRevisionGrows(one.key, one.path(), func() {
					c.Member.Put(Network, one.path(), Body{one.key: Body{"description": "changed"}}).RequireStatus(200)
				})
			}
		}),
		behaviour("a tag raises the revision number of what bears it", func(c *Case) {
			path := "/v2.0/networks/" + c.Network().ID()
			c.assertRevisionGrows("a tagged network", path, func() { c.Member.Put(Network, path+"/tags", Body{"tags": []string{"one"}}).RequireStatus(200) })
			c.assertRevisionGrows("a network with a tag more", path, func() { c.Member.Put(Network, path+"/tags/two", nil).RequireStatus(201) })
			c.assertRevisionGrows("a network with a tag less", path, func() { c.Member.Delete(Network, path+"/tags/two").RequireStatus(204) })
			c.assertRevisionGrows("a network without tags", path, func() { c.Member.Delete(Network, path+"/tags").RequireStatus(204) })
		}),
		behaviour("an update that changes nothing raises the revision number, unless it is empty", func(c *Case) {
			path := "/v2.0/networks/" + c.Network().ID()
			c.assertRevisionGrows("an unchanged network", path, func() { c.Member.Put(Network, path, Body{"network": Body{"name": "given"}}).RequireStatus(200) })
			c.assertRevisionUnchanged("an empty update", path, func() { c.Member.Put(Network, path, Body{"network": Body{}}).RequireStatus(200) })
		}),
		behaviour("a subnet raises the revision number of its network when it comes, changes and goes", func(c *Case) {
			network := c.Network()
			path := "/v2.0/networks/" + network.ID()
			var subnet Object
			c.assertRevisionGrows("a network with a new subnet", path, func() { subnet = c.postSubnet(network, Body{"cidr": "10.1.0.0/24"}).RequireStatus(201) })
			one := "/v2.0/subnets/" + subnet.ID()
			c.assertRevisionGrows("a network with a changed subnet", path, func() { c.Member.Put(Network, one, Body{"subnet": Body{"name": "renamed"}}).RequireStatus(200) })
			c.assertRevisionGrows("a subnet with name servers", one, func() {
				c.Member.Put(Network, one, Body{"subnet": Body{"dns_nameservers": []string{"9.9.9.9"}}}).RequireStatus(200)
			})
			c.assertRevisionGrows("a network without its subnet", path, func() { c.Member.Delete(Network, one).RequireStatus(204) })
		}),
		behaviour("a port leaves the revision numbers of its network and its subnet", func(c *Case) {
			network := c.Network()
			subnet := c.Subnet(network, "10.1.0.0/24")
			c.assertRevisionUnchanged("a network with a port", "/v2.0/networks/"+network.ID(), func() {
				c.assertRevisionUnchanged("a subnet with a port", "/v2.0/subnets/"+subnet.ID(), func() { c.Port(network) })
			})
		}),
		behaviour("an interface raises the revision number of its router when it comes and goes", func(c *Case) {
			router := c.Router()
			subnet := c.Subnet(c.Network(), "10.1.0.0/24")
			path := "/v2.0/routers/" + router.ID()
			c.assertRevisionGrows("a router with an interface", path, func() { c.Interface(router, subnet) })
			c.assertRevisionGrows("a router without it", path, func() {
				c.Member.Put(Network, path+"/remove_router_interface", Body{"subnet_id": subnet.ID()}).RequireStatus(200)
			})
			c.assertRevisionGrows("a router with a gateway", path, func() {
				c.Member.Put(Network, path, Body{"router": Body{"external_gateway_info": Body{"network_id": c.External.ID()}}}).RequireStatus(200)
			})
		}),
		behaviour("a rule raises the revision number of its security group when it comes and goes", func(c *Case) {
			group := c.SecurityGroup()
			path := "/v2.0/security-groups/" + group.ID()
			var rule Object
			c.assertRevisionGrows("a group with a rule", path, func() {
				rule = c.Member.Post(Network, "/v2.0/security-group-rules", Body{"security_group_rule": Body{
					"security_group_id": group.ID(), "direction": "ingress", "protocol": "tcp", "port_range_min": 22, "port_range_max": 22,
				}}).RequireStatus(201)
			})
			c.assertRevisionGrows("a group without it", path, func() { c.Member.Delete(Network, "/v2.0/security-group-rules/"+rule.ID()).RequireStatus(204) })
		}),
	}
}

func constrainedRequests() []Behaviour {
	return []Behaviour{
		behaviour("an update that depends on the present revision is done, one that depends on another is not", func(c *Case) {
			for _, one := range c.taggable() {
				if one.key == "router" {
					continue // see below
				}
				now := c.revision(one.path())
				c.Member.Put(Network, one.path(), Body{one.key: Body{"description": "first"}}, ifMatch(now)...).RequireStatus(200)
				c.Member.Put(Network, one.path(), Body{one.key: Body{"description": "second"}}, ifMatch(now)...).AssertError(412, "RevisionNumberConstraintFailed")
				c.Member.Put(Network, one.path(), Body{one.key: Body{"description": "third"}}, ifMatch(now+100)...).AssertError(412, "RevisionNumberConstraintFailed")
				assert.Equal(c, "first", c.Member.Get(Network, one.path()+"?fields=description").RequireStatus(200).Text("description"))
			}
		}),
		behaviour("a deletion depends on a revision, too", func(c *Case) {
			path := "/v2.0/networks/" + c.Network().ID()
			now := c.revision(path)
			c.Member.Delete(Network, path, ifMatch(now+7)...).AssertError(412, "RevisionNumberConstraintFailed")
			c.Member.Delete(Network, path, ifMatch(now)...).RequireStatus(204)
			c.Member.Delete(Network, path, ifMatch(now)...).AssertError(404, "NetworkNotFound")
		}),
		behaviour("a condition that is no number is refused, and one that is no revision is passed over", func(c *Case) {
			path := "/v2.0/networks/" + c.Network().ID()
			body := Body{"network": Body{"description": "changed"}}
			for _, condition := range []string{"revision_number=", "revision_number=five"} {
				c.Member.Put(Network, path, body, "If-Match", condition).AssertError(400, "BadRequest")
			}
			for _, condition := range []string{"*", "5", "\"abc\""} {
				c.Member.Put(Network, path, body, "If-Match", condition).RequireStatus(200)
			}
		}),
		behaviour("reading depends on no revision", func(c *Case) {
			path := "/v2.0/networks/" + c.Network().ID()
			c.Member.Get(Network, path, ifMatch(99)...).RequireStatus(200)
		}),
		behaviour("the routes of a router are changed by the revision that was read", func(c *Case) {
			router := c.Router()
			c.Interface(router, c.Subnet(c.Network(), "10.1.0.0/24"))
			path := "/v2.0/routers/" + router.ID()
			now := c.revision(path)
			routes := func(hop string) Body {
				return Body{"router": Body{"routes": []Body{{"destination": "100.96.0.0/24", "nexthop": hop}}}}
			}
			c.RequestAtCleanup(c.Member, "PUT", Network, path, Body{"router": Body{"routes": []Body{}}})
			c.Member.Put(Network, path, routes("10.1.0.10"), ifMatch(now)...).RequireStatus(200)
			c.Member.Put(Network, path, routes("10.1.0.11"), ifMatch(now)...).AssertError(412, "RevisionNumberConstraintFailed")
			assert.Greater(c, c.revision(path), now)
		}),
		behaviour("a router is renamed and described whatever revision the update depends on", func(c *Case) {
			path := "/v2.0/routers/" + c.Router().ID()
			stale := ifMatch(c.revision(path) + 100)
			c.Member.Put(Network, path, Body{"router": Body{"name": "renamed"}}, stale...).RequireStatus(200)
			c.Member.Put(Network, path, Body{"router": Body{"description": "described"}}, stale...).RequireStatus(200)
		}),
	}
}
