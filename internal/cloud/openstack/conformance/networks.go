package conformance

import (
	"strings"

	"github.com/stretchr/testify/assert"
)

const zeroUUID = "00000000-0000-4000-8000-000000000000"

// The longest name and description of what Neutron keeps.
const maxTextLength = 255

func networks() []Behaviour {
	return append(append(networkAttributes(), networkDeletions()...), networkRefusals()...)
}

func networkAttributes() []Behaviour {
	return []Behaviour{
		behaviour("a network needs nothing but a name, and is ACTIVE at once", func(c *Case) {
			created := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "one"}}).RequireStatus(201)
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/networks/"+created.ID())
			assert.Equal(c, "ACTIVE", created.Text("status"))
			assert.Equal(c, c.Member.ProjectID, created.Text("project_id"))
			assert.Empty(c, created.Texts("subnets"))
			c.Member.Get(Network, "/v2.0/networks/"+created.ID()).RequireStatus(200)
		}),
		behaviour("a network does not even need a name", func(c *Case) {
			created := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{}}).RequireStatus(201)
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/networks/"+created.ID())
			assert.Empty(c, created.Text("name"))
		}),
		behaviour("two networks may have one name", func(c *Case) {
			var ids []string
			for range 2 {
				created := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "twin"}}).RequireStatus(201)
				c.DeleteAtCleanup(c.Member, Network, "/v2.0/networks/"+created.ID())
				ids = append(ids, created.ID())
			}
			assert.NotEqual(c, ids[0], ids[1])
			assert.Len(c, c.Member.Get(Network, "/v2.0/networks?name=twin&project_id="+c.Member.ProjectID).List("networks"), 2)
		}),
		behaviour("an update of a network changes its name, its description and its state, and nothing else", func(c *Case) {
			network := c.Network()
			changed := c.Member.Put(Network, "/v2.0/networks/"+network.ID(), Body{"network": Body{
				"name": "renamed", "description": "described", "admin_state_up": false,
			}}).RequireStatus(200)
			assert.Equal(c, "renamed", changed.Text("name"))
			assert.Equal(c, "described", changed.Text("description"))
			assert.Equal(c, false, changed.At("admin_state_up"))
			assert.Equal(c, network["mtu"], changed["mtu"])
			assert.Equal(c, "described", c.Member.Get(Network, "/v2.0/networks/"+network.ID()).RequireStatus(200).Text("description"))
			c.Member.Put(Network, "/v2.0/networks/"+network.ID(), Body{"network": Body{}}).RequireStatus(200)
		}),
		behaviour("the MTU of a network can be lowered, but not be larger than the cloud allows", func(c *Case) {
			created := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "small", "mtu": 1300}}).RequireStatus(201)
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/networks/"+created.ID())
			assert.Equal(c, "1300", created.Text("mtu"))
			one := "/v2.0/networks/" + created.ID()
			assert.Equal(c, "1280", c.Member.Put(Network, one, Body{"network": Body{"mtu": 1280}}).RequireStatus(200).Text("mtu"))
			c.Member.Put(Network, one, Body{"network": Body{"mtu": 9000}}).AssertError(400, "InvalidInput")
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "large", "mtu": 9000}}).AssertError(400, "InvalidInput")
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "negative", "mtu": -1}}).AssertError(400, "HTTPBadRequest")
			assert.Equal(c, "1280", c.Member.Get(Network, one).RequireStatus(200).Text("mtu"))
		}),
		behaviour("an MTU of zero means the largest one", func(c *Case) {
			created := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "zero", "mtu": 0}}).RequireStatus(201)
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/networks/"+created.ID())
			assert.NotEqual(c, "0", created.Text("mtu"))
			one := "/v2.0/networks/" + created.ID()
			c.Member.Put(Network, one, Body{"network": Body{"mtu": 1300}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"network": Body{"mtu": 0}}).RequireStatus(200)
		}),
	}
}

