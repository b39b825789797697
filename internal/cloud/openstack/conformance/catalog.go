package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func catalog() []Behaviour {
	return slices.Concat(catalogItself(), mistakesInRequests(), mistakesInBodies())
}

func services() []Service {
	return []Service{Identity, Network, Compute, Image, Volume, LoadBalancer}
}

func catalogItself() []Behaviour {
	return []Behaviour{
		behaviour("the catalog lists every service with a public and an internal endpoint in the region", func(c *Case) {
			region := c.cloud.Region
			entries := c.catalogEntries()
			for _, service := range services() {
				entry := entries[service]
				require.NotNilf(c, entry, "the catalog lists no %s", service)
				assert.NotEmpty(c, entry.Text("name"))
				assert.NotEmpty(c, entry.ID())
				faces := []string{}
				for _, endpoint := range entry.Objects("endpoints") {
					faces = append(faces, endpoint.Text("interface"))
					assert.Equal(c, region, endpoint.Text("region"))
					assert.Equal(c, region, endpoint.Text("region_id"))
					assert.NotEmpty(c, endpoint.ID())
					parsed, err := url.Parse(endpoint.Text("url"))
					require.NoError(c, err)
					assert.NotEmpty(c, parsed.Host)
				}
				assert.Subsetf(c, faces, []string{"public", "internal"}, "%s", service)
			}
		}),
		behaviour("a login tells the same catalog as the catalog's own address", func(c *Case) {
			var told []Object
			c.Quietly(func() {
				token := c.Nobody().Post(Identity, "/v3/auth/tokens", PasswordLogin(c.Login)).Succeeds(http.StatusCreated)
				told = token.Objects("catalog")
			})
			entries := c.catalogEntries()
			assert.Len(c, told, len(entries))
			for _, entry := range told {
				assert.ElementsMatch(c, publicURLs(entry), publicURLs(entries[Service(entry.Text("type"))]), entry.Text("type"))
			}
		}),
		behaviour("an endpoint leads to the API with a version put behind it, unless it bears one", func(c *Case) {
			entries := c.catalogEntries()
			for _, api := range []struct {
				service       Service
				version, list string
			}{
				{Network, "v2.0", "/networks?name=none"},
				{Compute, "v2.1", "/servers"},
				{Image, "v2", "/images?name=none"},
				{Volume, "v3", "/volumes"},
				{LoadBalancer, "v2.0", "/lbaas/loadbalancers"},
			} {
				for _, endpoint := range publicURLs(entries[api.service]) {
					endpoint = strings.TrimRight(endpoint, "/")
					if unversioned(endpoint) == endpoint {
						endpoint += "/" + api.version
					}
					caller := *c.Member
					caller.endpoints = map[Service]string{api.service: endpoint}
					caller.Get(api.service, api.list).Succeeds(http.StatusOK)
				}
			}
		}),
		behaviour("Octavia is there under two versions", func(c *Case) {
			c.Member.Get(LoadBalancer, "/v2/lbaas/loadbalancers").List("loadbalancers")
			c.Member.Get(LoadBalancer, "/v2.0/lbaas/loadbalancers").List("loadbalancers")
		}),
		behaviour("every service tells its versions to everybody", func(c *Case) {
			for service, status := range map[Service]int{Identity: 300, Network: 200, Compute: 200, Image: 300, Volume: 300, LoadBalancer: 200} {
				c.Quietly(func() { assert.Equal(c, status, c.Nobody().Get(service, "/").Status, service) })
			}
			for _, service := range services() {
				answer := c.Nobody().Get(service, "/")
				versions := Object(answer.Body).Objects("versions")
				if service == Identity {
					versions = Object(answer.Body).Objects("versions.values")
				}
				require.NotEmptyf(c, versions, "%s: %s", answer.request, answer.Raw)
				for _, version := range versions {
					assert.Regexp(c, `^v\d+\.\d+$`, version.ID())
					require.NotEmpty(c, version.Objects("links"))
				}
			}
			c.Nobody().Get(Identity, "/v3").Succeeds(http.StatusOK)
			c.Nobody().Get(Compute, "/v2.1").Succeeds(http.StatusOK)
			assert.Equal(c, http.StatusUnauthorized, c.Nobody().Get(Network, "/v2.0").Status)
			assert.Equal(c, http.StatusNotFound, c.Member.Get(Network, "/v2.0").Status)
			assert.Len(c, c.Member.Get(Network, "/v2.0/").List("resources"), 4)
		}),
	}
}

