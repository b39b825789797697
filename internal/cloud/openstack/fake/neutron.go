package fake

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// Device owners that mean something to Neutron itself.
const (
	ownerGateway    = "network:router_gateway"
	ownerFloatingIP = "network:floatingip"
	ownerDHCP       = "network:dhcp"
)

func isRouterInterface(owner string) bool {
	return slices.Contains([]string{
		"network:router_interface", "network:router_interface_distributed", "network:ha_router_replicated_interface",
	}, owner)
}

// neutronService is Neutron of the fake cloud. Its methods run while the lock of the cloud is held.
type neutronService struct {
	*shared

	networks    *core.Table[Network]
	subnets     *core.Table[Subnet]
	pools       *core.Table[SubnetPool]
	routers     *core.Table[Router]
	ports       *core.Table[Port]
	fips        *core.Table[FloatingIP]
	groups      *core.Table[SecurityGroup]
	groupOfRule map[string]string                // rule ID to group ID
	used        map[string]map[netip.Addr]string // subnet ID, address, port ID
	full        map[string]bool                  // subnet IDs that are declared exhausted
}

// newNeutron serves the API of Neutron on the cloud.
func newNeutron(cloud *shared) *neutronService {
	svc := &neutronService{shared: cloud}
	svc.registerNeutron()
	return svc
}

func (svc *neutronService) registerNeutron() {
	n := svc
	n.networks = core.NewTable(func(r *Network) string { return r.ID })
	n.subnets = core.NewTable(func(r *Subnet) string { return r.ID })
	n.pools = core.NewTable(func(r *SubnetPool) string { return r.ID })
	n.routers = core.NewTable(func(r *Router) string { return r.ID })
	n.ports = core.NewTable(func(r *Port) string { return r.ID })
	n.fips = core.NewTable(func(r *FloatingIP) string { return r.ID })
	n.groups = core.NewTable(func(r *SecurityGroup) string { return r.ID })
	n.groupOfRule, n.used, n.full = map[string]string{}, map[string]map[netip.Addr]string{}, map[string]bool{}

	e := endpoint{service: wire.Neutron, prefix: neutronPrefix}
	svc.routeWithoutToken(e, "GET /{$}", versionDocument(http.StatusOK, neutronPrefix, apiVersion{id: "v2.0", status: "CURRENT", path: "v2.0/", undated: true}))
	svc.route(e, "GET /v2.0/{$}", coreResources)
	svc.route(e, "GET /v2.0", func(*request) (reply, error) { return pathNotFound(wire.Neutron, true) })
	serveCollection(svc, e, svc.networkCollection())
	serveCollection(svc, e, svc.subnetCollection())
	serveCollection(svc, e, svc.subnetPoolCollection())
	serveCollection(svc, e, svc.routerCollection())
	serveCollection(svc, e, svc.portCollection())
	serveCollection(svc, e, svc.floatingIPCollection())
	serveCollection(svc, e, svc.securityGroupCollection())
	svc.registerRouterActions(e)
	svc.registerSecurityGroupRules(e)
	svc.registerNeutronInfo(e)
	svc.registerFallback(e)
}

// coreResources is Neutron's table of contents. Extensions are not in it.
func coreResources(q *request) (reply, error) {
	out := []any{}
	for _, name := range []string{"network", "subnet", "subnetpool", "port"} {
		self := map[string]any{"rel": "self", "href": q.base() + neutronPrefix + "/v2.0/" + name + "s"}
		out = append(out, map[string]any{"name": name, "collection": name + "s", "links": []any{self}})
	}
	return ok(map[string]any{"resources": out})
}

// extensions are the aliases of Neutron's extensions that are switched on.
func (svc *neutronService) extensions() []string {
	return core.Without([]string{
		"address-scope", "agent", "allowed-address-pairs", "availability_zone", "binding", "default-subnetpools", "empty-string-filtering",
		"ext-gw-mode", "external-net", "extraroute", "extraroute-atomic", "filter-validation", "ip-substring-filtering", "net-mtu",
		"net-mtu-writable", "network_availability_zone", "pagination", "port-security", "port-security-groups-filtering", "project-id",
		"quotas", "rbac-policies", "revision-if-match", "router", "router_availability_zone", "security-group", "sorting",
		"standard-attr-description", "standard-attr-revisions", "standard-attr-tag", "standard-attr-timestamp", "subnet_allocation",
	}, func(alias string) bool { return !svc.config.hasExtension(alias) })
}

func (svc *neutronService) registerNeutronInfo(e endpoint) {
	view := func(alias string) map[string]any {
		return map[string]any{"alias": alias, "name": alias, "description": "", "links": []any{}, "updated": "2016-01-01T00:00:00-00:00"}
	}
	svc.route(e, "GET /v2.0/extensions", func(*request) (reply, error) {
		out := []any{}
		for _, alias := range svc.extensions() {
			out = append(out, view(alias))
		}
		return ok(map[string]any{"extensions": out})
	})
	svc.route(e, "GET /v2.0/extensions/{id}", func(q *request) (reply, error) {
		if !slices.Contains(svc.extensions(), q.path("id")) {
			return reply{}, core.NotFound("HTTPNotFound", "Extension with alias %s does not exist", q.path("id"))
		}
		return ok(map[string]any{"extension": view(q.path("id"))})
	})
	svc.route(e, "GET /v2.0/availability_zones", func(*request) (reply, error) {
		out := []any{}
		for _, zone := range svc.config.zones {
			for _, resource := range []string{"network", "router"} {
				out = append(out, map[string]any{"name": zone, "resource": resource, "state": "available"})
			}
		}
		return ok(map[string]any{"availability_zones": out})
	})
}

// checkZones answers for availability zone hints that name no zone.
func (svc *neutronService) checkZones(hints []string) error {
	for _, hint := range hints {
		if !slices.Contains(svc.config.zones, hint) {
			return core.NotFound("AvailabilityZoneNotFound", "AvailabilityZone %s could not be found.", hint)
		}
	}
	return nil
}
