package conformance

import (
	"strings"

	"github.com/stretchr/testify/assert"
)

const noUUID = "00000000-0000-4000-8000-000000000000"

// The longest name and description of what Neutron keeps.
const maxTextLength = 255

func networks() []Behaviour {
	return append(append(networkAttributes(), networkDeletions()...), networkRefusals()...)
}

func networkAttributes() []Behaviour {
	return []Behaviour{
		behaviour("a network needs nothing but a name, and is ACTIVE at once", func(c *Case) {
			made := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "one"}}).Succeeds(201)
			c.Remove(c.Member, Network, "/v2.0/networks/"+made.ID())
			assert.Equal(c, "ACTIVE", made.Text("status"))
			assert.Equal(c, c.Member.ProjectID, made.Text("project_id"))
			assert.Empty(c, made.Texts("subnets"))
			c.Member.Get(Network, "/v2.0/networks/"+made.ID()).Succeeds(200)
		}),
		behaviour("a network does not even need a name", func(c *Case) {
			made := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{}}).Succeeds(201)
			c.Remove(c.Member, Network, "/v2.0/networks/"+made.ID())
			assert.Empty(c, made.Text("name"))
		}),
		behaviour("two networks may have one name", func(c *Case) {
			var ids []string
			for range 2 {
				made := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "twin"}}).Succeeds(201)
				c.Remove(c.Member, Network, "/v2.0/networks/"+made.ID())
				ids = append(ids, made.ID())
			}
			assert.NotEqual(c, ids[0], ids[1])
			assert.Len(c, c.Member.Get(Network, "/v2.0/networks?name=twin&project_id="+c.Member.ProjectID).List("networks"), 2)
		}),
		behaviour("an update of a network changes its name, its description and its state, and nothing else", func(c *Case) {
			network := c.Network()
			changed := c.Member.Put(Network, "/v2.0/networks/"+network.ID(), Body{"network": Body{
				"name": "renamed", "description": "described", "admin_state_up": false,
			}}).Succeeds(200)
			assert.Equal(c, "renamed", changed.Text("name"))
			assert.Equal(c, "described", changed.Text("description"))
			assert.Equal(c, false, changed.At("admin_state_up"))
			assert.Equal(c, network["mtu"], changed["mtu"])
			assert.Equal(c, "described", c.Member.Get(Network, "/v2.0/networks/"+network.ID()).Succeeds(200).Text("description"))
			c.Member.Put(Network, "/v2.0/networks/"+network.ID(), Body{"network": Body{}}).Succeeds(200)
		}),
		behaviour("the MTU of a network can be lowered, but not be larger than the cloud allows", func(c *Case) {
			made := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "small", "mtu": 1300}}).Succeeds(201)
			c.Remove(c.Member, Network, "/v2.0/networks/"+made.ID())
			assert.Equal(c, "1300", made.Text("mtu"))
			one := "/v2.0/networks/" + made.ID()
			assert.Equal(c, "1280", c.Member.Put(Network, one, Body{"network": Body{"mtu": 1280}}).Succeeds(200).Text("mtu"))
			c.Member.Put(Network, one, Body{"network": Body{"mtu": 9000}}).Refused(400, "InvalidInput")
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "large", "mtu": 9000}}).Refused(400, "InvalidInput")
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "negative", "mtu": -1}}).Refused(400, "HTTPBadRequest")
			assert.Equal(c, "1280", c.Member.Get(Network, one).Succeeds(200).Text("mtu"))
		}),
		behaviour("an MTU of zero means the largest one", func(c *Case) {
			made := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "zero", "mtu": 0}}).Succeeds(201)
			c.Remove(c.Member, Network, "/v2.0/networks/"+made.ID())
			assert.NotEqual(c, "0", made.Text("mtu"))
			one := "/v2.0/networks/" + made.ID()
			c.Member.Put(Network, one, Body{"network": Body{"mtu": 1300}}).Succeeds(200)
			c.Member.Put(Network, one, Body{"network": Body{"mtu": 0}}).Succeeds(200)
		}),
	}
}

