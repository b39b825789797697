package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
)

// taggable is one resource of each kind that bears tags.
func (c *Case) taggable() []taggable {
	c.Helper()
	network := c.Network()
	return []taggable{
		{"networks", "network", network},
		{"subnets", "subnet", c.Subnet(network, "10.1.0.0/24")},
		{"subnetpools", "subnetpool", c.pool(Body{"name": "given", "prefixes": []string{"10.8.0.0/16"}})},
		{"routers", "router", c.Router()},
		{"ports", "port", c.Port(network)},
		{"security-groups", "security_group", c.SecurityGroup()},
	}
}

type taggable struct {
	collection, key string
	object          Object
}

func (t taggable) path() string { return "/v2.0/" + t.collection + "/" + t.object.ID() }

func tagsAndDescriptions() []Behaviour {
	return slices.Concat(tagBehaviours(), tagLimits(), descriptionBehaviours())
}

func tagBehaviours() []Behaviour {
	return []Behaviour{
		behaviour("tags go with no creation: that of a port forgets them, and any other is refused", func(c *Case) {
			network := c.Network()
			tags := []string{"one", "two"}
			c.Member.Post(Network, "/v2.0/networks", Body{"network": Body{"name": "tagged", "tags": tags}}).AssertError(400, "HTTPBadRequest")
			c.postSubnet(network, Body{"cidr": "10.1.0.0/24", "tags": tags}).AssertError(400, "HTTPBadRequest")
			c.postPool(c.Member, Body{"name": "tagged", "prefixes": []string{"10.8.0.0/16"}, "tags": tags}).AssertError(400, "HTTPBadRequest")
			c.Member.Post(Network, "/v2.0/routers", Body{"router": Body{"name": "tagged", "tags": tags}}).AssertError(400, "HTTPBadRequest")
			c.Member.Post(Network, "/v2.0/security-groups", Body{"security_group": Body{"name": "tagged", "tags": tags}}).AssertError(400, "HTTPBadRequest")
			assert.Empty(c, c.postPort(network, Body{"tags": tags}).RequireStatus(201).Texts("tags"))
		}),
		behaviour("an update changes no tags", func(c *Case) {
			for _, one := range c.taggable() {
				c.Member.Put(Network, one.path(), Body{one.key: Body{"tags": []string{"one"}}}).AssertError(400, "HTTPBadRequest")
			}
		}),
		behaviour("every kind bears tags, which are exchanged as a whole", func(c *Case) {
			for _, one := range c.taggable() {
				c.Member.Put(Network, one.path()+"/tags", Body{"tags": []string{"one", "two"}}).RequireStatus(200)
				assert.ElementsMatch(c, []string{"one", "two"}, c.Member.Get(Network, one.path()).RequireStatus(200).Texts("tags"))
				c.Member.Put(Network, one.path()+"/tags", Body{"tags": []string{"two", "three"}}).RequireStatus(200)
				c.Member.Get(Network, one.path()+"/tags").RequireStatus(200)
				c.Member.Put(Network, one.path()+"/tags", Body{"tags": []string{}}).RequireStatus(200)
				assert.Empty(c, c.Member.Get(Network, one.path()).RequireStatus(200).Texts("tags"))
			}
		}),
		behaviour("a tag is added, looked for and taken away alone", func(c *Case) {
			network := c.Network()
			one := "/v2.0/networks/" + network.ID() + "/tags"
			c.Member.Put(Network, one+"/blue", nil).RequireStatus(201)
			c.Member.Put(Network, one+"/blue", nil).RequireStatus(201)
			c.Member.Put(Network, one+"/green", nil).RequireStatus(201)
			c.Member.Get(Network, one).RequireStatus(200)
			c.Member.Get(Network, one+"/blue").RequireStatus(204)
			c.Member.Get(Network, one+"/red").AssertError(404, "TagNotFound")
			c.Member.Delete(Network, one+"/blue").RequireStatus(204)
			c.Member.Delete(Network, one+"/blue").AssertError(404, "TagNotFound")
			assert.Equal(c, []string{"green"}, c.Member.Get(Network, "/v2.0/networks/"+network.ID()).RequireStatus(200).Texts("tags"))
			c.Member.Delete(Network, one).RequireStatus(204)
			c.Member.Delete(Network, one).RequireStatus(204)
			assert.Empty(c, c.Member.Get(Network, "/v2.0/networks/"+network.ID()).RequireStatus(200).Texts("tags"))
		}),
	}
}

