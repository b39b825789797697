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
	return slices.Concat(catalogContent(), malformedRequests(), malformedBodies())
}

func services() []Service {
	return []Service{Identity, Network, Compute, Image, Volume, LoadBalancer}
}

func catalogContent() []Behaviour {
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
			var listed []Object
			c.WithoutRecording(func() {
				token := c.Anonymous().Post(Identity, "/v3/auth/tokens", PasswordLogin(c.Login)).RequireStatus(http.StatusCreated)
				listed = token.Objects("catalog")
			})
			entries := c.catalogEntries()
			assert.Len(c, listed, len(entries))
			for _, entry := range listed {
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
					caller.Get(api.service, api.list).RequireStatus(http.StatusOK)
				}
			}
		}),
		behaviour("Octavia is there under two versions", func(c *Case) {
			c.Member.Get(LoadBalancer, "/v2/lbaas/loadbalancers").List("loadbalancers")
			c.Member.Get(LoadBalancer, "/v2.0/lbaas/loadbalancers").List("loadbalancers")
		}),
		behaviour("every service tells its versions to everybody", func(c *Case) {
			for service, status := range map[Service]int{Identity: 300, Network: 200, Compute: 200, Image: 300, Volume: 300, LoadBalancer: 200} {
				c.WithoutRecording(func() { assert.Equal(c, status, c.Anonymous().Get(service, "/").Status, service) })
			}
			for _, service := range services() {
				response := c.Anonymous().Get(service, "/")
				versions := Object(response.Body).Objects("versions")
				if service == Identity {
					versions = Object(response.Body).Objects("versions.values")
				}
				require.NotEmptyf(c, versions, "%s: %s", response.request, response.Raw)
				for _, version := range versions {
					assert.Regexp(c, `^v\d+\.\d+$`, version.ID())
					require.NotEmpty(c, version.Objects("links"))
				}
			}
			c.Anonymous().Get(Identity, "/v3").RequireStatus(http.StatusOK)
			c.Anonymous().Get(Compute, "/v2.1").RequireStatus(http.StatusOK)
			assert.Equal(c, http.StatusUnauthorized, c.Anonymous().Get(Network, "/v2.0").Status)
			assert.Equal(c, http.StatusNotFound, c.Member.Get(Network, "/v2.0").Status)
			assert.Len(c, c.Member.Get(Network, "/v2.0/").List("resources"), 4)
		}),
	}
}

