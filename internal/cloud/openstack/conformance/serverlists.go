package conformance

import (
	"net/url"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// names of the servers in a list.
func namesOfServers(response *Response) []string {
	response.c.Helper()
	names := []string{}
	for _, server := range response.List("servers") {
		names = append(names, server.Text("name"))
	}
	return names
}

// threeServers makes machine-a, machine-b and other without networks, the first two of a pool.
func (c *Case) threeServers() map[string]Object {
	c.Helper()
	created := map[string]Object{}
	for _, name := range []string{"machine-a", "machine-b", "other"} {
		body := c.ServerBody(Body{"name": name, "networks": "none", "metadata": Body{"pool": name}, "tags": []string{"pool-one", name}})
		c.WithoutRecording(func() {
			created[name] = c.Member.Post(Compute, serversPath, body, microversionHeader("2.52")...).RequireStatus(202)
		})
		c.DeleteAtCleanup(c.Member, Compute, serverPath(created[name]))
		c.SetPlaceholder(created[name].ID(), name)
	}
	for _, server := range created {
		c.WaitForServer(server, "ACTIVE")
	}
	return created
}

func listsOfServers() []Behaviour {
	return []Behaviour{
		behaviour("servers are found by a regular expression for their name, by their status and by their tags", func(c *Case) {
			c.threeServers()
			list := func(query string, headers ...string) []string {
				c.Helper()
				return namesOfServers(c.Member.Get(Compute, serversPath+"?sort_key=display_name&sort_dir=asc"+query, headers...))
			}
			all, both := []string{"machine-a", "machine-b", "other"}, []string{"machine-a", "machine-b"}
			assert.Equal(c, all, list(""))
			assert.Equal(c, both, list("&name=machine-"), "anywhere in the name")
			assert.Equal(c, []string{"machine-a"}, list("&name="+url.QueryEscape("^machine-a$")))
			assert.Equal(c, both, list("&name="+url.QueryEscape("^machine-[ab]$")))
			assert.Empty(c, list("&name="+url.QueryEscape("^(machine-a|machine-b)$")), "a | is a character and no choice")
			assert.Equal(c, both, list("&name="+url.QueryEscape("^MACHINE-")), "the database sees no capitals")
			assert.Equal(c, all, list("&status=ACTIVE"))
			assert.Equal(c, all, list("&status=active"))
			assert.Empty(c, list("&status=ERROR"))
			assert.Empty(c, list("&status=NONE"))
			assert.Equal(c, all, list("&status=ACTIVE&status=ERROR"))
			assert.Equal(c, []string{"other"}, list("&tags=other,pool-one", microversionHeader("2.26")...))
			assert.Equal(c, both, list("&tags-any=machine-a,machine-b", microversionHeader("2.26")...))
			assert.Equal(c, both, list("&not-tags=other", microversionHeader("2.26")...))
			assert.Empty(c, list("&flavor="+unknownComputeID))
			assert.Equal(c, all, list("&flavor="+c.Flavor(tinyFlavor)))
			assert.Equal(c, all, list("&image="+c.Image(tinyImage)))
			c.Member.Get(Compute, serversPath+"?name="+url.QueryEscape("*")).AssertError(400, "badRequest")
		}),
		behaviour("servers are not found by their metadata or by what members may not ask for", func(c *Case) {
			c.threeServers()
			list := func(query string) []string {
				c.Helper()
				return namesOfServers(c.Member.Get(Compute, serversPath+"?sort_key=display_name&sort_dir=asc"+query))
			}
			metadata := "&metadata=" + url.QueryEscape(`{"pool": "other"}`)
			assert.Len(c, list(metadata), 3, "members' filter is dropped without a word")
			assert.Len(c, list("&colour=green"), 3, "as is one that does not exist")
			c.Member.Get(Compute, serversPath+"?colour=green", microversionHeader("2.75")...).AssertError(400, "badRequest")
			assert.Len(c, list("&host=none"), 3)
			c.Member.Get(Compute, serversPath+"?changes-since=yesterday").AssertError(400, "badRequest")
			assert.Empty(c, list("&changes-since=2999-01-01T00:00:00Z"))
		}),
		behaviour("servers come in pages", func(c *Case) {
			created := c.threeServers()
			sorted := serversPath + "?sort_key=display_name&sort_dir=asc&limit=2"
			page := c.Member.Get(Compute, sorted)
			assert.Equal(c, []string{"machine-a", "machine-b"}, namesOfServers(page))
			links := page.List("servers_links")
			require.Len(c, links, 1)
			assert.Contains(c, links[0].Text("href"), "marker="+created["machine-b"].ID())
			last := c.Member.Get(Compute, sorted+"&marker="+created["machine-b"].ID())
			assert.Equal(c, []string{"other"}, namesOfServers(last))
			assert.NotContains(c, last.Body, "servers_links")
			detailed := c.Member.Get(Compute, serversPath+"/detail?sort_key=display_name&sort_dir=desc&limit=1")
			assert.Equal(c, []string{"other"}, namesOfServers(detailed))
			assert.Len(c, detailed.List("servers_links"), 1)
			assert.Empty(c, c.Member.Get(Compute, serversPath+"?limit=0").List("servers"))
			c.Member.Get(Compute, serversPath+"?marker="+unknownComputeID).AssertError(400, "badRequest").AssertMessage("marker [%s] not found", unknownComputeID)
			c.Member.Get(Compute, serversPath+"?limit=x").AssertError(400, "badRequest")
			c.Member.Get(Compute, serversPath+"?sort_key=colour").AssertError(400, "badRequest")
		}),
		behaviour("the newest server comes first", func(c *Case) {
			for _, name := range []string{"older", "newer"} {
				c.Server(Body{"name": name, "networks": "none"}, microversionHeader("2.37")...)
				c.waitForNextSecond()
			}
			assert.Equal(c, []string{"newer", "older"}, namesOfServers(c.Member.Get(Compute, serversPath)))
			assert.Equal(c, []string{"older", "newer"}, namesOfServers(c.Member.Get(Compute, serversPath+"?sort_key=created_at&sort_dir=asc")))
		}),
	}
}
