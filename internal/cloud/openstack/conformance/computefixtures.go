package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
)

// What behaviours of servers need before they begin, as in fixtures.go. Every cloud here has the flavors and images of these names.
const (
	tinyFlavor = "m1.tiny"
	tinyImage  = "tiny"
)

// microversionHeader asks Nova for a microversion.
func microversionHeader(version string) []string {
	return []string{"OpenStack-API-Version", "compute " + version}
}

// Flavor returns the ID of a flavor. Each flavor has its name as its word.
func (c *Case) Flavor(name string) string {
	c.Helper()
	return c.lookUp(Compute, "/v2.1/flavors", "flavors", "flavor", name)
}

// Image returns the ID of an image. Each image has its name as its word.
func (c *Case) Image(name string) string {
	c.Helper()
	return c.lookUp(Image, "/v2/images", "images", "image", name)
}

// lookUp finds the ID of what has a name and gives everything in the list its name as word. It goes past the recorder, whose
// own words would follow the order of the list.
func (c *Case) lookUp(s Service, path, key, kind, name string) string {
	c.Helper()
	response, err := c.exchange(c.Context(), c.Member, http.MethodGet, s, path, nil, nil)
	require.NoError(c, err)
	response.c = c
	found := ""
	for _, one := range response.List(key) {
		if uuidPattern.MatchString(one.ID()) {
			c.SetPlaceholder(one.ID(), kind+" "+one.Text("name"))
		}
		if one.Text("name") == name {
			found = one.ID()
		}
	}
	require.NotEmptyf(c, found, "the cloud has no %s called %q", kind, name)
	return found
}

// Zones returns the availability zones of compute, sorted.
func (c *Case) Zones() []string {
	c.Helper()
	var names []string
	c.WithoutRecording(func() {
		for _, zone := range c.Member.Get(Compute, "/v2.1/os-availability-zone").List("availabilityZoneInfo") {
			names = append(names, zone.Text("zoneName"))
		}
	})
	slices.Sort(names)
	require.NotEmpty(c, names)
	return names
}

// NetworkForServers makes a network with a subnet for servers.
func (c *Case) NetworkForServers() (network, subnet Object) {
	c.Helper()
	network = c.Network()
	return network, c.Subnet(network, "10.20.0.0/24")
}

// ServerBody is a request for a tiny server, with other attributes than the usual ones. nil takes an attribute away.
func (c *Case) ServerBody(attributes Body) Body {
	c.Helper()
	server := Body{"name": "one", "flavorRef": c.Flavor(tinyFlavor), "imageRef": c.Image(tinyImage)}
	maps.Copy(server, attributes)
	maps.DeleteFunc(server, func(_ string, value any) bool { return value == nil })
	return Body{"server": server}
}

// Server makes a server and waits until it is ACTIVE.
func (c *Case) Server(attributes Body, headers ...string) Object {
	c.Helper()
	var created Object
	body := c.ServerBody(attributes)
	c.WithoutRecording(func() { created = c.Member.Post(Compute, serversPath, body, headers...).RequireStatus(202) })
	c.DeleteAtCleanup(c.Member, Compute, serverPath(created))
	return c.WaitForServer(created, "ACTIVE")
}

// WaitForServer waits until a server has a status, with nothing more to do, and returns it.
func (c *Case) WaitForServer(server Object, status string) Object {
	c.Helper()
	var seen Object
	c.WaitUntil(fmt.Sprintf("server %s is %s", server.ID(), status), func() bool {
		seen = c.Member.Get(Compute, serverPath(server)).RequireStatus(200)
		return seen.Text("status") == status && seen.At("OS-EXT-STS:task_state") == nil
	})
	return seen
}

// WaitUntilGone waits until something is not there any more.
func (c *Case) WaitUntilGone(s Service, path string) {
	c.Helper()
	c.WaitUntil(path+" is gone", func() bool { return c.Member.Get(s, path).Status == http.StatusNotFound })
}

const serversPath = "/v2.1/servers"

func serverPath(server Object) string { return serversPath + "/" + server.ID() }

// Volume makes a volume of 1 GiB and waits until it is available.
func (c *Case) Volume(attributes Body) Object {
	c.Helper()
	volume := Body{"size": 1, "name": "given"}
	maps.Copy(volume, attributes)
	created := c.Fixture(Volume, c.volumes(), Body{"volume": volume})
	return c.WaitForVolume(created, "available")
}

// WaitForVolume waits until a volume has a status, and returns it.
func (c *Case) WaitForVolume(volume Object, status string) Object {
	c.Helper()
	var seen Object
	c.WaitUntil(fmt.Sprintf("volume %s is %s", volume.ID(), status), func() bool {
		seen = c.Member.Get(Volume, c.volumes()+"/"+volume.ID()).RequireStatus(200)
		return seen.Text("status") == status
	})
	return seen
}

// volumes is where the project's volumes are.
func (c *Case) volumes() string { return "/v3/" + c.Member.ProjectID + "/volumes" }

// OtherUser is another user of the member's project.
func (c *Case) OtherUser() *Caller {
	c.Helper()
	login := Login{User: c.Login.User + "-colleague", Password: c.Login.Password, Project: c.Login.Project}
	user := c.FixtureAs(c.Operator, Identity, "/v3/users", Body{"user": Body{"name": login.User, "password": login.Password, "domain_id": "default"}})
	c.SetPlaceholder(user.ID(), "colleague")
	c.WithoutRecording(func() {
		for _, role := range c.Operator.Get(Identity, "/v3/roles?name=member").List("roles") {
			path := fmt.Sprintf("/v3/projects/%s/users/%s/roles/%s", c.Member.ProjectID, user.ID(), role.ID())
			c.Operator.Put(Identity, path, nil).RequireStatus(204)
		}
	})
	return c.LogIn(login)
}

// withoutToken is somebody who has not logged in, and got the catalog from somebody else.
func (c *Case) withoutToken() *Caller {
	return c.bind(&Caller{endpoints: c.Member.endpoints})
}

// waitForNextSecond makes sure that what comes next is younger: Nova and Cinder sort by times in whole seconds.
func (c *Case) waitForNextSecond() {
	c.Helper()
	start := time.Now()
	c.WaitUntil("the next second has begun", func() bool { return time.Since(start) > time.Second })
}