func networkDeletions() []Behaviour {
	return []Behaviour{
		behaviour("a network without ports is deleted together with its subnets", func(c *Case) {
			network := c.Network()
			subnet := c.Subnet(network, "10.1.0.0/24")
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).Succeeds(204)
			c.Member.Get(Network, "/v2.0/subnets/"+subnet.ID()).Refused(404, "SubnetNotFound")
		}),
		behaviour("a network with a port cannot be deleted, and stays as it was", func(c *Case) {
			network := c.Network()
			subnet := c.Subnet(network, "10.1.0.0/24")
			port := c.Port(network)
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).Refused(409, "NetworkInUse").Saying("still in use")
			c.Member.Get(Network, "/v2.0/subnets/"+subnet.ID()).Succeeds(200)
			c.Member.Get(Network, "/v2.0/ports/"+port.ID()).Succeeds(200)
			c.Member.Delete(Network, "/v2.0/ports/"+port.ID()).Succeeds(204)
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).Succeeds(204)
		}),
		behaviour("a network with a port that has no address cannot be deleted either", func(c *Case) {
			network := c.Network()
			c.Port(network)
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).Refused(409, "NetworkInUse")
		}),
		behaviour("a network with a router's interface cannot be deleted", func(c *Case) {
			network := c.Network()
			c.Interface(c.Router(), c.Subnet(network, "10.1.0.0/24"))
			c.Member.Delete(Network, "/v2.0/networks/"+network.ID()).Refused(409, "NetworkInUse")
		}),
		behaviour("a network that is not there is NOT FOUND for every deed, also the second time it is deleted", func(c *Case) {
			network := c.Network()
			one := "/v2.0/networks/" + network.ID()
			c.Member.Delete(Network, one).Succeeds(204)
			c.Member.Delete(Network, one).Refused(404, "NetworkNotFound").Saying("Network %s could not be found.", network.ID())
			c.Member.Get(Network, one).Refused(404, "NetworkNotFound")
			c.Member.Put(Network, one, Body{"network": Body{"name": "late"}}).Refused(404, "NetworkNotFound")
			c.Member.Get(Network, "/v2.0/networks/"+noUUID).Refused(404, "NetworkNotFound")
			c.Member.Get(Network, "/v2.0/networks/no-id-at-all").Refused(404, "NetworkNotFound")
		}),
		behaviour("a stranger's network is not there", func(c *Case) {
			network := c.Network()
			one := "/v2.0/networks/" + network.ID()
			c.Stranger.Get(Network, one).Refused(404, "NetworkNotFound")
			c.Stranger.Put(Network, one, Body{"network": Body{"name": "mine now"}}).Refused(404, "NetworkNotFound")
			c.Stranger.Delete(Network, one).Refused(404, "NetworkNotFound")
			assert.Empty(c, c.Stranger.Get(Network, "/v2.0/networks?id="+network.ID()).List("networks"))
			assert.Equal(c, "given", c.Member.Get(Network, one).Succeeds(200).Text("name"))
		}),
		behaviour("everybody sees an external network and only its owner changes or deletes it", func(c *Case) {
			one := "/v2.0/networks/" + c.External.ID()
			found := c.Member.Get(Network, one+"?fields=id&fields=name&fields=router:external&fields=shared").Succeeds(200)
			assert.Equal(c, true, found.At("router:external"))
			c.Member.Put(Network, one, Body{"network": Body{"description": "mine now"}}).Refused(403, "PolicyNotAuthorized")
			c.Member.Delete(Network, one).Refused(403, "PolicyNotAuthorized")
		}),
	}
}

func networkRefusals() []Behaviour {
	return []Behaviour{
		behaviour("an availability zone that nobody knows is refused", func(c *Case) {
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{
				"name": "elsewhere", "availability_zone_hints": []string{"no-such-zone"},
			}}).Refused(404, "AvailabilityZoneNotFound")
		}),
		behaviour("names and descriptions of networks end after 255 characters", func(c *Case) {
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": strings.Repeat("n", maxTextLength+1)}}).Refused(400, "HTTPBadRequest")
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{
				"name": "wordy", "description": strings.Repeat("d", maxTextLength+1),
			}}).Refused(400, "HTTPBadRequest")
			made := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{
				"name": strings.Repeat("n", maxTextLength), "description": strings.Repeat("ü", maxTextLength),
			}}).Succeeds(201)
			c.Remove(c.Member, Network, "/v2.0/networks/"+made.ID())
		}),
		behaviour("what is no network is refused with the reason", func(c *Case) {
			for _, body := range []Body{
				{"network": Body{"name": "odd", "colour": "blue"}},
				{"network": Body{"name": "odd", "status": "ACTIVE"}},
				{"network": Body{"name": 7}},
				{"network": Body{"name": "odd", "availability_zone_hints": "zone"}},
				{"subnet": Body{"name": "odd"}},
			} {
				c.Member.Post(Network, "/v2.0/networks", body).Refused(400, "HTTPBadRequest")
			}
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"admin_state_up": "perhaps"}}).Refused(400, "InvalidInput")
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"mtu": "wide"}}).Refused(400, "InvalidInput")
			one := "/v2.0/networks/" + c.Network().ID()
			c.Member.Put(Network, one, Body{"network": Body{"colour": "blue"}}).Refused(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"network": Body{"id": noUUID}}).Refused(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"network": Body{"availability_zone_hints": []string{}}}).Refused(400, "HTTPBadRequest")
		}),
		behaviour("several networks are made in one request, all or none", func(c *Case) {
			made := c.Member.Post(Network, "/v2.0/networks", Body{"networks": []Body{{"name": "first"}, {"name": "second"}}})
			assert.Equal(c, 201, made.Status)
			for _, network := range Object(made.Body).Objects("networks") {
				c.Remove(c.Member, Network, "/v2.0/networks/"+network.ID())
			}
			c.Member.Post(Network, "/v2.0/networks", Body{"networks": []Body{{"name": "third"}, {"name": "fourth", "mtu": 9000}}}).Refused(400, "InvalidInput")
			assert.Empty(c, c.Member.Get(Network, "/v2.0/networks?name=third&project_id="+c.Member.ProjectID).List("networks"))
		}),
		behaviour("a network is made in the own project and in no other", func(c *Case) {
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{
				"name": "foreign", "project_id": c.Stranger.ProjectID,
			}}).Refused(400, "HTTPBadRequest")
			made := c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "own", "tenant_id": c.Member.ProjectID}}).Succeeds(201)
			c.Remove(c.Member, Network, "/v2.0/networks/"+made.ID())
		}),
	}
}