// catalogEntries reads the catalog, quietly: which services there are, and where, is the cloud's own.
func (c *Case) catalogEntries() map[Service]Object {
	c.Helper()
	entries := map[Service]Object{}
	c.WithoutRecording(func() {
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

// malformedRequests are such as a program makes, not its user.
func malformedRequests() []Behaviour {
	return []Behaviour{
		behaviour("a path that there is not is not found, in words of each service's own", func(c *Case) {
			for service, path := range c.missingPaths() {
				c.WithoutRecording(func() { assert.Equal(c, http.StatusNotFound, c.Member.Get(service, path).Status, service) })
			}
			for _, service := range services() {
				c.Member.Get(service, c.missingPaths()[service])
				c.Anonymous().Get(service, c.missingPaths()[service])
			}
			c.Member.Get(Network, "/nothing").AssertError(http.StatusNotFound, "")
			c.Member.Get(Network, "/v2.0/networks/one/two").AssertError(http.StatusNotFound, "HTTPNotFound")
			c.Member.Get(Compute, "/v2.1/servers/one/two").AssertError(http.StatusNotFound, "")
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
				c.WithoutRecording(func() { assert.Equal(c, at.status, c.Member.Patch(service, at.path, Body{}).Status, service) })
			}
			c.Member.Patch(Identity, "/v3/auth/tokens", Body{})
			c.Member.Patch(Network, "/v2.0/networks", Body{}).AssertError(http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
			c.Member.Patch(Network, "/v2.0/security-group-rules", Body{}).AssertError(http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
			c.Member.Post(Network, "/v2.0/networks/"+zeroID, Body{}).AssertError(http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
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
				response := c.Member.Post(Network, "/v2.0/"+collection, broken)
				assert.Equalf(c, http.StatusBadRequest, response.Status, "%s: %s", response.request, response.Raw)
			}
			for _, response := range []*Response{
				c.Member.Put(Network, "/v2.0/networks/"+zeroID, broken),
				c.Member.Put(Network, "/v2.0/routers/"+zeroID+"/add_router_interface", broken),
				c.Anonymous().Post(Identity, "/v3/auth/tokens", broken),
				c.Member.Post(Compute, "/v2.1/os-keypairs", broken),
				c.Member.Post(Compute, "/v2.1/servers", broken),
				c.Member.Post(Compute, "/v2.1/os-server-groups", broken),
				c.Member.Post(Volume, c.volumes(), broken),
				c.Member.Post(LoadBalancer, "/v2/lbaas/loadbalancers", broken),
				c.Member.Post(LoadBalancer, "/v2/lbaas/listeners", broken),
			} {
				assert.Equalf(c, http.StatusBadRequest, response.Status, "%s: %s", response.request, response.Raw)
			}
		}),
	}
}

func malformedBodies() []Behaviour {
	return []Behaviour{
		behaviour("a body without the resource is refused by Neutron, with what it looked for", func(c *Case) {
			for _, wrong := range []struct {
				body     any
				wantText string
			}{
				{Body{}, "Unable to find 'network' in request body"},
				{Body{"subnet": Body{}}, "Unable to find 'network' in request body"},
				{`[]`, "Body contains invalid data"},
				{Body{"network": "one"}, "Object 'network' contains invalid data"},
				{Body{"networks": []string{"one"}}, "Object 'network' contains invalid data"},
				{Body{"networks": []Body{}}, "Resources required"},
				{Body{"networks": Body{}}, "Resources required"},
			} {
				c.TryCreate(Network, "/v2.0/networks", wrong.body).AssertError(http.StatusBadRequest, "HTTPBadRequest").AssertMessage("%s", wrong.wantText)
			}
			c.TryCreate(Network, "/v2.0/routers", Body{"routers": []Body{{"name": "one"}, {"name": "two"}}}).
				AssertError(http.StatusBadRequest, "HTTPBadRequest").AssertMessage("Bulk operation not supported")
			for _, wrong := range []any{Body{}, `[]`, Body{"network": Body{}}} {
				c.TryCreate(Network, "/v2.0/security-group-rules", wrong).AssertError(http.StatusBadRequest, "HTTPBadRequest")
			}
		}),
		behaviour("Neutron names the attributes that it does not know, and those that nobody may set", func(c *Case) {
			for _, wrong := range []struct {
				attributes Body
				wantText   string
			}{
				{Body{"colour": "red"}, "Unrecognized attribute(s) 'colour'"},
				{Body{"id": "one"}, "Attribute 'id' not allowed in POST"},
				{Body{"status": "DOWN"}, "Attribute 'status' not allowed in POST"},
				{Body{"revision_number": 7}, "Attribute 'revision_number' not allowed in POST"},
			} {
				c.TryCreate(Network, "/v2.0/networks", Body{"network": wrong.attributes}).AssertError(http.StatusBadRequest, "HTTPBadRequest").AssertMessage("%s", wrong.wantText)
			}
			c.WithoutRecording(func() { // in the order of a Python set, which is none
				c.TryCreate(Network, "/v2.0/networks", Body{"network": Body{"colour": "red", "age": 1, "name": "x"}}).AssertMessage("colour").AssertMessage("age")
			})
			path := "/v2.0/networks/" + c.Network().ID()
			c.Member.Put(Network, path, Body{"network": Body{"colour": "red"}}).AssertError(http.StatusBadRequest, "HTTPBadRequest")
			c.Member.Put(Network, path, Body{"network": Body{"status": "DOWN"}}).AssertError(http.StatusBadRequest, "HTTPBadRequest")
			c.Member.Put(Network, path, Body{"subnet": Body{"name": "two"}}).AssertError(http.StatusBadRequest, "HTTPBadRequest")
		}),
		behaviour("Nova and Octavia name the attributes that they do not know, and Cinder passes over them", func(c *Case) {
			c.TryCreate(Compute, "/v2.1/os-keypairs", Body{"keypair": Body{"name": "one", "colour": "red"}}).
				AssertError(http.StatusBadRequest, "badRequest").AssertMessage("Additional properties are not allowed ('colour' was unexpected)")
			c.TryCreate(LoadBalancer, "/v2/lbaas/loadbalancers", Body{"loadbalancer": Body{"colour": "red"}}).
				AssertError(http.StatusBadRequest, "Client").AssertMessage("Unknown attribute for argument load_balancer.loadbalancer: colour")
			c.Fixture(Volume, c.volumes(), Body{"volume": Body{"size": 1, "colour": "red"}})
		}),
	}
}

// missingPaths is a path of each service that leads to nothing.
func (c *Case) missingPaths() map[Service]string {
	return map[Service]string{
		Identity: "/v3/nothing", Network: "/v2.0/nothing", Compute: "/v2.1/nothing", Image: "/v2/nothing",
		Volume: "/v3/" + c.Member.ProjectID + "/nothing", LoadBalancer: "/v2/lbaas/nothing",
	}
}
