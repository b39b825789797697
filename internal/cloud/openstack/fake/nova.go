package fake

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

const (
	novaPrefix       = "/compute"
	novaMicroversion = "X-Openstack-Nova-Api-Version"
	anyMicroversion  = "Openstack-Api-Version"
)

type novaState struct {
	keyPairs *table[KeyPair]
	flavors  *table[Flavor]
	servers  *table[Server]
	groups   *table[ServerGroup]
}

// novaCall is a handler that knows the microversion of its call, as 100*major+minor: 264 for 2.64.
type novaCall func(q *request, micro int) (reply, error)

func (c *Cloud) registerNova() {
	c.nova.keyPairs = newTable(func(k *KeyPair) string { return k.UserID + "/" + k.Name })
	c.nova.flavors = newTable(func(f *Flavor) string { return f.ID })
	c.nova.servers = newTable(func(s *Server) string { return s.ID })
	c.nova.groups = newTable(func(g *ServerGroup) string { return g.ID })
	e := endpoint{service: wire.Nova, prefix: novaPrefix}
	version := apiVersion{id: "v2.1", status: "CURRENT", path: "v2.1/", most: fmt.Sprintf("2.%d", c.config.novaMicro), least: "2.1"}
	c.open(e, "GET /{$}", versionDocument(http.StatusOK, novaPrefix, version))
	one := func(q *request) (reply, error) {
		return ok(map[string]any{"version": version.view(q.base() + novaPrefix)})
	}
	c.open(e, "GET /v2.1", one)
	c.open(e, "GET /v2.1/{$}", one)
	c.registerKeyPairs(e)
	c.registerFlavors(e)
	c.registerServerGroups(e)
	c.registerServers(e)
	c.registerServerParts(e)
	c.registerAttachments(e)
	c.otherwise(e)
}

// novaRoute registers a call of Nova below its version.
func (c *Cloud) novaRoute(e endpoint, pattern string, h novaCall) {
	method, path, _ := strings.Cut(pattern, " ")
	c.route(e, method+" /v2.1"+path, func(q *request) (reply, error) {
		micro, err := c.microversion(q)
		if err != nil {
			return reply{}, err
		}
		out, failure := h(q, micro)
		if failure == nil {
			if out.header == nil {
				out.header = map[string]string{}
			}
			shown := fmt.Sprintf("2.%d", micro-200)
			out.header[novaMicroversion] = shown
			out.header[anyMicroversion] = "compute " + shown
		}
		return out, failure
	})
}

// microversion reads the version that a call asks for; without one it is the oldest.
func (c *Cloud) microversion(q *request) (int, *wire.Error) {
	asked := q.http.Header.Get(novaMicroversion)
	if service, version, found := strings.Cut(q.http.Header.Get(anyMicroversion), " "); found && service == "compute" {
		asked = version
	}
	switch asked {
	case "":
		return 201, nil
	case "latest":
		return 200 + c.config.novaMicro, nil
	}
	major, minor, _ := strings.Cut(asked, ".")
	high, err1 := strconv.Atoi(major)
	low, err2 := strconv.Atoi(minor)
	if err1 != nil || err2 != nil {
		return 0, badRequest("", "API Version String %s is of invalid format. Must be of format MajorNum.MinorNum.", asked)
	}
	if high != 2 || low < 1 || low > c.config.novaMicro {
		return 0, fail(http.StatusNotAcceptable, "computeFault", "Version %s is not supported by the API. Minimum is 2.1 and maximum is 2.%d.", asked, c.config.novaMicro)
	}
	return 200 + low, nil
}
