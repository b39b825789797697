package conformance

import (
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const groupsPath = "/v2.1/os-server-groups"

// Nova's server groups have one policy instead of a list since this microversion.
const onePolicy = "2.64"

func groupPath(group Object) string { return groupsPath + "/" + group.ID() }

// makeGroup makes a server group and removes it at the end. It is written down.
func (c *Case) makeGroup(attributes Body, headers ...string) Object {
	c.Helper()
	created := c.Member.Post(Compute, groupsPath, Body{"server_group": attributes}, headers...).RequireStatus(200)
	c.DeleteAtCleanup(c.Member, Compute, groupPath(created))
	return created
}

func serverGroups() []Behaviour {
	return slices.Concat(groupsAndMicroversions(), groupsInTheProject(), microversions())
}

func groupsAndMicroversions() []Behaviour {
	return []Behaviour{
		behaviour("a server group has a list of policies before microversion 2.64, and one policy with rules since", func(c *Case) {
			created := c.makeGroup(Body{"name": "pool", "policies": []string{"anti-affinity"}})
			assert.Equal(c, []string{"anti-affinity"}, created.Texts("policies"))
			assert.Empty(c, created.Texts("members"))
			got := c.Member.Get(Compute, groupPath(created), microversionHeader(onePolicy)...).RequireStatus(200)
			assert.Equal(c, "anti-affinity", got.Text("policy"))
			newer := c.makeGroup(Body{"name": "pool", "policy": "soft-affinity"}, microversionHeader(onePolicy)...)
			assert.Equal(c, []string{"soft-affinity"}, c.Member.Get(Compute, groupPath(newer)).RequireStatus(200).Texts("policies"))
		}),
		behaviour("a server group tells its project and its user since microversion 2.13", func(c *Case) {
			created := c.makeGroup(Body{"name": "pool", "policies": []string{"affinity"}}, microversionHeader("2.13")...)
			assert.Equal(c, c.Member.ProjectID, created.Text("project_id"))
			assert.Equal(c, c.Member.UserID, created.Text("user_id"))
			assert.NotContains(c, c.Member.Get(Compute, groupPath(created), microversionHeader("2.12")...).RequireStatus(200), "project_id")
		}),
		behaviour("soft policies exist since microversion 2.15", func(c *Case) {
			for _, policy := range []string{"soft-anti-affinity", "soft-affinity"} {
				body := Body{"server_group": Body{"name": "pool", "policies": []string{policy}}}
				c.Member.Post(Compute, groupsPath, body, microversionHeader("2.14")...).AssertError(400, "badRequest")
				c.makeGroup(Body{"name": "pool", "policies": []string{policy}}, microversionHeader("2.15")...)
			}
		}),
		behaviour("an unknown policy of a server group is refused, as are two, none, and the word of another microversion", func(c *Case) {
			for _, attributes := range []Body{
				{"name": "pool", "policies": []string{"spread"}},
				{"name": "pool", "policies": []string{"affinity", "anti-affinity"}},
				{"name": "pool", "policies": []string{}},
				{"name": "pool", "policies": "affinity"},
				{"name": "pool"},
				{"name": "pool", "policy": "affinity"},
				{"policies": []string{"affinity"}},
				{"name": "", "policies": []string{"affinity"}},
			} {
				c.Member.Post(Compute, groupsPath, Body{"server_group": attributes}, microversionHeader("2.15")...).AssertError(400, "badRequest")
			}
			for _, attributes := range []Body{
				{"name": "pool", "policy": "spread"},
				{"name": "pool", "policies": []string{"affinity"}},
				{"name": "pool", "policy": "affinity", "policies": []string{"affinity"}},
				{"name": "pool"},
			} {
				c.Member.Post(Compute, groupsPath, Body{"server_group": attributes}, microversionHeader(onePolicy)...).AssertError(400, "badRequest")
			}
			c.Member.Post(Compute, groupsPath, Body{}, microversionHeader(onePolicy)...).AssertError(400, "badRequest")
		}),
		behaviour("anti-affinity alone has a rule: how many servers one host may have", func(c *Case) {
			rule := func(most any) Body { return Body{"max_server_per_host": most} }
			created := c.makeGroup(Body{"name": "pool", "policy": "anti-affinity", "rules": rule(2)}, microversionHeader(onePolicy)...)
			assert.Equal(c, "2", created.Text("rules.max_server_per_host"))
			c.Member.Get(Compute, groupPath(created)).RequireStatus(200)
			post := func(policy string, rules Body) *Response {
				body := Body{"server_group": Body{"name": "pool", "policy": policy, "rules": rules}}
				return c.Member.Post(Compute, groupsPath, body, microversionHeader(onePolicy)...)
			}
			post("soft-anti-affinity", rule(2)).AssertError(400, "badRequest").AssertMessage("Only anti-affinity policy supports rules.")
			post("anti-affinity", rule(0)).AssertError(400, "badRequest")
			post("anti-affinity", rule("many")).AssertError(400, "badRequest")
			post("anti-affinity", Body{"most": 1}).AssertError(400, "badRequest")
		}),
	}
}

func groupsInTheProject() []Behaviour {
	return []Behaviour{
		behaviour("two server groups may have one name", func(c *Case) {
			one := c.makeGroup(Body{"name": "pool", "policies": []string{"affinity"}})
			two := c.makeGroup(Body{"name": "pool", "policies": []string{"affinity"}})
			assert.NotEqual(c, one.ID(), two.ID())
			assert.Len(c, c.Member.Get(Compute, groupsPath).List("server_groups"), 2)
		}),
		behaviour("server groups are listed by number, and not by name", func(c *Case) {
			for _, name := range []string{"a", "b", "c"} {
				c.WithoutRecording(func() { c.makeGroup(Body{"name": name, "policies": []string{"affinity"}}) })
			}
			assert.Len(c, c.Member.Get(Compute, groupsPath+"?name=a").List("server_groups"), 3)
			assert.Len(c, c.Member.Get(Compute, groupsPath, microversionHeader(onePolicy)...).List("server_groups"), 3)
			names := func(query string) []string {
				names := []string{}
				for _, group := range c.Member.Get(Compute, groupsPath+query).List("server_groups") {
					names = append(names, group.Text("name"))
				}
				return names
			}
			assert.Equal(c, []string{"a", "b"}, names("?limit=2"))
			assert.Equal(c, []string{"b", "c"}, names("?offset=1&limit=2"))
			assert.Empty(c, names("?offset=3"))
			c.Member.Get(Compute, groupsPath+"?name=a", microversionHeader("2.75")...).AssertError(400, "badRequest")
			c.Member.Get(Compute, groupsPath+"?limit=x").AssertError(400, "badRequest")
		}),
		behaviour("a server group that is not there is NOT FOUND, also when it is deleted twice", func(c *Case) {
			none := Object{"id": "11111111-2222-4333-8444-555555555555"}
			c.Member.Get(Compute, groupPath(none)).AssertError(404, "itemNotFound").AssertMessage("Instance group %s could not be found.", none.ID())
			c.Member.Delete(Compute, groupPath(none)).AssertError(404, "itemNotFound")
			created := c.makeGroup(Body{"name": "pool", "policies": []string{"affinity"}})
			c.Member.Delete(Compute, groupPath(created)).RequireStatus(204)
			c.Member.Delete(Compute, groupPath(created)).AssertError(404, "itemNotFound")
		}),
		behaviour("a server group of another project is seen by nobody but operators", func(c *Case) {
			created := c.makeGroup(Body{"name": "pool", "policies": []string{"affinity"}})
			c.OtherMember.Get(Compute, groupPath(created)).AssertError(404, "itemNotFound")
			c.OtherMember.Delete(Compute, groupPath(created)).AssertError(404, "itemNotFound")
			assert.Empty(c, c.OtherMember.Get(Compute, groupsPath+"?all_projects=true").List("server_groups"))
			c.Operator.Get(Compute, groupPath(created)).RequireStatus(200)
		}),
		behaviour("a server group lists its servers, and can be deleted while it has some", func(c *Case) {
			network, _ := c.NetworkForServers()
			group := c.makeGroup(Body{"name": "pool", "policies": []string{"soft-anti-affinity"}}, microversionHeader("2.15")...)
			server := c.serverInGroup(group, Body{"networks": []Body{{"uuid": network.ID()}}})
			got := c.Member.Get(Compute, groupPath(group)).RequireStatus(200)
			assert.Equal(c, []string{server.ID()}, got.Texts("members"))
			assert.Equal(c, []string{group.ID()}, c.Member.Get(Compute, serverPath(server), microversionHeader("2.71")...).RequireStatus(200).Texts("server_groups"))
			c.Member.Delete(Compute, groupPath(group)).RequireStatus(204)
			assert.Empty(c, c.Member.Get(Compute, serverPath(server), microversionHeader("2.71")...).RequireStatus(200).Texts("server_groups"))
		}),
		behaviour("a deleted server is no member of its group any more", func(c *Case) {
			network, _ := c.NetworkForServers()
			group := c.makeGroup(Body{"name": "pool", "policies": []string{"affinity"}})
			server := c.serverInGroup(group, Body{"networks": []Body{{"uuid": network.ID()}}})
			c.Member.Delete(Compute, serverPath(server)).RequireStatus(204)
			c.WaitUntilGone(Compute, serverPath(server))
			assert.Empty(c, c.Member.Get(Compute, groupPath(group)).RequireStatus(200).Texts("members"))
		}),
	}
}

// serverInGroup makes a server with the hint that puts it into a group, and waits until it is ACTIVE.
func (c *Case) serverInGroup(group Object, attributes Body) Object {
	c.Helper()
	body := c.ServerBody(attributes)
	body["os:scheduler_hints"] = Body{"group": group.ID()}
	var created Object
	c.WithoutRecording(func() { created = c.Member.Post(Compute, serversPath, body).RequireStatus(202) })
	c.DeleteAtCleanup(c.Member, Compute, serverPath(created))
	return c.WaitForServer(created, "ACTIVE")
}

func microversions() []Behaviour {
	return []Behaviour{
		behaviour("Nova tells its microversions to everybody, and takes the oldest where none is asked for", func(c *Case) {
			nobody := c.withoutToken()
			versions := nobody.Get(Compute, "/v2.1/").RequireStatus(200)
			assert.Equal(c, "2.1", versions.Text("min_version"))
			assert.Equal(c, "2.93", versions.Text("version"), "Zed")
			nobody.Get(Compute, "/").RequireStatus(200)
			for asked, answered := range map[string]string{"": "2.1", "compute 2.64": "2.64", "compute latest": "2.93", "volume 3.50": "2.1"} {
				var response *Response
				c.WithoutRecording(func() { response = c.Member.Get(Compute, groupsPath, "OpenStack-API-Version", asked) })
				assert.Equal(c, "compute "+answered, response.Header.Get("OpenStack-API-Version"), asked)
				assert.Equal(c, answered, response.Header.Get("X-OpenStack-Nova-API-Version"), asked)
			}
		}),
		behaviour("the older header asks for a microversion, too", func(c *Case) {
			created := c.makeGroup(Body{"name": "pool", "policy": "affinity"}, "X-OpenStack-Nova-API-Version", onePolicy)
			assert.Equal(c, "affinity", created.Text("policy"))
		}),
		behaviour("a microversion that Nova does not have is NOT ACCEPTABLE, and one that is none a BAD REQUEST", func(c *Case) {
			refusal := c.Member.Get(Compute, groupsPath, microversionHeader("2.999")...).AssertError(406, "computeFault")
			refusal.AssertMessage("Version 2.999 is not supported by the API. Minimum is 2.1 and maximum is 2.93.")
			c.Member.Get(Compute, groupsPath, microversionHeader("2.0")...).AssertError(406, "computeFault")
			c.Member.Get(Compute, groupsPath, microversionHeader("3.1")...).AssertError(406, "computeFault")
			for _, malformed := range []string{"2", "two", "2.01", "2.1.1", "v2.1"} {
				c.Member.Get(Compute, groupsPath, microversionHeader(malformed)...).AssertError(400, "badRequest")
			}
		}),
		behaviour("what exists in newer microversions only is NOT FOUND in older ones", func(c *Case) {
			require.Equal(c, 404, c.Member.Get(Compute, "/v2.1/servers/11111111-2222-4333-8444-555555555555/tags", microversionHeader("2.25")...).Status)
			c.Member.Get(Compute, "/v2.1/nothing").AssertMessage("The resource could not be found.")
		}),
	}
}
