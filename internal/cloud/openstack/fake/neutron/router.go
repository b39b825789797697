package neutron

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// The maximum number of a router's extra routes.
const maxRoutes = 30

type routerInput struct {
	Name                  core.Opt[string]       `json:"name"`
	Description           core.Opt[string]       `json:"description"`
	AdminStateUp          core.Opt[bool]         `json:"admin_state_up"`
	Gateway               core.Opt[gatewayInput] `json:"external_gateway_info"`
	Routes                core.Opt[[]HostRoute]  `json:"routes"`
	AvailabilityZoneHints core.Opt[[]string]     `json:"availability_zone_hints"`
	Distributed           core.Opt[bool]         `json:"distributed"`
	HA                    core.Opt[bool]         `json:"ha"`
}

func (svc *Service) routerCollection() *collection[Router] {
	return &collection[Router]{
		singular: "router", plural: "routers", path: "routers", quota: "router",
		rows: svc.Routers, std: func(r *Router) *Standard { return r.Base() },
		missing: routerNotFound,
		create:  svc.createRouter, update: svc.updateRouter, remove: svc.deleteRouter,
		discard:              svc.dropRouter,
		startsAtRevisionZero: true, ignoresIfMatch: routerUpdateIgnoresIfMatch,
	}
}

// routerUpdateIgnoresIfMatch reports whether an update ignores If-Match: Neutron uses it only for changes of the routes or the gateway.
func routerUpdateIgnoresIfMatch(raw json.RawMessage) bool {
	var sent map[string]json.RawMessage
	if json.Unmarshal(raw, &sent) != nil {
		return false
	}
	return sent["routes"] == nil && sent["external_gateway_info"] == nil
}

func routerNotFound(id string) *wire.Error {
	return core.NotFound("RouterNotFound", "Router %s could not be found", id)
}

func (svc *Service) createRouter(q *core.Request, projectID string, raw json.RawMessage) (*Router, error) {
	var in routerInput
	if err := decodeNeutron[Router](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if in.Routes.Set {
		return nil, core.BadRequest("HTTPBadRequest", "Attribute 'routes' not allowed in POST")
	}
	if !q.Admin() && (in.Distributed.Set || in.HA.Set) {
		return nil, denied("create", "router", "distributed")
	}
	if err := svc.checkZones(in.AvailabilityZoneHints.Value); err != nil {
		return nil, err
	}
	r := &Router{
		Standard: svc.newStandard(projectID, ""), Status: "ACTIVE", AdminStateUp: true, Routes: []HostRoute{},
		AvailabilityZoneHints: append([]string{}, in.AvailabilityZoneHints.Value...),
	}
	if err := svc.applyRouter(q, r, &in); err != nil {
		return nil, err
	}
	return svc.Routers.Add(r), nil
}

func (svc *Service) updateRouter(q *core.Request, r *Router, raw json.RawMessage) error {
	var in routerInput
	if err := decodeNeutron[Router](raw, &in, http.MethodPut); err != nil {
		return err
	}
	if in.AvailabilityZoneHints.Set {
		return core.BadRequest("HTTPBadRequest", "Cannot update read-only attribute availability_zone_hints")
	}
	if in.Routes.Set {
		if err := svc.checkRoutes(r, in.Routes.Value); err != nil {
			return err
		}
	}
	return svc.applyRouter(q, r, &in)
}

func (svc *Service) applyRouter(q *core.Request, r *Router, in *routerInput) error {
	if in.Gateway.Set {
		if err := svc.setGateway(q, r, in.Gateway); err != nil {
			return err
		}
	}
	in.Name.Into(&r.Name)
	in.Description.Into(&r.Description)
	in.AdminStateUp.Into(&r.AdminStateUp)
	if in.Routes.Set {
		r.Routes = append([]HostRoute{}, in.Routes.Value...)
	}
	return nil
}

// interfaces are a router's ports in internal subnets.
func (svc *Service) interfaces(routerID string) []*Port {
	return svc.Ports.Where(func(p *Port) bool { return p.DeviceID == routerID && IsRouterInterface(p.DeviceOwner) })
}

// gatewayPort is a router's port in its external network, or nil.
func (svc *Service) gatewayPort(routerID string) *Port {
	return svc.Ports.First(func(p *Port) bool { return p.DeviceID == routerID && p.DeviceOwner == ownerGateway })
}

// checkRoutes requires that next hops are in the router's subnets.
func (svc *Service) checkRoutes(r *Router, routes []HostRoute) error {
	for i, route := range routes {
		if err := checkRoute(route, routes[:i]); err != nil {
			return err
		}
	}
	if len(routes) > maxRoutes {
		return core.BadRequest("RoutesExhausted", "Unable to complete operation for %s. The number of routes exceeds the maximum %d.", r.ID, maxRoutes)
	}
	reach := svc.interfaces(r.ID)
	if gateway := svc.gatewayPort(r.ID); gateway != nil {
		reach = append(reach, gateway)
	}
	for _, route := range routes {
		hop, connected := AddrOf(route.NextHop), false
		for _, p := range reach {
			for _, ip := range p.FixedIPs {
				if AddrOf(ip.IPAddress) == hop {
					return core.BadRequest("InvalidRoutes", "Invalid format for routes: [%s], the nexthop is used by router", route.shown())
				}
				connected = connected || PrefixOf(svc.Subnets.Get(ip.SubnetID)).Contains(hop)
			}
		}
		if !connected {
			return core.BadRequest("InvalidRoutes", "Invalid format for routes: [%s], the nexthop is not connected with router", route.shown())
		}
	}
	return nil
}

// checkRoute validates a route on its own and against previous ones.
func checkRoute(route HostRoute, before []HostRoute) error {
	destination, err := netip.ParsePrefix(route.Destination)
	switch {
	case err != nil:
		return badValue("routes", "'%s' is not a valid CIDR", route.Destination)
	case destination != destination.Masked():
		return badValue("routes", "'%s' is not a recognized CIDR, '%s' is recommended", route.Destination, destination.Masked())
	case !AddrOf(route.NextHop).IsValid():
		return badValue("routes", "'%s' is not a valid IP address", route.NextHop)
	case slices.Contains(before, route):
		return badValue("routes", "Duplicate hostroute '%s'", route.shown())
	}
	return nil
}

// shown is a route in Python's format.
func (r HostRoute) shown() string {
	return fmt.Sprintf("{'destination': '%s', 'nexthop': '%s'}", r.Destination, r.NextHop)
}

func (svc *Service) deleteRouter(_ *core.Request, r *Router) error {
	if attached := svc.interfaces(r.ID); len(attached) > 0 {
		ids := make([]string, len(attached))
		for i, p := range attached {
			ids[i] = p.ID
		}
		return core.Conflict("RouterInUse", "Router %s has ports still attached: %s", r.ID, strings.Join(ids, ", "))
	}
	if err := svc.checkGatewayUnused(r); err != nil {
		return err
	}
	svc.dropRouter(r)
	return nil
}

func (svc *Service) dropRouter(r *Router) {
	if p := svc.gatewayPort(r.ID); p != nil {
		svc.DropPort(p)
	}
	svc.Routers.Remove(r.ID)
}
