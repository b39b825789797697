package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func serverParts() []Behaviour { return slices.Concat(serverMetadata(), serverState()) }

// bareServer is a server without networks.
func (c *Case) bareServer(attributes Body) Object {
	c.Helper()
	body := Body{"networks": "none"}
	maps.Copy(body, attributes)
	return c.Server(body, microversionHeader("2.37")...)
}

// serverMetadata is about what users write on servers.
func serverMetadata() []Behaviour {
	return []Behaviour{
		behaviour("metadata of a server is merged by POST and replaced by PUT, and each item has its address", func(c *Case) {
			metadata := serverPath(c.bareServer(Body{"metadata": Body{"pool": "a", "role": "node"}})) + "/metadata"
			c.Member.Get(Compute, metadata).RequireStatus(200)
			merged := c.Member.Post(Compute, metadata, Body{"metadata": Body{"pool": "b"}}).RequireStatus(200)
			assert.Equal(c, Object{"pool": "b", "role": "node"}, merged)
			replaced := c.Member.Put(Compute, metadata, Body{"metadata": Body{"pool": "c"}}).RequireStatus(200)
			assert.Equal(c, Object{"pool": "c"}, replaced)
			assert.Equal(c, "d", c.Member.Put(Compute, metadata+"/pool", Body{"meta": Body{"pool": "d"}}).RequireStatus(200).Text("pool"))
			c.Member.Get(Compute, metadata+"/pool").RequireStatus(200)
			c.Member.Delete(Compute, metadata+"/pool").RequireStatus(204)
			c.Member.Get(Compute, metadata+"/pool").AssertError(404, "itemNotFound")
			c.Member.Delete(Compute, metadata+"/pool").AssertError(404, "itemNotFound")
			c.Member.Put(Compute, metadata+"/pool", Body{"meta": Body{"role": "d"}}).AssertError(400, "badRequest")
			c.Member.Post(Compute, metadata, Body{"metadata": Body{"pool": strings.Repeat("a", 256)}}).AssertError(400, "badRequest")
			c.Member.Post(Compute, metadata, Body{"metadata": Body{strings.Repeat("a", 256): "pool"}}).AssertError(400, "badRequest")
			c.Member.Post(Compute, metadata, Body{}).AssertError(400, "badRequest")
		}),
		behaviour("a server can be renamed", func(c *Case) {
			path := serverPath(c.bareServer(nil))
			assert.Equal(c, "two", c.Member.Put(Compute, path, Body{"server": Body{"name": "two"}}).RequireStatus(200).Text("name"))
			c.Member.Put(Compute, path, Body{"server": Body{"name": ""}}).AssertError(400, "badRequest")
			c.Member.Put(Compute, path, Body{"server": Body{"flavorRef": "1"}}).AssertError(400, "badRequest")
			c.Member.Put(Compute, path, Body{}).AssertError(400, "badRequest")
			assert.Len(c, c.Member.Get(Compute, serversPath+"?name=two").List("servers"), 1)
		}),
		behaviour("tags of a server are a set since microversion 2.26", func(c *Case) {
			tags := serverPath(c.bareServer(nil)) + "/tags"
			since := microversionHeader("2.26")
			c.Member.Get(Compute, tags, since...).RequireStatus(200)
			replaced := c.Member.Put(Compute, tags, Body{"tags": []string{"b", "a"}}, since...).RequireStatus(200)
			assert.ElementsMatch(c, []string{"a", "b"}, replaced.Texts("tags"))
			require.Equal(c, 201, c.Member.Put(Compute, tags+"/c", nil, since...).Status)
			require.Equal(c, 204, c.Member.Put(Compute, tags+"/c", nil, since...).Status)
			require.Equal(c, 204, c.Member.Get(Compute, tags+"/c", since...).Status)
			c.Member.Delete(Compute, tags+"/c", since...).RequireStatus(204)
			c.Member.Delete(Compute, tags+"/c", since...).AssertError(404, "itemNotFound")
			c.Member.Get(Compute, tags+"/c", since...).AssertError(404, "itemNotFound")
			c.Member.Put(Compute, tags, Body{"tags": []string{"a/b"}}, since...).AssertError(400, "badRequest")
			c.Member.Put(Compute, tags, Body{"tags": []string{strings.Repeat("a", 61)}}, since...).AssertError(400, "badRequest")
			c.Member.Delete(Compute, tags, since...).RequireStatus(204)
			c.Member.Get(Compute, tags, since...).RequireStatus(200)
		}),
	}
}