func networkDeletions() []Behaviour {
	return []Behaviour{
		behaviour("a network without ports is deleted together with its subnets", func(c *Case) {
			network := c.Network()
			subnet := c.Subnet(network, "10.1.0.0/24")
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).RequireStatus(204)
			c.Member.Get(Network, "/v2.0/subnets/"+subnet.ID()).AssertError(404, "SubnetNotFound")
		}),
		behaviour("a network with a port cannot be deleted, and stays as it was", func(c *Case) {
			network := c.Network()
			subnet := c.Subnet(network, "10.1.0.0/24")
			port := c.Port(network)
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).AssertError(409, "NetworkInUse").AssertMessage("still in use")
			c.Member.Get(Network, "/v2.0/subnets/"+subnet.ID()).RequireStatus(200)
			c.Member.Get(Network, "/v2.0/ports/"+port.ID()).RequireStatus(200)
			c.Member.Delete(Network, "/v2.0/ports/"+port.ID()).RequireStatus(204)
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).RequireStatus(204)
		}),
		behaviour("a network with a port that has no address cannot be deleted either", func(c *Case) {
			network := c.Network()
			c.Port(network)
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).AssertError(409, "NetworkInUse")
		}),
		behaviour("a network with a router's interface cannot be deleted", func(c *Case) {
			network := c.Network()
			c.Interface(c.Router(), c.Subnet(network, "10.1.0.0/24"))
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).AssertError(409, "NetworkInUse")
		}),
		behaviour("a network that is not there is NOT FOUND for every request, also the second time it is deleted", func(c *Case) {
			network := c.Network()
			one := "/v2.0/networks/" + network.ID()
			c.Member.Delete(Network, one).RequireStatus(204)
			c.Member.Delete(Network, one).AssertError(404, "NetworkNotFound").AssertMessage("Network %s could not be found.", network.ID())
			c.Member.Get(Network, one).AssertError(404, "NetworkNotFound")
			c.Member.Put(Network, one, Body{"network": Body{"name": "late"}}).AssertError(404, "NetworkNotFound")
			c.Member.Get(Network, "/v2.0/networks/"+zeroUUID).AssertError(404, "NetworkNotFound")
			c.Member.Get(Network, "/v2.0/networks/no-id-at-all").AssertError(404, "NetworkNotFound")
		}),
		behaviour("a stranger's network is not there", func(c *Case) {
			network := c.Network()
			one := "/v2.0/networks/" + network.ID()
			c.OtherMember.Get(Network, one).AssertError(404, "NetworkNotFound")
			c.OtherMember.Put(Network, one, Body{"network": Body{"name": "mine now"}}).AssertError(404, "NetworkNotFound")
			c.OtherMember.Delete(Network, one).AssertError(404, "NetworkNotFound")
			assert.Empty(c, c.OtherMember.Get(Network, "/v2.0/networks?id="+network.ID()).List("networks"))
			assert.Equal(c, "given", c.Member.Get(Network, one).RequireStatus(200).Text("name"))
		}),
		behaviour("everybody sees an external network and only its owner changes or deletes it", func(c *Case) {
			one := "/v2.0/networks/" + c.External.ID()
			found := c.Member.Get(Network, one+"?fields=id&fields=name&fields=router:external&fields=shared").RequireStatus(200)
			assert.Equal(c, true, found.At("router:external"))
			c.Member.Put(Network, one, Body{"network": Body{"description": "mine now"}}).AssertError(403, "PolicyNotAuthorized")
			c.Member.Delete(Network, one).AssertError(403, "PolicyNotAuthorized")
		}),
	}
}

func networkRefusals() []Behaviour {
	return []Behaviour{
		behaviour("an availability zone that nobody knows is refused", func(c *Case) {
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{
				"name": "elsewhere", "availability_zone_hints": []string{"no-such-zone"},
			}}).AssertError(404, "AvailabilityZoneNotFound")
		}),
		behaviour("names and descriptions of networks end after 255 characters", func(c *Case) {
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": strings.Repeat("n", maxTextLength+1)}}).AssertError(400, "HTTPBadRequest")
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{
				"name": "wordy", "description": strings.Repeat("d", maxTextLength+1),
			}}).AssertError(400, "HTTPBadRequest")
			created := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{
				"name": strings.Repeat("n", maxTextLength), "description": strings.Repeat("ü", maxTextLength),
			}}).RequireStatus(201)
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/networks/"+created.ID())
		}),
		behaviour("what is no network is refused with the reason", func(c *Case) {
			for _, body := range []Body{
				{"network": Body{"name": "odd", "colour": "blue"}},
				{"network": Body{"name": "odd", "status": "ACTIVE"}},
				{"network": Body{"name": 7}},
				{"network": Body{"name": "odd", "availability_zone_hints": "zone"}},
				{"subnet": Body{"name": "odd"}},
			} {
				c.Member.Post(Network, "/v2.0/networks", body).AssertError(400, "HTTPBadRequest")
			}
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"admin_state_up": "perhaps"}}).AssertError(400, "InvalidInput")
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"mtu": "wide"}}).AssertError(400, "InvalidInput")
			one := "/v2.0/networks/" + c.Network().ID()
			c.Member.Put(Network, one, Body{"network": Body{"colour": "blue"}}).AssertError(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"network": Body{"id": zeroUUID}}).AssertError(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"network": Body{"availability_zone_hints": []string{}}}).AssertError(400, "HTTPBadRequest")
		}),
		behaviour("several networks are made in one request, all or none", func(c *Case) {
			created := c.Member.Post(Network, "/v2.0/networks", Body{"networks": []Body{{"name": "first"}, {"name": "second"}}})
			assert.Equal(c, 201, created.Status)
			for _, network := range Object(created.Body).Objects("networks") {
				c.DeleteAtCleanup(c.Member, Network, "/v2.0/networks/"+network.ID())
			}
			c.Member.Post(Network, "/v2.0/networks", Body{"networks": []Body{{"name": "third"}, {"name": "fourth", "mtu": 9000}}}).AssertError(400, "InvalidInput")
			assert.Empty(c, c.Member.Get(Network, "/v2.0/networks?name=third&project_id="+c.Member.ProjectID).List("networks"))
		}),
		behaviour("a network is made in the own project and in no other", func(c *Case) {
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{
				"name": "foreign", "project_id": c.OtherMember.ProjectID,
			}}).AssertError(400, "HTTPBadRequest")
			created := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "own", "tenant_id": c.Member.ProjectID}}).RequireStatus(201)
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/networks/"+created.ID())
		}),
	}
}
