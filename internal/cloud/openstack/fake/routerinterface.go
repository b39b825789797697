package fake

import (
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

func (svc *neutronService) registerRouterActions(e endpoint) {
	k := svc.routerCollection()
	action := func(name string, do func(q *request, r *Router) (reply, error)) {
		svc.route(e, "PUT /v2.0/routers/{id}/"+name, func(q *request) (reply, error) {
			r, err := k.findOwn(q)
			if err != nil {
				return reply{}, err
			}
			return do(q, r)
		})
	}
	action("add_router_interface", svc.addInterface)
	action("remove_router_interface", svc.removeInterface)
	action("add_extraroutes", func(q *request, r *Router) (reply, error) {
		return svc.changeRoutes(q, r, func(have, sent []HostRoute) []HostRoute {
			return core.With(have, core.Without(sent, func(s HostRoute) bool { return slices.Contains(have, s) })...)
		})
	})
	action("remove_extraroutes", func(q *request, r *Router) (reply, error) {
		return svc.changeRoutes(q, r, func(have, sent []HostRoute) []HostRoute {
			return core.Without(have, func(h HostRoute) bool { return slices.Contains(sent, h) })
		})
	})
}

// changeRoutes implements the extension extraroute-atomic.
func (svc *neutronService) changeRoutes(q *request, r *Router, change func(have, sent []HostRoute) []HostRoute) (reply, error) {
	var in struct {
		Router struct {
			Routes []HostRoute `json:"routes"`
		} `json:"router"`
	}
	if json.Unmarshal(q.body, &in) != nil {
		return reply{}, core.BadRequest("HTTPBadRequest", "Unable to find 'router' in request body")
	}
	routes := change(r.Routes, in.Router.Routes)
	if err := svc.checkRoutes(r, routes); err != nil {
		return reply{}, err
	}
	r.Routes = routes
	svc.touch(r.standard())
	return ok(map[string]any{"router": *r})
}

type interfaceInput struct {
	SubnetID core.Opt[string] `json:"subnet_id"`
	PortID   core.Opt[string] `json:"port_id"`
}

func badRouter(format string, args ...any) error {
	return core.BadRequest("BadRequest", "Bad router request: "+format+".", args...)
}

// interfaceIn reads by what an interface is meant: a subnet, a port, or (to remove it) both.
func interfaceIn(q *request) (interfaceInput, error) {
	var in interfaceInput
	if json.Unmarshal(q.body, &in) != nil || !in.SubnetID.Set && !in.PortID.Set {
		return in, badRouter("Either subnet_id or port_id must be specified")
	}
	for _, id := range []core.Opt[string]{in.PortID, in.SubnetID} {
		if id.Set && !isUUID(id.Value) {
			return in, badRouter("'%s' is not a valid UUID", id.Value)
		}
	}
	return in, nil
}

func (svc *neutronService) addInterface(q *request, r *Router) (reply, error) {
	in, err := interfaceIn(q)
	if err != nil {
		return reply{}, err
	}
	if in.SubnetID.Set && in.PortID.Set {
		return reply{}, badRouter("Cannot specify both subnet-id and port-id")
	}
	connect := svc.connectSubnet
	if in.PortID.Set {
		connect = svc.connectPort
	}
	p, subnetIDs, err := connect(q, r, in)
	if err != nil {
		return reply{}, err
	}
	svc.touch(r.standard())
	return interfaceReply(r, p, subnetIDs)
}

func interfaceReply(r *Router, p *Port, subnetIDs []string) (reply, error) {
	return ok(map[string]any{
		"id": r.ID, "tenant_id": r.TenantID, "port_id": p.ID, "network_id": p.NetworkID,
		"subnet_id": subnetIDs[len(subnetIDs)-1], "subnet_ids": subnetIDs,
	})
}

// connectSubnet gives the router a port with the subnet's gateway address. IPv6 subnets of one network share a port.
func (svc *neutronService) connectSubnet(q *request, r *Router, in interfaceInput) (*Port, []string, error) {
	s := svc.subnets.Get(in.SubnetID.Value)
	if s == nil || !svc.maySeeSubnet(q.identity, s) {
		return nil, nil, subnetNotFound(in.SubnetID.Value)
	}
	n := svc.networks.Get(s.NetworkID)
	if s.GatewayIP == "" {
		return nil, nil, badRouter("Subnet for router interface must have a gateway IP")
	}
	if !q.owns(s.ProjectID) {
		return nil, nil, badRouter("Cannot add interface to router because subnet %s is not owned by project making the request", s.ID)
	}
	if err := svc.checkOverlap(r, s); err != nil {
		return nil, nil, err
	}
	gateway := FixedIP{SubnetID: s.ID, IPAddress: string(s.GatewayIP)}
	if s.IPVersion == 6 {
		if p := svc.ipv6Interface(r, n.ID); p != nil {
			if err := svc.claim(s, addrOf(gateway.IPAddress), p.ID); err != nil {
				return nil, nil, err
			}
			p.FixedIPs = core.With(p.FixedIPs, gateway)
			svc.touch(p.standard())
			return p, []string{s.ID}, nil
		}
	}
	p := svc.newPort(r.ProjectID, n, svc.config.interfaceOwner, r.ID)
	if err := svc.claim(s, addrOf(gateway.IPAddress), p.ID); err != nil {
		return nil, nil, err
	}
	p.FixedIPs = []FixedIP{gateway}
	svc.ports.Add(p)
	svc.activateInterface(p)
	return p, []string{s.ID}, nil
}

// ipv6Interface is the router's port on the network that carries IPv6 addresses, or nil.
func (svc *neutronService) ipv6Interface(r *Router, networkID string) *Port {
	for _, p := range svc.interfaces(r.ID) {
		if p.NetworkID == networkID && len(p.FixedIPs) > 0 && addrOf(p.FixedIPs[0].IPAddress).Is6() {
			return p
		}
	}
	return nil
}

func (svc *neutronService) activateInterface(p *Port) {
	p.Status = "DOWN"
	svc.beginTransition(RouterInterface, p.ID, func(failed bool) {
		if !failed {
			p.Status = "ACTIVE"
		}
	})
}

// connectPort makes an existing port the router's. It keeps its security groups.
func (svc *neutronService) connectPort(q *request, r *Router, in interfaceInput) (*Port, []string, error) {
	p := svc.ports.Get(in.PortID.Value)
	if p == nil || !q.owns(p.ProjectID) {
		return nil, nil, portNotFound(in.PortID.Value)
	}
	if p.DeviceID != "" {
		return nil, nil, core.Conflict("PortInUse", "Unable to complete operation on port %s for network %s. Port already has an attached device %s.", p.ID, p.NetworkID, p.DeviceID)
	}
	if len(p.FixedIPs) == 0 {
		return nil, nil, badRouter("Router port must have at least one fixed IP")
	}
	var subnetIDs []string
	for _, ip := range p.FixedIPs {
		if err := svc.checkOverlap(r, svc.subnets.Get(ip.SubnetID)); err != nil {
			return nil, nil, err
		}
		subnetIDs = append(subnetIDs, ip.SubnetID)
	}
	p.DeviceID, p.DeviceOwner = r.ID, svc.config.interfaceOwner
	svc.touch(p.standard())
	svc.activateInterface(p)
	return p, subnetIDs, nil
}

// checkOverlap refuses a subnet that the router has already, or that overlaps one it has or one of its external network.
func (svc *neutronService) checkOverlap(r *Router, s *Subnet) error {
	var near []string
	for _, p := range svc.interfaces(r.ID) {
		for _, ip := range p.FixedIPs {
			if ip.SubnetID == s.ID {
				return badRouter("Router already has a port on subnet %s", s.ID)
			}
			near = append(near, ip.SubnetID)
		}
	}
	if r.Gateway != nil {
		near = append(near, svc.networks.Get(r.Gateway.NetworkID).Subnets...)
	}
	for _, id := range near {
		if other := svc.subnets.Get(id); prefixOf(other).Overlaps(prefixOf(s)) {
			return badRouter("Cidr %s of subnet %s overlaps with cidr %s of subnet %s", s.CIDR, s.ID, other.CIDR, other.ID)
		}
	}
	return nil
}

func (svc *neutronService) removeInterface(q *request, r *Router) (reply, error) {
	in, err := interfaceIn(q)
	if err != nil {
		return reply{}, err
	}
	p, subnetIDs, err := svc.findInterface(q, r, in)
	if err != nil {
		return reply{}, err
	}
	for _, id := range subnetIDs {
		if err := svc.checkInterfaceUnused(r, p, id); err != nil {
			return reply{}, err
		}
	}
	gone := core.Without(p.FixedIPs, func(ip FixedIP) bool { return !slices.Contains(subnetIDs, ip.SubnetID) })
	if len(gone) < len(p.FixedIPs) {
		svc.release(gone)
		p.FixedIPs = core.Without(p.FixedIPs, func(ip FixedIP) bool { return slices.Contains(gone, ip) })
		svc.touch(p.standard())
	} else {
		svc.dropPort(p)
	}
	svc.touch(r.standard())
	return interfaceReply(r, p, subnetIDs)
}

// findInterface returns a port of a router and those of its subnets that are meant.
func (svc *neutronService) findInterface(q *request, r *Router, in interfaceInput) (*Port, []string, error) {
	if in.PortID.Set {
		for _, p := range svc.interfaces(r.ID) {
			if p.ID != in.PortID.Value {
				continue
			}
			if in.SubnetID.Set && !portIn(p, in.SubnetID.Value) {
				return nil, nil, core.BadRequest("SubnetMismatchForPort", "Subnet on port %s does not match the requested subnet %s.", p.ID, in.SubnetID.Value)
			}
			var subnetIDs []string
			for _, ip := range p.FixedIPs {
				subnetIDs = append(subnetIDs, ip.SubnetID)
			}
			return p, subnetIDs, nil
		}
		return nil, nil, core.NotFound("RouterInterfaceNotFound", "Router %s does not have an interface with id %s", r.ID, in.PortID.Value)
	}
	if s := svc.subnets.Get(in.SubnetID.Value); s == nil || !svc.maySeeSubnet(q.identity, s) {
		return nil, nil, subnetNotFound(in.SubnetID.Value)
	}
	for _, p := range svc.interfaces(r.ID) {
		if portIn(p, in.SubnetID.Value) {
			return p, []string{in.SubnetID.Value}, nil
		}
	}
	return nil, nil, core.NotFound("RouterInterfaceNotFoundForSubnet", "Router %s has no interface on subnet %s", r.ID, in.SubnetID.Value)
}

// checkInterfaceUnused refuses while floating IPs or extra routes go through the subnet.
func (svc *neutronService) checkInterfaceUnused(r *Router, p *Port, subnetID string) error {
	s := svc.subnets.Get(subnetID)
	for _, f := range svc.fips.Rows {
		target := svc.ports.Get(string(f.PortID))
		if string(f.RouterID) == r.ID && target != nil && portIn(target, subnetID) {
			return core.Conflict("RouterInterfaceInUseByFloatingIP", "Router interface for subnet %s on router %s cannot be deleted, as it is required by one or more floating IPs.", subnetID, r.ID)
		}
	}
	for _, route := range r.Routes {
		if hop, err := netip.ParseAddr(route.NextHop); err == nil && prefixOf(s).Contains(hop) && portIn(p, subnetID) {
			return core.Conflict("RouterInterfaceInUseByRoute", "Router interface for subnet %s on router %s cannot be deleted, as it is required by one or more routes.", subnetID, r.ID)
		}
	}
	return nil
}