func serverState() []Behaviour {
	return []Behaviour{
		behaviour("a server stops and starts, and says in which state it cannot", func(c *Case) {
			server := c.bareServer(nil)
			act := func(action string) *Response {
				return c.Member.Post(Compute, serverPath(server)+"/action", Body{action: nil})
			}
			act("os-start").AssertError(409, "conflictingRequest").AssertMessage("Cannot 'start' instance %s while it is in vm_state active", server.ID())
			act("os-stop").RequireStatus(202)
			c.WaitForServer(server, "SHUTOFF")
			c.Member.Get(Compute, serverPath(server)).RequireStatus(200)
			act("os-stop").AssertError(409, "conflictingRequest")
			act("os-start").RequireStatus(202)
			c.WaitForServer(server, "ACTIVE")
			c.Member.Post(Compute, serverPath(server)+"/action", Body{"reboot": Body{"type": "HARD"}}).RequireStatus(202)
			c.WaitForServer(server, "ACTIVE")
			c.Member.Post(Compute, serverPath(server)+"/action", Body{"reboot": Body{}}).AssertError(400, "badRequest")
			act("dance").AssertError(400, "badRequest")
			c.Member.Post(Compute, serverPath(server)+"/action", Body{}).AssertError(400, "badRequest")
			c.Member.Post(Compute, serversPath+"/"+unknownComputeID+"/action", Body{"os-stop": nil}).AssertError(404, "itemNotFound")
			act("forceDelete").RequireStatus(202)
			c.WaitUntilGone(Compute, serverPath(server))
		}),
		behaviour("interfaces are attached to a running server and detached from it", func(c *Case) {
			network, _ := c.NetworkForServers()
			server, port := c.bareServer(nil), c.Port(network)
			interfaces := serverPath(server) + "/os-interface"
			assert.Empty(c, c.Member.Get(Compute, interfaces).List("interfaceAttachments"))
			attached := c.Member.Post(Compute, interfaces, Body{"interfaceAttachment": Body{"port_id": port.ID()}}).RequireStatus(200)
			assert.Equal(c, port.ID(), attached.Text("port_id"))
			assert.Len(c, c.Member.Get(Compute, interfaces).List("interfaceAttachments"), 1)
			c.Member.Get(Compute, interfaces+"/"+port.ID()).RequireStatus(200)
			c.Member.Post(Compute, interfaces, Body{"interfaceAttachment": Body{"port_id": port.ID()}}).AssertError(409, "conflictingRequest")
			c.Member.Post(Compute, interfaces, Body{"interfaceAttachment": Body{"port_id": unknownComputeID}}).AssertError(404, "itemNotFound")
			c.Member.Post(Compute, interfaces, Body{"interfaceAttachment": Body{"port_id": port.ID(), "net_id": network.ID()}}).AssertError(400, "badRequest")
			c.Member.Delete(Compute, interfaces+"/"+port.ID()).RequireStatus(202)
			c.WaitUntil("the port is free", func() bool { return len(c.Member.Get(Compute, interfaces).List("interfaceAttachments")) == 0 })
			c.Member.Delete(Compute, interfaces+"/"+port.ID()).RequireStatus(202) // Nova looks later whether there is one
			c.Member.Get(Compute, interfaces+"/"+port.ID()).AssertError(404, "itemNotFound")
			assert.Empty(c, c.Member.Get(Network, "/v2.0/ports/"+port.ID()+"?fields=device_id&fields=device_owner").RequireStatus(200).Text("device_id"))
		}),
		behaviour("security groups of a new server are given by name or ID and go to the ports that Nova makes", func(c *Case) {
			network, _ := c.NetworkForServers()
			group := c.SecurityGroup()
			for _, by := range []string{"given", group.ID()} {
				server := c.Server(Body{"networks": []Body{{"uuid": network.ID()}}, "security_groups": []Body{{"name": by}}})
				got := c.Member.Get(Compute, serverPath(server)).RequireStatus(200)
				require.Len(c, got.Objects("security_groups"), 1)
				assert.Equal(c, "given", got.Objects("security_groups")[0].Text("name"))
				ports := c.Member.Get(Network, fmt.Sprintf("/v2.0/ports?device_id=%s&fields=security_groups", server.ID())).List("ports")
				require.Len(c, ports, 1)
				assert.Equal(c, []string{group.ID()}, ports[0].Texts("security_groups"))
				c.WithoutRecording(func() { c.Member.Delete(Compute, serverPath(server)).RequireStatus(204) })
				c.WaitUntilGone(Compute, serverPath(server))
			}
		}),
	}
}