// catalogEntries reads the catalog, quietly: which services there are, and where, is the cloud's own.
func (c *Case) catalogEntries() map[Service]Object {
	c.Helper()
	entries := map[Service]Object{}
	c.Quietly(func() {
		for _, entry := range c.Member.Get(Identity, "/v3/auth/catalog").List("catalog") {
			assert.NotContainsf(c, entries, Service(entry.Text("type")), "the catalog lists %s twice", entry.Text("type"))
			entries[Service(entry.Text("type"))] = entry
		}
	})
	return entries
}

func publicURLs(entry Object) []string {
	var urls []string
	for _, endpoint := range entry.Objects("endpoints") {
		if endpoint.Text("interface") == "public" {
			urls = append(urls, endpoint.Text("url"))
		}
	}
	return urls
}

// mistakesInRequests are such as a program makes, not its user.
func mistakesInRequests() []Behaviour {
	return []Behaviour{
		behaviour("a path that there is not is not found, in words of each service's own", func(c *Case) {
			for service, path := range c.nowhere() {
				c.Quietly(func() { assert.Equal(c, http.StatusNotFound, c.Member.Get(service, path).Status, service) })
			}
			for _, service := range services() {
				c.Member.Get(service, c.nowhere()[service])
				c.Nobody().Get(service, c.nowhere()[service])
			}
			c.Member.Get(Network, "/nothing").Refused(http.StatusNotFound, "")
			c.Member.Get(Network, "/v2.0/networks/one/two").Refused(http.StatusNotFound, "HTTPNotFound")
			c.Member.Get(Compute, "/v2.1/servers/one/two").Refused(http.StatusNotFound, "")
		}),
		behaviour("a method that there is not is refused, or not found", func(c *Case) {
			for service, at := range map[Service]struct {
				path   string
				status int
			}{
				Identity:     {"/v3/auth/tokens", 405},
				Network:      {"/v2.0/networks", 405},
				Compute:      {"/v2.1/os-keypairs", 404},
				Image:        {"/v2/images", 405},
				Volume:       {c.volumes(), 404},
				LoadBalancer: {"/v2/lbaas/loadbalancers", 405},
			} {
				c.Quietly(func() { assert.Equal(c, at.status, c.Member.Patch(service, at.path, Body{}).Status, service) })
			}
			c.Member.Patch(Identity, "/v3/auth/tokens", Body{})
			c.Member.Patch(Network, "/v2.0/networks", Body{}).Refused(http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
			c.Member.Patch(Network, "/v2.0/security-group-rules", Body{}).Refused(http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
			c.Member.Post(Network, "/v2.0/networks/"+nowhereAtAll, Body{}).Refused(http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
			c.Member.Patch(Compute, "/v2.1/os-keypairs", Body{})
			c.Member.Patch(Image, "/v2/images", Body{})
			c.Member.Patch(Volume, c.volumes(), Body{})
			c.Member.Patch(LoadBalancer, "/v2/lbaas/loadbalancers", Body{})
		}),
		behaviour("what is no JSON is refused in words of each service's own", func(c *Case) {
			const broken = `{"network": `
			for _, collection := range []string{
				"networks", "subnets", "subnetpools", "ports", "routers", "floatingips", "security-groups", "security-group-rules",
			} {
				answer := c.Member.Post(Network, "/v2.0/"+collection, broken)
				assert.Equalf(c, http.StatusBadRequest, answer.Status, "%s: %s", answer.request, answer.Raw)
			}
			for _, answer := range []*Answer{
				c.Member.Put(Network, "/v2.0/networks/"+nowhereAtAll, broken),
				c.Member.Put(Network, "/v2.0/routers/"+nowhereAtAll+"/add_router_interface", broken),
				c.Nobody().Post(Identity, "/v3/auth/tokens", broken),
				c.Member.Post(Compute, "/v2.1/os-keypairs", broken),
				c.Member.Post(Compute, "/v2.1/servers", broken),
				c.Member.Post(Compute, "/v2.1/os-server-groups", broken),
				c.Member.Post(Volume, c.volumes(), broken),
				c.Member.Post(LoadBalancer, "/v2/lbaas/loadbalancers", broken),
				c.Member.Post(LoadBalancer, "/v2/lbaas/listeners", broken),
			} {
				assert.Equalf(c, http.StatusBadRequest, answer.Status, "%s: %s", answer.request, answer.Raw)
			}
		}),
	}
}

func mistakesInBodies() []Behaviour {
	return []Behaviour{
		behaviour("a body without the resource is refused by Neutron, with what it looked for", func(c *Case) {
			for _, wrong := range []struct {
				body any
				says string
			}{
				{Body{}, "Unable to find 'network' in request body"},
				{Body{"subnet": Body{}}, "Unable to find 'network' in request body"},
				{`[]`, "Body contains invalid data"},
				{Body{"network": "one"}, "Object 'network' contains invalid data"},
				{Body{"networks": []string{"one"}}, "Object 'network' contains invalid data"},
				{Body{"networks": []Body{}}, "Resources required"},
				{Body{"networks": Body{}}, "Resources required"},
			} {
				c.Attempt(Network, "/v2.0/networks", wrong.body).Refused(http.StatusBadRequest, "HTTPBadRequest").Saying("%s", wrong.says)
			}
			c.Attempt(Network, "/v2.0/routers", Body{"routers": []Body{{"name": "one"}, {"name": "two"}}}).
				Refused(http.StatusBadRequest, "HTTPBadRequest").Saying("Bulk operation not supported")
			for _, wrong := range []any{Body{}, `[]`, Body{"network": Body{}}} {
				c.Attempt(Network, "/v2.0/security-group-rules", wrong).Refused(http.StatusBadRequest, "HTTPBadRequest")
			}
		}),
		behaviour("Neutron names the attributes that it does not know, and those that nobody may set", func(c *Case) {
			for _, wrong := range []struct {
				attributes Body
				says       string
			}{
				{Body{"colour": "red"}, "Unrecognized attribute(s) 'colour'"},
				{Body{"id": "one"}, "Attribute 'id' not allowed in POST"},
				{Body{"status": "DOWN"}, "Attribute 'status' not allowed in POST"},
				{Body{"revision_number": 7}, "Attribute 'revision_number' not allowed in POST"},
			} {
				c.Attempt(Network, "/v2.0/networks", Body{"network": wrong.attributes}).Refused(http.StatusBadRequest, "HTTPBadRequest").Saying("%s", wrong.says)
			}
			c.Quietly(func() { // in the order of a Python set, which is none
				c.Attempt(Network, "/v2.0/networks", Body{"network": Body{"colour": "red", "age": 1, "name": "x"}}).Saying("colour").Saying("age")
			})
			path := "/v2.0/networks/" + c.Network().ID()
			c.Member.Put(Network, path, Body{"network": Body{"colour": "red"}}).Refused(http.StatusBadRequest, "HTTPBadRequest")
			c.Member.Put(Network, path, Body{"network": Body{"status": "DOWN"}}).Refused(http.StatusBadRequest, "HTTPBadRequest")
			c.Member.Put(Network, path, Body{"subnet": Body{"name": "two"}}).Refused(http.StatusBadRequest, "HTTPBadRequest")
		}),
		behaviour("Nova and Octavia name the attributes that they do not know, and Cinder passes over them", func(c *Case) {
			c.Attempt(Compute, "/v2.1/os-keypairs", Body{"keypair": Body{"name": "one", "colour": "red"}}).
				Refused(http.StatusBadRequest, "badRequest").Saying("Additional properties are not allowed ('colour' was unexpected)")
			c.Attempt(LoadBalancer, "/v2/lbaas/loadbalancers", Body{"loadbalancer": Body{"colour": "red"}}).
				Refused(http.StatusBadRequest, "Client").Saying("Unknown attribute for argument load_balancer.loadbalancer: colour")
			c.Given(Volume, c.volumes(), Body{"volume": Body{"size": 1, "colour": "red"}})
		}),
	}
}

// nowhere is a path of each service that leads to nothing.
func (c *Case) nowhere() map[Service]string {
	return map[Service]string{
		Identity: "/v3/nothing", Network: "/v2.0/nothing", Compute: "/v2.1/nothing", Image: "/v2/nothing",
		Volume: "/v3/" + c.Member.ProjectID + "/nothing", LoadBalancer: "/v2/lbaas/nothing",
	}
}
