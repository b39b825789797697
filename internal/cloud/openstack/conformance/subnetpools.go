package conformance

import (
	"maps"
	"net/http"

	"github.com/stretchr/testify/assert"
)

// postPool asks for a subnet pool. What is made is removed at the end.
func (c *Case) postPool(caller *Caller, attributes Body) *Response {
	c.Helper()
	response := caller.Post(Network, "/v2.0/subnetpools", Body{"subnetpool": attributes})
	if response.Status < 300 {
		c.DeleteAtCleanup(caller, Network, "/v2.0/subnetpools/"+response.object().ID())
	}
	return response
}

// pool makes a subnet pool quietly.
func (c *Case) pool(attributes Body) Object {
	c.Helper()
	return c.Fixture(Network, "/v2.0/subnetpools", Body{"subnetpool": attributes})
}

func subnetPools() []Behaviour {
	return append(poolBehaviours(), poolUse()...)
}

func poolBehaviours() []Behaviour {
	return []Behaviour{
		behaviour("a subnet pool has prefixes of one version and bounds that follow from them", func(c *Case) {
			four := c.postPool(c.Member, Body{"name": "four", "prefixes": []string{"10.8.0.0/16"}}).RequireStatus(201)
			assert.Equal(c, "4", four.Text("ip_version"))
			assert.Equal(c, []string{"10.8.0.0/16"}, four.Texts("prefixes"))
			six := c.postPool(c.Member, Body{"name": "six", "prefixes": []string{"fd00:8::/48"}, "default_prefixlen": 64}).RequireStatus(201)
			assert.Equal(c, "6", six.Text("ip_version"))
			c.Member.Get(Network, "/v2.0/subnetpools/"+six.ID()).RequireStatus(200)
			c.postPool(c.Member, Body{"name": "bounds", "prefixes": []string{"10.9.0.0/16"}, "min_prefixlen": 20, "max_prefixlen": 28}).RequireStatus(201)
			c.postPool(c.Member, Body{"name": "several", "prefixes": []string{"10.10.2.0/24", "10.10.0.0/24", "10.10.1.0/24"}, "default_quota": 512}).RequireStatus(201)
		}),
		behaviour("what is no subnet pool is refused with the reason", func(c *Case) {
			for _, body := range []Body{
				{"prefixes": []string{"10.8.0.0/16"}},
				{"name": "no prefixes"},
				{"name": "nonsense", "prefixes": []string{"nonsense"}},
				{"name": "odd", "prefixes": []string{"10.8.0.0/16"}, "colour": "blue"},
				{"name": "version", "prefixes": []string{"10.8.0.0/16"}, "ip_version": 4},
			} {
				c.postPool(c.Member, body).AssertError(400, "HTTPBadRequest")
			}
			c.postPool(c.Member, Body{"name": "empty", "prefixes": []string{}}).AssertError(400, "EmptySubnetPoolPrefixList")
			c.postPool(c.Member, Body{"name": "mixed", "prefixes": []string{"10.8.0.0/16", "fd00:8::/48"}}).AssertError(400, "PrefixVersionMismatch")
			bounded := func(attribute string, length int) Body {
				return Body{"name": "bounds", "prefixes": []string{"10.8.0.0/16"}, attribute: length}
			}
			c.postPool(c.Member, bounded("default_prefixlen", 4)).AssertError(400, "IllegalSubnetPoolPrefixBounds")
			c.postPool(c.Member, bounded("default_prefixlen", 33)).AssertError(400, "IllegalSubnetPoolPrefixBounds")
			c.postPool(c.Member, bounded("max_prefixlen", 33)).AssertError(400, "IllegalSubnetPoolPrefixBounds")
			c.postPool(c.Member, bounded("max_prefixlen", 4)).AssertError(400, "IllegalSubnetPoolPrefixBounds")
			c.postPool(c.Member, bounded("min_prefixlen", 33)).AssertError(400, "IllegalSubnetPoolPrefixBounds")
			c.postPool(c.Member, bounded("min_prefixlen", -1)).AssertError(400, "HTTPBadRequest")
		}),
		behaviour("a plain member makes no subnet pool that is shared or the default one", func(c *Case) {
			c.postPool(c.Member, Body{"name": "ours", "prefixes": []string{"10.8.0.0/16"}, "shared": true}).AssertError(403, "PolicyNotAuthorized")
			c.postPool(c.Member, Body{"name": "ours", "prefixes": []string{"10.8.0.0/16"}, "is_default": true}).AssertError(403, "PolicyNotAuthorized")
			pool := c.pool(Body{"name": "mine", "prefixes": []string{"10.8.0.0/16"}})
			c.Member.Put(Network, "/v2.0/subnetpools/"+pool.ID(), Body{"subnetpool": Body{"is_default": true}}).AssertError(403, "PolicyNotAuthorized")
		}),
		behaviour("a subnet pool grows and is renamed, but does not shrink", func(c *Case) {
			pool := c.pool(Body{"name": "mine", "prefixes": []string{"10.8.0.0/24"}})
			one := "/v2.0/subnetpools/" + pool.ID()
			c.Member.Put(Network, one, Body{"subnetpool": Body{"name": "renamed", "description": "described", "default_prefixlen": 26}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnetpool": Body{"prefixes": []string{"10.8.0.0/16"}}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnetpool": Body{"prefixes": []string{"10.8.0.0/16", "10.9.0.0/16"}}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnetpool": Body{"prefixes": []string{"10.8.0.0/16"}}}).AssertError(400, "IllegalSubnetPoolPrefixUpdate")
			c.Member.Put(Network, one, Body{"subnetpool": Body{"prefixes": []string{"10.8.0.0/16", "10.9.0.0/16", "fd00:8::/48"}}}).AssertError(400, "PrefixVersionMismatch")
			c.Member.Put(Network, one, Body{"subnetpool": Body{"ip_version": 6}}).AssertError(400, "HTTPBadRequest")
		}),
		behaviour("a stranger's subnet pool is not there, unless it is shared", func(c *Case) {
			pool := c.pool(Body{"name": "mine", "prefixes": []string{"10.8.0.0/16"}})
			one := "/v2.0/subnetpools/" + pool.ID()
			c.OtherMember.Get(Network, one).AssertError(404, "SubnetPoolNotFound")
			c.OtherMember.Delete(Network, one).AssertError(404, "SubnetPoolNotFound")
			assert.Empty(c, c.OtherMember.Get(Network, "/v2.0/subnetpools?id="+pool.ID()).List("subnetpools"))
			network := c.Network()
			theirs := c.FixtureAs(c.OtherMember, Network, "/v2.0/subnetpools", Body{"subnetpool": Body{"name": "theirs", "prefixes": []string{"10.8.0.0/16"}, "default_prefixlen": 24}})
			c.postSubnet(network, Body{"subnetpool_id": theirs.ID()}).AssertError(404, "SubnetPoolNotFound")
			shared := c.FixtureAs(c.Operator, Network, "/v2.0/subnetpools", Body{"subnetpool": Body{
				"name": "everybody's", "prefixes": []string{"10.8.0.0/16"}, "default_prefixlen": 24, "shared": true,
			}})
			found := c.Member.Get(Network, "/v2.0/subnetpools/"+shared.ID()).RequireStatus(200)
			assert.Equal(c, true, found.At("shared"))
			assert.Len(c, c.Member.Get(Network, "/v2.0/subnetpools?id="+shared.ID()).List("subnetpools"), 1)
			c.Member.Put(Network, "/v2.0/subnetpools/"+shared.ID(), Body{"subnetpool": Body{"name": "mine now"}}).AssertError(403, "PolicyNotAuthorized")
			c.Member.Delete(Network, "/v2.0/subnetpools/"+shared.ID()).AssertError(403, "PolicyNotAuthorized")
			c.postSubnet(network, Body{"subnetpool_id": shared.ID()}).RequireStatus(201)
		}),
		behaviour("subnet pools are listed by version, name and whether they are shared", func(c *Case) {
			c.pool(Body{"name": "four", "prefixes": []string{"10.8.0.0/16"}})
			c.pool(Body{"name": "six", "prefixes": []string{"fd00:8::/48"}})
			own := "/v2.0/subnetpools?project_id=" + c.Member.ProjectID
			assert.Len(c, c.Member.Get(Network, own).List("subnetpools"), 2)
			assert.Len(c, c.Member.Get(Network, own+"&ip_version=6").List("subnetpools"), 1)
			assert.Len(c, c.Member.Get(Network, own+"&name=four").List("subnetpools"), 1)
			assert.Empty(c, c.Member.Get(Network, own+"&shared=true").List("subnetpools"))
			assert.Empty(c, c.Member.Get(Network, own+"&is_default=true").List("subnetpools"))
			assert.Len(c, c.Member.Get(Network, own+"&default_prefixlen=8").List("subnetpools"), 1)
		}),
	}
}

func poolUse() []Behaviour {
	return []Behaviour{
		behaviour("a subnet from a pool is the next free range of the length that is wanted", func(c *Case) {
			pool := c.pool(Body{"name": "mine", "prefixes": []string{"10.8.0.0/16"}, "default_prefixlen": 24, "min_prefixlen": 20, "max_prefixlen": 28})
			network := c.Network()
			from := func(more Body) Body {
				body := Body{"subnetpool_id": pool.ID()}
				maps.Copy(body, more)
				return body
			}
			first := c.postSubnet(network, from(nil)).RequireStatus(201)
			assert.Equal(c, "10.8.0.0/24", first.Text("cidr"))
			assert.Equal(c, pool.ID(), first.Text("subnetpool_id"))
			c.postSubnet(network, from(Body{"prefixlen": 26})).RequireStatus(201)
			c.postSubnet(network, from(Body{"prefixlen": 22})).RequireStatus(201)
			c.postSubnet(network, from(nil)).RequireStatus(201)
			c.postSubnet(network, from(Body{"cidr": "10.8.200.0/24"})).RequireStatus(201)
			c.postSubnet(network, from(Body{"cidr": "10.8.100.0/24", "gateway_ip": "10.8.100.9"})).RequireStatus(201)
			c.postSubnet(c.Network(), from(Body{"cidr": "10.8.200.0/25"})).AssertError(500, "SubnetAllocationError")
			c.postSubnet(network, from(Body{"cidr": "10.99.0.0/24"})).AssertError(500, "SubnetAllocationError")
			c.postSubnet(network, from(Body{"prefixlen": 19})).AssertError(400, "MinPrefixSubnetAllocationError")
			c.postSubnet(network, from(Body{"prefixlen": 29})).AssertError(400, "MaxPrefixSubnetAllocationError")
			c.postSubnet(network, from(Body{"prefixlen": -1})).AssertError(400, "HTTPBadRequest")
			c.postSubnet(network, from(Body{"prefixlen": 24, "cidr": "10.8.50.0/24"})).AssertError(400, "BadRequest")
			c.postSubnet(network, from(Body{"ip_version": 6})).AssertError(400, "BadRequest")
			c.postSubnet(network, Body{"prefixlen": 24}).AssertError(400, "BadRequest")
			c.postSubnet(network, Body{"subnetpool_id": zeroUUID}).AssertError(404, "SubnetPoolNotFound")
			c.postSubnet(network, Body{"subnetpool_id": "nonsense"}).AssertError(400, "HTTPBadRequest")
			c.postSubnet(network, Body{"cidr": "10.99.0.0/24"}).AssertError(400, "NetworkSubnetPoolAffinityError")
		}),
		behaviour("a subnet pool that ran dry says so, and gives again what was given back", func(c *Case) {
			pool := c.pool(Body{"name": "mine", "prefixes": []string{"10.8.0.0/24"}, "default_prefixlen": 25})
			network := c.Network()
			wanted := Body{"subnetpool_id": pool.ID()}
			c.postSubnet(network, wanted).RequireStatus(201)
			second := c.postSubnet(network, wanted).RequireStatus(201)
			c.postSubnet(network, wanted).AssertError(500, "SubnetAllocationError")
			c.Member.Delete(Network, "/v2.0/subnets/"+second.ID()).RequireStatus(204)
			again := c.postSubnet(network, wanted).RequireStatus(201)
			assert.Equal(c, second.Text("cidr"), again.Text("cidr"))
		}),
		behaviour("an IPv6 subnet from a pool has the modes that are asked for", func(c *Case) {
			pool := c.pool(Body{"name": "mine", "prefixes": []string{"fd00:8::/48"}})
			subnet := c.postSubnet(c.Network(), Body{
				"ip_version": 6, "subnetpool_id": pool.ID(), "ipv6_ra_mode": "slaac", "ipv6_address_mode": "slaac",
			}).RequireStatus(201)
			assert.Equal(c, "fd00:8::/64", subnet.Text("cidr"))
		}),
		behaviour("a subnet pool with subnets cannot be deleted", func(c *Case) {
			pool := c.pool(Body{"name": "mine", "prefixes": []string{"10.8.0.0/16"}, "default_prefixlen": 24})
			subnet := c.postSubnet(c.Network(), Body{"subnetpool_id": pool.ID()}).RequireStatus(201)
			one := "/v2.0/subnetpools/" + pool.ID()
			c.Member.Delete(Network, one).AssertError(400, "SubnetPoolDeleteError")
			c.Member.Delete(Network, "/v2.0/subnets/"+subnet.ID()).RequireStatus(204)
			c.Member.Delete(Network, one).RequireStatus(204)
			c.Member.Delete(Network, one).AssertError(404, "SubnetPoolNotFound")
			c.Member.Get(Network, one).AssertError(404, "SubnetPoolNotFound")
		}),
		behaviour("a subnet pool gives each project no more than its quota", func(c *Case) {
			pool := c.pool(Body{"name": "mine", "prefixes": []string{"10.8.0.0/16"}, "default_prefixlen": 26, "default_quota": 100})
			network := c.Network()
			c.postSubnet(network, Body{"subnetpool_id": pool.ID()}).RequireStatus(201)
			c.postSubnet(network, Body{"subnetpool_id": pool.ID()}).AssertError(409, "SubnetPoolQuotaExceeded")
			c.postSubnet(network, Body{"subnetpool_id": pool.ID(), "prefixlen": 27}).RequireStatus(201)
		}),
		behaviour("the default subnet pool is used where a subnet asks for it", func(c *Case) {
			network := c.Network()
			if found := c.defaultPools(); len(found) > 0 {
				assert.Failf(c, "the cloud has default subnet pools already", "%v", found)
				return
			}
			c.postSubnet(network, Body{"use_default_subnetpool": true}).AssertError(400, "BadRequest")
			c.FixtureAs(c.Operator, Network, "/v2.0/subnetpools", Body{"subnetpool": Body{
				"name": "default", "prefixes": []string{"10.8.0.0/16"}, "default_prefixlen": 24, "shared": true, "is_default": true,
			}})
			c.postSubnet(network, Body{"use_default_subnetpool": true}).RequireStatus(201)
			c.postSubnet(network, Body{"use_default_subnetpool": true, "cidr": "10.8.9.0/24"}).RequireStatus(201)
			c.postSubnet(network, Body{"use_default_subnetpool": true, "ip_version": 6}).AssertError(400, "BadRequest")
		}),
	}
}

// defaultPools are the default subnet pools that the cloud has.
func (c *Case) defaultPools() []Object {
	var found []Object
	c.WithoutRecording(func() {
		response := c.Operator.Get(Network, "/v2.0/subnetpools?is_default=true")
		assert.Equal(c, http.StatusOK, response.Status)
		found = response.List("subnetpools")
	})
	return found
}
