package neutron

import (
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

func (svc *Service) registerRouterActions(e core.Endpoint) {
	k := svc.routerCollection()
	action := func(name string, do func(q *core.Request, r *Router) (core.Reply, error)) {
		svc.Route(e, "PUT /v2.0/routers/{id}/"+name, func(q *core.Request) (core.Reply, error) {
			r, err := k.findOwn(q)
			if err != nil {
				return core.Reply{}, err
			}
			return do(q, r)
		})
	}
	action("add_router_interface", svc.addInterface)
	action("remove_router_interface", svc.removeInterface)
	action("add_extraroutes", func(q *core.Request, r *Router) (core.Reply, error) {
		return svc.changeRoutes(q, r, func(have, sent []HostRoute) []HostRoute {
			return core.With(have, core.Without(sent, func(s HostRoute) bool { return slices.Contains(have, s) })...)
		})
	})
	action("remove_extraroutes", func(q *core.Request, r *Router) (core.Reply, error) {
		return svc.changeRoutes(q, r, func(have, sent []HostRoute) []HostRoute {
			return core.Without(have, func(h HostRoute) bool { return slices.Contains(sent, h) })
		})
	})
}

// changeRoutes implements the extension extraroute-atomic.
func (svc *Service) changeRoutes(q *core.Request, r *Router, change func(have, sent []HostRoute) []HostRoute) (core.Reply, error) {
	var in struct {
		Router struct {
			Routes []HostRoute `json:"routes"`
		} `json:"router"`
	}
	if json.Unmarshal(q.Body, &in) != nil {
		return core.Reply{}, core.BadRequest("HTTPBadRequest", "Unable to find 'router' in request body")
	}
	routes := change(r.Routes, in.Router.Routes)
	if err := svc.checkRoutes(r, routes); err != nil {
		return core.Reply{}, err
	}
	r.Routes = routes
	svc.Touch(r.Base())
	return core.OK(map[string]any{"router": *r})
}

type interfaceInput struct {
	SubnetID core.Opt[string] `json:"subnet_id"`
	PortID   core.Opt[string] `json:"port_id"`
}

func badRouter(format string, args ...any) error {
	return core.BadRequest("BadRequest", "Bad router request: "+format+".", args...)
}

// interfaceIn parses how an interface is given: by subnet, port, or (for its removal) both.
func interfaceIn(q *core.Request) (interfaceInput, error) {
	var in interfaceInput
	if json.Unmarshal(q.Body, &in) != nil || !in.SubnetID.Set && !in.PortID.Set {
		return in, badRouter("Either subnet_id or port_id must be specified")
	}
	for _, id := range []core.Opt[string]{in.PortID, in.SubnetID} {
		if id.Set && !isUUID(id.Value) {
			return in, badRouter("'%s' is not a valid UUID", id.Value)
		}
	}
	return in, nil
}

func (svc *Service) addInterface(q *core.Request, r *Router) (core.Reply, error) {
	in, err := interfaceIn(q)
	if err != nil {
		return core.Reply{}, err
	}
	if in.SubnetID.Set && in.PortID.Set {
		return core.Reply{}, badRouter("Cannot specify both subnet-id and port-id")
	}
	connect := svc.connectSubnet
	if in.PortID.Set {
		connect = svc.connectPort
	}
	p, subnetIDs, err := connect(q, r, in)
	if err != nil {
		return core.Reply{}, err
	}
	svc.Touch(r.Base())
	return interfaceReply(r, p, subnetIDs)
}

func interfaceReply(r *Router, p *Port, subnetIDs []string) (core.Reply, error) {
	return core.OK(map[string]any{
		"id": r.ID, "tenant_id": r.TenantID, "port_id": p.ID, "network_id": p.NetworkID,
		"subnet_id": subnetIDs[len(subnetIDs)-1], "subnet_ids": subnetIDs,
	})
}

// connectSubnet creates a port of the router with the subnet's gateway address. IPv6 subnets of one network share a port.
func (svc *Service) connectSubnet(q *core.Request, r *Router, in interfaceInput) (*Port, []string, error) {
	s := svc.Subnets.Get(in.SubnetID.Value)
	if s == nil || !svc.maySeeSubnet(q.Identity, s) {
		return nil, nil, subnetNotFound(in.SubnetID.Value)
	}
	n := svc.Networks.Get(s.NetworkID)
	if s.GatewayIP == "" {
		return nil, nil, badRouter("Subnet for router interface must have a gateway IP")
	}
	if !q.Owns(s.ProjectID) {
		return nil, nil, badRouter("Cannot add interface to router because subnet %s is not owned by project making the request", s.ID)
	}
	if err := svc.checkOverlap(r, s); err != nil {
		return nil, nil, err
	}
	gateway := FixedIP{SubnetID: s.ID, IPAddress: string(s.GatewayIP)}
	if s.IPVersion == 6 {
		if p := svc.ipv6Interface(r, n.ID); p != nil {
			if err := svc.claim(s, AddrOf(gateway.IPAddress), p.ID); err != nil {
				return nil, nil, err
			}
			p.FixedIPs = core.With(p.FixedIPs, gateway)
			svc.Touch(p.Base())
			return p, []string{s.ID}, nil
		}
	}
	p := svc.NewPort(r.ProjectID, n, svc.Config.InterfaceOwner, r.ID)
	if err := svc.claim(s, AddrOf(gateway.IPAddress), p.ID); err != nil {
		return nil, nil, err
	}
	p.FixedIPs = []FixedIP{gateway}
	svc.Ports.Add(p)
	svc.activateInterface(p)
	return p, []string{s.ID}, nil
}

// ipv6Interface is the router's port in the network with IPv6 addresses, or nil.
func (svc *Service) ipv6Interface(r *Router, networkID string) *Port {
	for _, p := range svc.interfaces(r.ID) {
		if p.NetworkID == networkID && len(p.FixedIPs) > 0 && AddrOf(p.FixedIPs[0].IPAddress).Is6() {
			return p
		}
	}
	return nil
}

func (svc *Service) activateInterface(p *Port) {
	p.Status = "DOWN"
	svc.BeginTransition(core.RouterInterface, p.ID, func(failed bool) {
		if !failed {
			p.Status = "ACTIVE"
		}
	})
}

// connectPort makes an existing port the router's. It keeps its security groups.
func (svc *Service) connectPort(q *core.Request, r *Router, in interfaceInput) (*Port, []string, error) {
	p := svc.Ports.Get(in.PortID.Value)
	if p == nil || !q.Owns(p.ProjectID) {
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
		if err := svc.checkOverlap(r, svc.Subnets.Get(ip.SubnetID)); err != nil {
			return nil, nil, err
		}
		subnetIDs = append(subnetIDs, ip.SubnetID)
	}
	p.DeviceID, p.DeviceOwner = r.ID, svc.Config.InterfaceOwner
	svc.Touch(p.Base())
	svc.activateInterface(p)
	return p, subnetIDs, nil
}

// checkOverlap refuses a subnet that the router already has, or that overlaps its others or those of its external network.
func (svc *Service) checkOverlap(r *Router, s *Subnet) error {
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
		near = append(near, svc.Networks.Get(r.Gateway.NetworkID).Subnets...)
	}
	for _, id := range near {
		if other := svc.Subnets.Get(id); PrefixOf(other).Overlaps(PrefixOf(s)) {
			return badRouter("Cidr %s of subnet %s overlaps with cidr %s of subnet %s", s.CIDR, s.ID, other.CIDR, other.ID)
		}
	}
	return nil
}

