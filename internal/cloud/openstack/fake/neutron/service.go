package neutron

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
)

// Device owners with a meaning for Neutron.
const (
	ownerGateway    = "network:router_gateway"
	ownerFloatingIP = "network:floatingip"
	ownerDHCP       = "network:dhcp"
)

// IsRouterInterface reports whether a device owner is an interface of a router.
func IsRouterInterface(owner string) bool {
	return slices.Contains([]string{
		"network:router_interface", "network:router_interface_distributed", "network:ha_router_replicated_interface",
	}, owner)
}

// Service is Neutron of the fake cloud. Its methods run while the lock of the cloud is held.
type Service struct {
	*core.Cloud

	Networks    *core.Table[Network]
	Subnets     *core.Table[Subnet]
	Pools       *core.Table[SubnetPool]
	Routers     *core.Table[Router]
	Ports       *core.Table[Port]
	Fips        *core.Table[FloatingIP]
	Groups      *core.Table[SecurityGroup]
	groupOfRule map[string]string                // rule ID to group ID
	Used        map[string]map[netip.Addr]string // subnet ID, address, port ID
	Full        map[string]bool                  // subnet IDs that are declared exhausted
}

// New serves the API of Neutron on the cloud.
func New(cloud *core.Cloud) *Service {
	svc := &Service{Cloud: cloud}
	svc.registerNeutron()
	return svc
}

func (svc *Service) registerNeutron() {
	n := svc
	n.Networks = core.NewTable(func(r *Network) string { return r.ID })
	n.Subnets = core.NewTable(func(r *Subnet) string { return r.ID })
	n.Pools = core.NewTable(func(r *SubnetPool) string { return r.ID })
	n.Routers = core.NewTable(func(r *Router) string { return r.ID })
	n.Ports = core.NewTable(func(r *Port) string { return r.ID })
	n.Fips = core.NewTable(func(r *FloatingIP) string { return r.ID })
	n.Groups = core.NewTable(func(r *SecurityGroup) string { return r.ID })
	n.groupOfRule, n.Used, n.Full = map[string]string{}, map[string]map[netip.Addr]string{}, map[string]bool{}

	e := core.Endpoint{Service: services.Neutron, Prefix: core.NeutronPrefix}
	svc.RouteWithoutToken(e, "GET /{$}", core.VersionDocument(http.StatusOK, core.NeutronPrefix, core.ApiVersion{ID: "v2.0", Status: "CURRENT", Path: "v2.0/", Undated: true}))
	svc.Route(e, "GET /v2.0/{$}", coreResources)
	svc.Route(e, "GET /v2.0", func(*core.Request) (core.Reply, error) { return core.PathNotFound(services.Neutron, true) })
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
	svc.RegisterFallback(e)
}

// coreResources is Neutron's list of resources, without extensions.
func coreResources(q *core.Request) (core.Reply, error) {
	out := []any{}
	for _, name := range []string{"network", "subnet", "subnetpool", "port"} {
		self := map[string]any{"rel": "self", "href": q.Base() + core.NeutronPrefix + "/v2.0/" + name + "s"}
		out = append(out, map[string]any{"name": name, "collection": name + "s", "links": []any{self}})
	}
	return core.OK(map[string]any{"resources": out})
}

// extensions are the aliases of the enabled extensions.
func (svc *Service) extensions() []string {
	return core.Without([]string{
		"address-scope", "agent", "allowed-address-pairs", "availability_zone", "binding", "default-subnetpools", "empty-string-filtering",
		"ext-gw-mode", "external-net", "extraroute", "extraroute-atomic", "filter-validation", "ip-substring-filtering", "net-mtu",
		"net-mtu-writable", "network_availability_zone", "pagination", "port-security", "port-security-groups-filtering", "project-id",
		"quotas", "rbac-policies", "revision-if-match", "router", "router_availability_zone", "security-group", "sorting",
		"standard-attr-description", "standard-attr-revisions", "standard-attr-tag", "standard-attr-timestamp", "subnet_allocation",
	}, func(alias string) bool { return !svc.Config.HasExtension(alias) })
}

func (svc *Service) registerNeutronInfo(e core.Endpoint) {
	view := func(alias string) map[string]any {
		return map[string]any{"alias": alias, "name": alias, "description": "", "links": []any{}, "updated": "2016-01-01T00:00:00-00:00"}
	}
	svc.Route(e, "GET /v2.0/extensions", func(*core.Request) (core.Reply, error) {
		out := []any{}
		for _, alias := range svc.extensions() {
			out = append(out, view(alias))
		}
		return core.OK(map[string]any{"extensions": out})
	})
	svc.Route(e, "GET /v2.0/extensions/{id}", func(q *core.Request) (core.Reply, error) {
		if !slices.Contains(svc.extensions(), q.Path("id")) {
			return core.Reply{}, core.NotFound("HTTPNotFound", "Extension with alias %s does not exist", q.Path("id"))
		}
		return core.OK(map[string]any{"extension": view(q.Path("id"))})
	})
	svc.Route(e, "GET /v2.0/availability_zones", func(*core.Request) (core.Reply, error) {
		out := []any{}
		for _, zone := range svc.Config.Zones {
			for _, resource := range []string{"network", "router"} {
				out = append(out, map[string]any{"name": zone, "resource": resource, "state": "available"})
			}
		}
		return core.OK(map[string]any{"availability_zones": out})
	})
}

// checkZones returns the error for availability zone hints without a zone.
func (svc *Service) checkZones(hints []string) error {
	for _, hint := range hints {
		if !slices.Contains(svc.Config.Zones, hint) {
			return core.NotFound("AvailabilityZoneNotFound", "AvailabilityZone %s could not be found.", hint)
		}
	}
	return nil
}
