package nova

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/cinder"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/glance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const (
	novaMicroversion = "X-Openstack-Nova-Api-Version"
	anyMicroversion  = "Openstack-Api-Version"
)

// Service is Nova of the fake cloud. Its methods run while the lock of the cloud is held.
type Service struct {
	*core.Cloud

	neutron *neutron.Service
	glance  *glance.Service
	cinder  *cinder.Service

	KeyPairs *core.Table[KeyPair]
	flavors  *core.Table[Flavor]
	Servers  *core.Table[Server]
	Groups   *core.Table[ServerGroup]
}

// New serves the API of Nova on the cloud.
func New(cloud *core.Cloud, neutron *neutron.Service, glance *glance.Service, cinder *cinder.Service) *Service {
	svc := &Service{Cloud: cloud, neutron: neutron, glance: glance, cinder: cinder}
	svc.registerNova()
	return svc
}

// novaCall is a handler that knows the microversion of its call, as 100*major+minor: 264 for 2.64.
type novaCall func(q *core.Request, micro int) (core.Reply, error)

func (svc *Service) registerNova() {
	svc.KeyPairs = core.NewTable(func(k *KeyPair) string { return keyPairKey(k.UserID, k.Name) })
	svc.flavors = core.NewTable(func(f *Flavor) string { return f.ID })
	svc.Servers = core.NewTable(func(s *Server) string { return s.ID })
	svc.Groups = core.NewTable(func(g *ServerGroup) string { return g.ID })
	e := core.Endpoint{Service: services.Nova, Prefix: core.NovaPrefix}
	version := core.ApiVersion{ID: "v2.1", Status: "CURRENT", Path: "v2.1/", Micro: true, Most: fmt.Sprintf("2.%d", svc.Config.NovaMicro), Least: "2.1"}
	legacy := core.ApiVersion{ID: "v2.0", Status: "SUPPORTED", Path: "v2/", Micro: true}
	svc.RouteWithoutToken(e, "GET /{$}", core.VersionDocument(http.StatusOK, core.NovaPrefix, legacy, version))
	one := func(q *core.Request) (core.Reply, error) {
		documented := version
		documented.Documented = "http://docs.openstack.org/"
		return core.OK(map[string]any{"version": documented.View(q.Base() + core.NovaPrefix)})
	}
	svc.RouteWithoutToken(e, "GET /v2.1", one)
	svc.RouteWithoutToken(e, "GET /v2.1/{$}", one)
	svc.registerKeyPairs(e)
	svc.registerFlavors(e)
	svc.registerNovaImages(e)
	svc.registerServerGroups(e)
	svc.registerServers(e)
	svc.registerServerParts(e)
	svc.registerAttachments(e)
	svc.registerLimits(e)
	svc.RegisterFallback(e)
}

// novaRoute registers a call of Nova below its version.
func (svc *Service) novaRoute(e core.Endpoint, pattern string, h novaCall) {
	method, path, _ := strings.Cut(pattern, " ")
	svc.Route(e, method+" /v2.1"+path, func(q *core.Request) (core.Reply, error) {
		micro, err := svc.microversion(q)
		if err != nil {
			return core.Reply{}, err
		}
		out, failure := h(q, micro)
		if failure == nil {
			if out.Header == nil {
				out.Header = map[string]string{}
			}
			shown := fmt.Sprintf("2.%d", micro-200)
			out.Header[novaMicroversion] = shown
			out.Header[anyMicroversion] = "compute " + shown
		}
		return out, failure
	})
}

// microversion parses the requested version; default the oldest.
func (svc *Service) microversion(q *core.Request) (int, *wire.Error) {
	asked := q.HTTP.Header.Get(novaMicroversion)
	if service, version, found := strings.Cut(q.HTTP.Header.Get(anyMicroversion), " "); found && service == "compute" {
		asked = version
	}
	switch asked {
	case "":
		return 201, nil
	case "latest":
		return 200 + svc.Config.NovaMicro, nil
	}
	parts := regexp.MustCompile(`^([1-9]\d*)\.([1-9]\d*|0)$`).FindStringSubmatch(asked)
	if parts == nil {
		return 0, core.BadRequest("", "API Version String %s is of invalid format. Must be of format MajorNum.MinorNum.", asked)
	}
	low, err := strconv.Atoi(parts[2])
	if err != nil || parts[1] != "2" || low < 1 || low > svc.Config.NovaMicro {
		return 0, core.Fail(http.StatusNotAcceptable, "computeFault", "Version %s is not supported by the API. Minimum is 2.1 and maximum is 2.%d.", asked, svc.Config.NovaMicro)
	}
	return 200 + low, nil
}

// novaLimit is the maximum number of rows in a list of Nova (max_limit).
const novaLimit = 1000

// novaPage returns the page of a list that limit and marker request. It fails if the marker does not exist. A full page has a link to the next, even
// if that is empty.
func novaPage[T any](q *core.Request, rows []*T, id func(*T) string) (core.Page[T], error) {
	if err := numberParameters(q, "limit"); err != nil {
		return core.Page[T]{}, err
	}
	if marker := q.Values.Get("marker"); marker != "" {
		at := slices.IndexFunc(rows, func(row *T) bool { return id(row) == marker })
		if at < 0 {
			return core.Page[T]{}, core.BadRequest("", "marker [%s] not found", marker)
		}
		rows = rows[at+1:]
	}
	limit := novaLimit
	if asked, err := strconv.Atoi(q.Values.Get("limit")); err == nil {
		limit = min(asked, novaLimit)
	}
	if limit == 0 || len(rows) < limit {
		return core.Page[T]{Rows: rows[:min(limit, len(rows))]}, nil
	}
	rows = rows[:limit]
	return core.Page[T]{Rows: rows, Links: []map[string]string{{"rel": "next", "href": core.NextPage(q, id(rows[limit-1]))}}}, nil
}

// numberParameters refuses parameters of a list that are not numbers.
func numberParameters(q *core.Request, names ...string) error {
	for _, name := range names {
		for _, value := range q.Values[name] {
			if strings.Trim(value, "0123456789") != "" {
				return core.BadRequest("", "Invalid input for query parameters %s. Value: %s. %s does not match '^[0-9]*$'", name, value, schema.PythonRepr(value))
			}
		}
	}
	return nil
}

// onlyParameters refuses unknown parameters of a list, as Nova does from microversion 2.75.
func onlyParameters(q *core.Request, known ...string) error {
	unknown := core.Without(slices.Sorted(maps.Keys(q.Values)), func(key string) bool { return slices.Contains(known, key) })
	if len(unknown) > 0 {
		return core.BadRequest("", "Additional properties are not allowed (%s)", schema.Unexpected(unknown))
	}
	return nil
}

func policyForbids(action string) error {
	return core.Forbidden("", "Policy doesn't allow os_compute_api:%s to be performed.", action)
}

// novaLinks are the URLs of a resource, one of them without a version.
func novaLinks(q *core.Request, collection, id string) []any {
	base := q.Base() + core.NovaPrefix
	return []any{
		map[string]any{"rel": "self", "href": base + "/v2.1/" + collection + "/" + id},
		map[string]any{"rel": "bookmark", "href": base + "/" + collection + "/" + id},
	}
}