func tagLimits() []Behaviour {
	return []Behaviour{
		behaviour("tags that make no sense are refused with the reason", func(c *Case) {
			one := "/v2.0/networks/" + c.Network().ID() + "/tags"
			long := strings.Repeat("t", maxTextLength+1)
			c.Member.Put(Network, one, Body{"tags": []string{long}}).AssertError(400, "InvalidInput")
			c.Member.Put(Network, one+"/"+long, nil).AssertError(400, "InvalidInput")
			c.Member.Put(Network, one, Body{"tags": []string{"twice", "twice"}}).AssertError(400, "InvalidInput")
			c.Member.Put(Network, one, Body{"tags": "one"}).AssertError(400, "InvalidInput")
			c.Member.Put(Network, one, Body{"tags": []int{1}}).AssertError(400, "InvalidInput")
			c.Member.Put(Network, one, Body{"colours": []string{"blue"}}).AssertError(400, "InvalidInput")
			c.postPort(c.Network(), Body{"tags": []string{long}}).AssertError(400, "HTTPBadRequest")
			c.postPort(c.Network(), Body{"tags": []string{"twice", "twice"}}).AssertError(400, "HTTPBadRequest")
		}),
		behaviour("a tag may be 255 characters of any kind, and there may be many", func(c *Case) {
			one := "/v2.0/networks/" + c.Network().ID() + "/tags"
			c.Member.Put(Network, one, Body{"tags": []string{strings.Repeat("t", maxTextLength)}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"tags": []string{"with space", "with,comma", "ünicode", ""}}).RequireStatus(200)
			var many []string
			for i := range 60 {
				many = append(many, fmt.Sprintf("tag-%02d", i))
			}
			c.Member.Put(Network, one, Body{"tags": many}).RequireStatus(200)
			assert.Len(c, c.Member.Get(Network, one).RequireStatus(200).Texts("tags"), 60)
		}),
		behaviour("the tags of what is not there or a stranger's are NOT FOUND", func(c *Case) {
			network := c.Network()
			one := "/v2.0/networks/" + network.ID() + "/tags"
			c.OtherMember.Get(Network, one).AssertError(404, "TagResourceNotFound")
			c.OtherMember.Put(Network, one+"/blue", nil).AssertError(404, "TagResourceNotFound")
			c.OtherMember.Put(Network, one, Body{"tags": []string{"blue"}}).AssertError(404, "TagResourceNotFound")
			c.OtherMember.Delete(Network, one).AssertError(404, "TagResourceNotFound")
			nowhere := "/v2.0/networks/" + zeroUUID + "/tags"
			c.Member.Get(Network, nowhere).AssertError(404, "TagResourceNotFound")
			c.Member.Put(Network, nowhere, Body{"tags": []string{"blue"}}).AssertError(404, "TagResourceNotFound")
			c.Member.Delete(Network, nowhere).AssertError(404, "TagResourceNotFound")
		}),
		behaviour("lists are filtered by tags in four ways", func(c *Case) {
			created := c.networksNamed("a", "b", "c")
			c.WithoutRecording(func() {
				c.Member.Put(Network, "/v2.0/networks/"+created[0].ID()+"/tags", Body{"tags": []string{"red", "green"}}).RequireStatus(200)
				c.Member.Put(Network, "/v2.0/networks/"+created[1].ID()+"/tags", Body{"tags": []string{"red"}}).RequireStatus(200)
			})
			for _, one := range []struct {
				query string
				found []string
			}{
				{"tags=red", []string{"a", "b"}},
				{"tags=red,green", []string{"a"}},
				{"tags-any=red,green", []string{"a", "b"}},
				{"tags-any=green,blue", []string{"a"}},
				{"not-tags=red", []string{"c"}},
				{"not-tags=red,green", []string{"b", "c"}},
				{"not-tags-any=green,blue", []string{"b", "c"}},
				{"not-tags-any=red,green", []string{"c"}},
				{"tags=blue", nil},
				{"tags=red&not-tags=green", []string{"b"}},
			} {
				found := c.Member.Get(Network, c.listPath("networks", one.query+"&fields=name")).List("networks")
				assert.ElementsMatchf(c, one.found, namesOf(found), "%s", one.query)
			}
		}),
	}
}

func descriptionBehaviours() []Behaviour {
	return []Behaviour{
		behaviour("every kind is born with a description, keeps it, is found by it and exchanges it", func(c *Case) {
			network := c.Network()
			c.WithoutRecording(func() {
				c.Member.Put(Network, "/v2.0/networks/"+network.ID(), Body{"network": Body{"description": "network"}}).RequireStatus(200)
			})
			for _, one := range []struct {
				collection, key string
				attributes      Body
			}{
				{"networks", "network", Body{}},
				{"subnets", "subnet", Body{"network_id": network.ID(), "ip_version": 4, "cidr": "10.1.0.0/24"}},
				{"subnetpools", "subnetpool", Body{"name": "described", "prefixes": []string{"10.8.0.0/16"}}},
				{"routers", "router", Body{}},
				{"ports", "port", Body{"network_id": network.ID()}},
				{"security-groups", "security_group", Body{"name": "described"}},
			} {
				one.attributes["description"] = "for shoot--foo--bar, of /1234"
				created := c.Member.Post(Network, "/v2.0/"+one.collection, Body{one.key: one.attributes}).RequireStatus(201)
				path := "/v2.0/" + one.collection + "/" + created.ID()
				c.DeleteAtCleanup(c.Member, Network, path)
				assert.Equal(c, "for shoot--foo--bar, of /1234", created.Text("description"))
				found := c.Member.Get(Network, c.listPath(one.collection, "description=for+shoot--foo--bar%2C+of+%2F1234&fields=description"))
				assert.Len(c, found.List(strings.ReplaceAll(one.collection, "-", "_")), 1)
				assert.Equal(c, "other", c.Member.Put(Network, path, Body{one.key: Body{"description": "other"}}).RequireStatus(200).Text("description"))
				c.Member.Put(Network, path, Body{one.key: Body{"description": ""}}).RequireStatus(200)
			}
		}),
		behaviour("a description is text, not nothing", func(c *Case) {
			for _, one := range c.taggable() {
				c.Member.Put(Network, one.path(), Body{one.key: Body{"description": nil}}).AssertError(400, "HTTPBadRequest")
				c.Member.Put(Network, one.path(), Body{one.key: Body{"name": nil}}).AssertError(400, "HTTPBadRequest")
			}
		}),
	}
}