func (svc *Service) removeInterface(q *core.Request, r *Router) (core.Reply, error) {
	in, err := interfaceIn(q)
	if err != nil {
		return core.Reply{}, err
	}
	p, subnetIDs, err := svc.findInterface(q, r, in)
	if err != nil {
		return core.Reply{}, err
	}
	for _, id := range subnetIDs {
		if err := svc.checkInterfaceUnused(r, p, id); err != nil {
			return core.Reply{}, err
		}
	}
	gone := core.Without(p.FixedIPs, func(ip FixedIP) bool { return !slices.Contains(subnetIDs, ip.SubnetID) })
	if len(gone) < len(p.FixedIPs) {
		svc.release(gone)
		p.FixedIPs = core.Without(p.FixedIPs, func(ip FixedIP) bool { return slices.Contains(gone, ip) })
		svc.Touch(p.Base())
	} else {
		svc.DropPort(p)
	}
	svc.Touch(r.Base())
	return interfaceReply(r, p, subnetIDs)
}

// findInterface returns a port of a router with the given subnets.
func (svc *Service) findInterface(q *core.Request, r *Router, in interfaceInput) (*Port, []string, error) {
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
	if s := svc.Subnets.Get(in.SubnetID.Value); s == nil || !svc.maySeeSubnet(q.Identity, s) {
		return nil, nil, subnetNotFound(in.SubnetID.Value)
	}
	for _, p := range svc.interfaces(r.ID) {
		if portIn(p, in.SubnetID.Value) {
			return p, []string{in.SubnetID.Value}, nil
		}
	}
	return nil, nil, core.NotFound("RouterInterfaceNotFoundForSubnet", "Router %s has no interface on subnet %s", r.ID, in.SubnetID.Value)
}

// checkInterfaceUnused refuses the removal while floating IPs or extra routes use the subnet.
func (svc *Service) checkInterfaceUnused(r *Router, p *Port, subnetID string) error {
	s := svc.Subnets.Get(subnetID)
	for _, f := range svc.Fips.Rows {
		target := svc.Ports.Get(string(f.PortID))
		if string(f.RouterID) == r.ID && target != nil && portIn(target, subnetID) {
			return core.Conflict("RouterInterfaceInUseByFloatingIP", "Router interface for subnet %s on router %s cannot be deleted, as it is required by one or more floating IPs.", subnetID, r.ID)
		}
	}
	for _, route := range r.Routes {
		if hop, err := netip.ParseAddr(route.NextHop); err == nil && PrefixOf(s).Contains(hop) && portIn(p, subnetID) {
			return core.Conflict("RouterInterfaceInUseByRoute", "Router interface for subnet %s on router %s cannot be deleted, as it is required by one or more routes.", subnetID, r.ID)
		}
	}
	return nil
}
