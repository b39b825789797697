package fake

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

const (
	novaMicroversion = "X-Openstack-Nova-Api-Version"
	anyMicroversion  = "Openstack-Api-Version"
)

// novaService is Nova of the fake cloud. Its methods run while the lock of the cloud is held.
type novaService struct {
	*shared

	neutron *neutronService
	glance  *glanceService
	cinder  *cinderService

	keyPairs *core.Table[KeyPair]
	flavors  *core.Table[Flavor]
	servers  *core.Table[Server]
	groups   *core.Table[ServerGroup]
}

// newNova serves the API of Nova on the cloud.
func newNova(cloud *shared, neutron *neutronService, glance *glanceService, cinder *cinderService) *novaService {
	svc := &novaService{shared: cloud, neutron: neutron, glance: glance, cinder: cinder}
	svc.registerNova()
	return svc
}

// novaCall is a handler that knows the microversion of its call, as 100*major+minor: 264 for 2.64.
type novaCall func(q *request, micro int) (reply, error)

func (svc *novaService) registerNova() {
	svc.keyPairs = core.NewTable(func(k *KeyPair) string { return keyPairKey(k.UserID, k.Name) })
	svc.flavors = core.NewTable(func(f *Flavor) string { return f.ID })
	svc.servers = core.NewTable(func(s *Server) string { return s.ID })
	svc.groups = core.NewTable(func(g *ServerGroup) string { return g.ID })
	e := endpoint{service: wire.Nova, prefix: novaPrefix}
	version := apiVersion{id: "v2.1", status: "CURRENT", path: "v2.1/", micro: true, most: fmt.Sprintf("2.%d", svc.config.novaMicro), least: "2.1"}
	legacy := apiVersion{id: "v2.0", status: "SUPPORTED", path: "v2/", micro: true}
	svc.routeWithoutToken(e, "GET /{$}", versionDocument(http.StatusOK, novaPrefix, legacy, version))
	one := func(q *request) (reply, error) {
		documented := version
		documented.documented = "http://docs.openstack.org/"
		return ok(map[string]any{"version": documented.view(q.base() + novaPrefix)})
	}
	svc.routeWithoutToken(e, "GET /v2.1", one)
	svc.routeWithoutToken(e, "GET /v2.1/{$}", one)
	svc.registerKeyPairs(e)
	svc.registerFlavors(e)
	svc.registerNovaImages(e)
	svc.registerServerGroups(e)
	svc.registerServers(e)
	svc.registerServerParts(e)
	svc.registerAttachments(e)
	svc.registerLimits(e)
	svc.registerFallback(e)
}

// novaRoute registers a call of Nova below its version.
func (svc *novaService) novaRoute(e endpoint, pattern string, h novaCall) {
	method, path, _ := strings.Cut(pattern, " ")
	svc.route(e, method+" /v2.1"+path, func(q *request) (reply, error) {
		micro, err := svc.microversion(q)
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
func (svc *novaService) microversion(q *request) (int, *wire.Error) {
	asked := q.http.Header.Get(novaMicroversion)
	if service, version, found := strings.Cut(q.http.Header.Get(anyMicroversion), " "); found && service == "compute" {
		asked = version
	}
	switch asked {
	case "":
		return 201, nil
	case "latest":
		return 200 + svc.config.novaMicro, nil
	}
	parts := regexp.MustCompile(`^([1-9]\d*)\.([1-9]\d*|0)$`).FindStringSubmatch(asked)
	if parts == nil {
		return 0, core.BadRequest("", "API Version String %s is of invalid format. Must be of format MajorNum.MinorNum.", asked)
	}
	low, err := strconv.Atoi(parts[2])
	if err != nil || parts[1] != "2" || low < 1 || low > svc.config.novaMicro {
		return 0, core.Fail(http.StatusNotAcceptable, "computeFault", "Version %s is not supported by the API. Minimum is 2.1 and maximum is 2.%d.", asked, svc.config.novaMicro)
	}
	return 200 + low, nil
}

// novaLimit is how many rows a list of Nova has at most (max_limit).
const novaLimit = 1000

// novaPage cuts a page out of a list, as limit and marker ask for. It fails when there is no marker. A full page leads to the
// next, even if that is empty.
func novaPage[T any](q *request, rows []*T, id func(*T) string) (page[T], error) {
	if err := numberParameters(q, "limit"); err != nil {
		return page[T]{}, err
	}
	if marker := q.values.Get("marker"); marker != "" {
		at := slices.IndexFunc(rows, func(row *T) bool { return id(row) == marker })
		if at < 0 {
			return page[T]{}, core.BadRequest("", "marker [%s] not found", marker)
		}
		rows = rows[at+1:]
	}
	limit := novaLimit
	if asked, err := strconv.Atoi(q.values.Get("limit")); err == nil {
		limit = min(asked, novaLimit)
	}
	if limit == 0 || len(rows) < limit {
		return page[T]{rows: rows[:min(limit, len(rows))]}, nil
	}
	rows = rows[:limit]
	return page[T]{rows: rows, links: []map[string]string{{"rel": "next", "href": nextPage(q, id(rows[limit-1]))}}}, nil
}

// numberParameters refuses parameters of a list that are no numbers.
func numberParameters(q *request, names ...string) error {
	for _, name := range names {
		for _, value := range q.values[name] {
			if strings.Trim(value, "0123456789") != "" {
				return core.BadRequest("", "Invalid input for query parameters %s. Value: %s. %s does not match '^[0-9]*$'", name, value, schema.PythonRepr(value))
			}
		}
	}
	return nil
}

// onlyParameters refuses parameters of a list that do not exist, as Nova does since microversion 2.75.
func onlyParameters(q *request, known ...string) error {
	unknown := core.Without(slices.Sorted(maps.Keys(q.values)), func(key string) bool { return slices.Contains(known, key) })
	if len(unknown) > 0 {
		return core.BadRequest("", "Additional properties are not allowed (%s)", schema.Unexpected(unknown))
	}
	return nil
}

func policyForbids(action string) error {
	return core.Forbidden("", "Policy doesn't allow os_compute_api:%s to be performed.", action)
}

// novaLinks are the addresses of a resource, one of them without a version.
func novaLinks(q *request, collection, id string) []any {
	base := q.base() + novaPrefix
	return []any{
		map[string]any{"rel": "self", "href": base + "/v2.1/" + collection + "/" + id},
		map[string]any{"rel": "bookmark", "href": base + "/" + collection + "/" + id},
	}
}
