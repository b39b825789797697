package conformance

import (
	"net/url"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// networksNamed makes networks quietly.
func (c *Case) networksNamed(names ...string) []Object {
	c.Helper()
	var created []Object
	for _, name := range names {
		network := c.Fixture(Network, "/v2.0/networks", Body{"network": Body{"name": name}})
		c.SetPlaceholder(network.ID(), "network "+name)
		created = append(created, network)
	}
	return created
}

// listPath is the path of a list of what the member's project has of a kind.
func (c *Case) listPath(collection, query string) string {
	path := "/v2.0/" + collection + "?project_id=" + c.Member.ProjectID
	if query != "" {
		path += "&" + query
	}
	return path
}

func namesOf(objects []Object) []string {
	names := []string{}
	for _, object := range objects {
		names = append(names, object.Text("name"))
	}
	return names
}

// followLink follows a link of a page. The link's host is the cloud's matter.
func (c *Case) followLink(page *Response, rel string) string {
	c.Helper()
	for _, link := range Object(page.Body).Objects("networks_links") {
		if link.Text("rel") == rel {
			target, err := url.Parse(link.Text("href"))
			require.NoError(c, err)
			assert.True(c, strings.HasSuffix(target.Path, "/v2.0/networks"), "the link leads to %s", target.Path)
			return "/v2.0/networks?" + target.RawQuery
		}
	}
	return ""
}

func lists() []Behaviour {
	return slices.Concat(filteredLists(), listsByRelation(), pagedLists(), limitedLists())
}

func filteredLists() []Behaviour {
	return []Behaviour{
		behaviour("a list of what is not there is empty, not missing", func(c *Case) {
			for _, kind := range []string{"networks", "subnets", "subnetpools", "ports"} {
				assert.Empty(c, c.Member.Get(Network, c.listPath(kind, "name=nobody")).List(kind))
				assert.Empty(c, c.Member.Get(Network, "/v2.0/"+kind+"?id="+zeroUUID).List(kind))
			}
		}),
		behaviour("networks are found by name, by description, by state, and by all of it", func(c *Case) {
			c.networksNamed("alpha", "beta")
			c.Fixture(Network, "/v2.0/networks", Body{"network": Body{"name": "alpha", "description": "the other one", "admin_state_up": false}})
			for _, one := range []struct {
				query string
				found int
			}{
				{"", 3},
				{"name=alpha", 2},
				{"name=alp", 0},
				{"name=alpha&name=beta", 3},
				{"name=ALPHA", 2},
				{"description=the+other+one", 1},
				{"name=alpha&description=the%20other%20one", 1},
				{"name=beta&description=the+other+one", 0},
				{"admin_state_up=False", 1},
				{"admin_state_up=true", 2},
				{"status=ACTIVE", 3},
				{"status=DOWN", 0},
				{"shared=false", 3},
				{"router:external=false", 3},
				{"router:external=true", 0},
				{"name=", 0},
				{"description=", 2},
				{"mtu=1", 0},
			} {
				assert.Lenf(c, c.Member.Get(Network, c.listPath("networks", one.query)).List("networks"), one.found, "%s", one.query)
			}
		}),
		behaviour("several IDs are alternatives", func(c *Case) {
			created := c.networksNamed("alpha", "beta", "gamma")
			found := c.Member.Get(Network, "/v2.0/networks?id="+created[0].ID()+"&id="+created[1].ID()).List("networks")
			assert.ElementsMatch(c, []string{"alpha", "beta"}, namesOf(found))
			assert.Len(c, c.Member.Get(Network, "/v2.0/networks?id="+created[0].ID()+"&id="+zeroUUID).List("networks"), 1)
			assert.Len(c, c.Member.Get(Network, "/v2.0/networks?id="+created[0].ID()+"&id="+created[0].ID()).List("networks"), 1)
			assert.Empty(c, c.Member.Get(Network, "/v2.0/networks?id="+created[0].ID()+"&name=beta").List("networks"))
		}),
		behaviour("a member's list has the own and the external networks, an operator's has all", func(c *Case) {
			network := c.networksNamed("alpha")[0]
			assert.Len(c, c.Member.Get(Network, "/v2.0/networks?id="+network.ID()+"&id="+c.External.ID()+"&fields=id").List("networks"), 2)
			assert.Len(c, c.OtherMember.Get(Network, "/v2.0/networks?id="+network.ID()+"&id="+c.External.ID()+"&fields=id").List("networks"), 1)
			assert.Empty(c, c.OtherMember.Get(Network, c.listPath("networks", "")).List("networks"))
			assert.Len(c, c.Operator.Get(Network, c.listPath("networks", "fields=id")).List("networks"), 1)
			assert.Len(c, c.Member.Get(Network, "/v2.0/networks?router:external=true&fields=id&name="+c.External.Text("name")).List("networks"), 1)
			assert.Len(c, c.Member.Get(Network, "/v2.0/networks?router:external=True&fields=id&name="+c.External.Text("name")).List("networks"), 1)
			assert.Len(c, c.Member.Get(Network, "/v2.0/networks?tenant_id="+c.Member.ProjectID).List("networks"), 1)
		}),
	}
}

func listsByRelation() []Behaviour {
	return []Behaviour{
		behaviour("ports are found by network, device, owner, hardware address and status", func(c *Case) {
			network := c.Network()
			subnet := c.Subnet(network, "10.1.0.0/24")
			router := c.Router()
			c.Interface(router, subnet)
			c.Fixture(Network, "/v2.0/ports", Body{"port": Body{"network_id": network.ID(), "name": "mine", "device_id": "somebody", "mac_address": "fa:16:3e:00:00:0a"}})
			c.Port(c.Network())
			for _, one := range []struct {
				query string
				found int
			}{
				{"network_id=" + network.ID(), 2},
				{"device_id=" + router.ID(), 1},
				{"device_id=somebody", 1},
				{"device_owner=network:router_interface", 1},
				{"device_owner=", 2},
				{"mac_address=fa:16:3e:00:00:0a", 1},
				{"status=DOWN", 2},
				{"admin_state_up=true", 3},
				{"network_id=" + network.ID() + "&device_owner=network:router_interface&device_owner=compute:nova", 1},
			} {
				assert.Lenf(c, c.Member.Get(Network, c.listPath("ports", one.query)).List("ports"), one.found, "%s", one.query)
			}
		}),
		behaviour("ports are found by the subnet and by the address that they have", func(c *Case) {
			network := c.Network()
			subnet, other := c.Subnet(network, "10.1.0.0/24"), c.Subnet(network, "10.2.0.0/24")
			for _, address := range []string{"10.1.0.10", "10.1.0.11", "10.2.0.10"} {
				c.Fixture(Network, "/v2.0/ports", Body{"port": Body{
					"network_id": network.ID(), "name": "at " + address, "fixed_ips": []Body{{"ip_address": address}},
				}})
			}
			for _, one := range []struct {
				query string
				found int
			}{
				{"fixed_ips=subnet_id=" + subnet.ID(), 2},
				{"fixed_ips=subnet_id%3D" + subnet.ID(), 2},
				{"fixed_ips=subnet_id=" + subnet.ID() + "&fixed_ips=subnet_id=" + other.ID(), 3},
				{"fixed_ips=ip_address=10.1.0.10", 1},
				{"fixed_ips=ip_address=10.1.0.10&fixed_ips=ip_address=10.2.0.10", 2},
				{"fixed_ips=ip_address=10.1.0.10&fixed_ips=subnet_id=" + other.ID(), 0},
				{"fixed_ips=ip_address_substr=10.1.0.", 2},
				{"fixed_ips=subnet_id=" + zeroUUID, 0},
			} {
				assert.Lenf(c, c.Member.Get(Network, c.listPath("ports", one.query)).List("ports"), one.found, "%s", one.query)
			}
			assert.Len(c, c.Member.Get(Network, c.listPath("ports", "fixed_ips=colour=blue")).List("ports"), 3, "what is no criterion is passed over")
		}),
		behaviour("subnets are found by network, range, version and gateway", func(c *Case) {
			network := c.Network()
			c.Subnet(network, "10.1.0.0/24")
			c.Subnet(c.Network(), "10.2.0.0/24")
			c.Fixture(Network, "/v2.0/subnets", Body{"subnet": Body{"network_id": network.ID(), "cidr": "fd00:1::/64", "ip_version": 6, "name": "six"}})
			for _, one := range []struct {
				query string
				found int
			}{
				{"network_id=" + network.ID(), 2},
				{"cidr=10.1.0.0/24", 1},
				{"ip_version=6", 1},
				{"ip_version=4&network_id=" + network.ID(), 1},
				{"gateway_ip=10.1.0.1", 1},
				{"enable_dhcp=true", 3},
				{"name=six", 1},
				{"cidr=10.1.0.0/16", 0},
			} {
				assert.Lenf(c, c.Member.Get(Network, c.listPath("subnets", one.query)).List("subnets"), one.found, "%s", one.query)
			}
		}),
		behaviour("a filter that nobody knows is refused by name", func(c *Case) {
			for _, path := range []string{
				"/v2.0/networks?colour=blue", "/v2.0/networks?colour=blue&weight=5", "/v2.0/ports?security_group_ids=x", "/v2.0/subnets?dns_nameservers=9.9.9.9",
				"/v2.0/networks?subnets=" + zeroUUID, "/v2.0/networks?id%5B%5D=" + zeroUUID, "/v2.0/ports?allowed_address_pairs=x",
			} {
				c.Member.Get(Network, path).AssertError(400, "HTTPBadRequest").AssertMessage("invalid attribute")
			}
		}),
		behaviour("a filter with a value that makes no sense is refused", func(c *Case) {
			c.Member.Get(Network, "/v2.0/networks?admin_state_up=perhaps").AssertError(400, "InvalidInput")
			c.Member.Get(Network, "/v2.0/networks?router:external=perhaps").AssertError(400, "InvalidInput")
		}),
	}
}

func pagedLists() []Behaviour {
	return []Behaviour{
		behaviour("a list is read page by page by its links", func(c *Case) {
			c.networksNamed("a", "b", "c", "d", "e")
			var seen []string
			pages := 0
			for path := c.listPath("networks", "limit=2&fields=id&fields=name&sort_key=name&sort_dir=asc"); path != ""; pages++ {
				require.Less(c, pages, 5)
				page := c.Member.Get(Network, path)
				seen = append(seen, namesOf(page.List("networks"))...)
				path = c.followLink(page, "next")
			}
			assert.Equal(c, []string{"a", "b", "c", "d", "e"}, seen)
		}),
		behaviour("a full last page has a link to an empty one, which leads back", func(c *Case) {
			c.networksNamed("a", "b")
			page := c.Member.Get(Network, c.listPath("networks", "limit=2&sort_key=name&sort_dir=asc"))
			assert.Len(c, page.List("networks"), 2)
			path := c.followLink(page, "next")
			require.NotEmpty(c, path)
			empty := c.Member.Get(Network, path)
			assert.Empty(c, empty.List("networks"))
			assert.Empty(c, c.followLink(empty, "next"))
			back := c.followLink(empty, "previous")
			assert.Contains(c, back, "page_reverse=True")
			if back != "" {
				c.Member.Get(Network, back).List("networks")
			}
		}),
		behaviour("a page begins after its marker, or ends before it", func(c *Case) {
			created := c.networksNamed("a", "b", "c", "d")
			sorted := "sort_key=name&sort_dir=asc&limit=2&marker="
			assert.Equal(c, []string{"b", "c"}, namesOf(c.Member.Get(Network, c.listPath("networks", sorted+created[0].ID())).List("networks")))
			assert.Equal(c, []string{"d"}, namesOf(c.Member.Get(Network, c.listPath("networks", sorted+created[2].ID())).List("networks")))
			assert.Equal(c, []string{"b", "c"}, namesOf(c.Member.Get(Network, c.listPath("networks", sorted+created[3].ID()+"&page_reverse=True")).List("networks")))
			assert.Len(c, c.Member.Get(Network, c.listPath("networks", "sort_key=name&sort_dir=asc&marker="+created[1].ID())).List("networks"), 4, "a marker means nothing without a limit")
		}),
		behaviour("no limit and a limit of zero mean all, and nonsense is refused", func(c *Case) {
			c.networksNamed("a", "b", "c")
			assert.Len(c, c.Member.Get(Network, c.listPath("networks", "limit=0")).List("networks"), 3)
			assert.Len(c, c.Member.Get(Network, c.listPath("networks", "limit=100&sort_key=name&sort_dir=asc")).List("networks"), 3)
			c.Member.Get(Network, c.listPath("networks", "limit=-1")).AssertError(400, "BadRequest")
			c.Member.Get(Network, c.listPath("networks", "limit=many")).AssertError(400, "BadRequest")
			c.Member.Get(Network, c.listPath("networks", "limit=2&marker="+zeroUUID)).AssertError(404, "NetworkNotFound")
		}),
		behaviour("a list is sorted as it is asked for", func(c *Case) {
			c.networksNamed("b", "c", "a")
			names := func(query string) []string {
				return namesOf(c.Member.Get(Network, c.listPath("networks", query)).List("networks"))
			}
			assert.Equal(c, []string{"a", "b", "c"}, names("sort_key=name&sort_dir=asc"))
			assert.Equal(c, []string{"c", "b", "a"}, names("sort_key=name&sort_dir=desc"))
			assert.Equal(c, []string{"c", "b", "a"}, names("sort_key=status&sort_dir=asc&sort_key=name&sort_dir=desc"))
			c.Member.Get(Network, c.listPath("networks", "sort_key=colour&sort_dir=asc")).AssertError(400, "HTTPBadRequest")
			c.Member.Get(Network, c.listPath("networks", "sort_key=name&sort_dir=sideways")).AssertError(400, "HTTPBadRequest")
			c.Member.Get(Network, c.listPath("networks", "sort_key=name")).AssertError(400, "HTTPBadRequest")
		}),
	}
}

func limitedLists() []Behaviour {
	return []Behaviour{
		behaviour("an answer has no more than the fields that are asked for", func(c *Case) {
			network := c.networksNamed("a")[0]
			found := c.Member.Get(Network, c.listPath("networks", "fields=id&fields=name")).List("networks")
			require.Len(c, found, 1)
			assert.Equal(c, Object{"id": network.ID(), "name": "a"}, found[0])
			shown := c.Member.Get(Network, "/v2.0/networks/"+network.ID()+"?fields=name").RequireStatus(200)
			assert.Equal(c, Object{"name": "a"}, shown)
			c.Member.Get(Network, c.listPath("networks", "fields=name&fields=project_id&fields=tags&fields=revision_number&fields=subnets")).List("networks")
			c.Member.Get(Network, c.listPath("networks", "fields=id&fields=colour")).List("networks")
			c.Member.Get(Network, c.listPath("networks", "fields=colour")).List("networks")
			c.Member.Get(Network, c.listPath("networks", "fields=id,name")).List("networks")
			c.Member.Get(Network, c.listPath("networks", "fields=")).List("networks")
		}),
		behaviour("the list of another kind is cut in the same way", func(c *Case) {
			network := c.Network()
			c.Subnet(network, "10.1.0.0/24")
			c.Port(network)
			c.Member.Get(Network, c.listPath("ports", "fields=id&fields=fixed_ips&fields=device_owner")).List("ports")
			c.Member.Get(Network, c.listPath("subnets", "fields=cidr&fields=tenant_id")).List("subnets")
		}),
	}
}
