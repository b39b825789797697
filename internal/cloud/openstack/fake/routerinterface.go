package fake

import (
	"encoding/json"
	"net/netip"
	"slices"
)

func (c *Cloud) registerRouterActions(e endpoint) {
	k := c.routerCollection()
	action := func(name string, do func(q *request, r *Router) (reply, error)) {
		c.route(e, "PUT /v2.0/routers/{id}/"+name, func(q *request) (reply, error) {
			r, err := k.findOwn(q)
			if err != nil {
				return reply{}, err
			}
			return do(q, r)
		})
	}
	action("add_router_interface", c.addInterface)
	action("remove_router_interface", c.removeInterface)
	action("add_extraroutes", func(q *request, r *Router) (reply, error) {
		return c.changeRoutes(q, r, func(have, sent []HostRoute) []HostRoute {
			return with(have, without(sent, func(s HostRoute) bool { return slices.Contains(have, s) })...)
		})
	})
	action("remove_extraroutes", func(q *request, r *Router) (reply, error) {
		return c.changeRoutes(q, r, func(have, sent []HostRoute) []HostRoute {
			return without(have, func(h HostRoute) bool { return slices.Contains(sent, h) })
		})
	})
}

// changeRoutes implements the extension extraroute-atomic.
func (c *Cloud) changeRoutes(q *request, r *Router, change func(have, sent []HostRoute) []HostRoute) (reply, error) {
	var in struct {
		Router struct {
			Routes []HostRoute `json:"routes"`
		} `json:"router"`
	}
	if json.Unmarshal(q.body, &in) != nil {
		return reply{}, badRequest("HTTPBadRequest", "Unable to find 'router' in request body")
	}
	routes := change(r.Routes, in.Router.Routes)
	if err := c.checkRoutes(r, routes); err != nil {
		return reply{}, err
	}
	r.Routes = routes
	c.touch(r.standard())
	return ok(map[string]any{"router": *r})
}

type interfaceInput struct {
	SubnetID string `json:"subnet_id"`
	PortID   string `json:"port_id"`
}

func (c *Cloud) addInterface(q *request, r *Router) (reply, error) {
	var in interfaceInput
	if json.Unmarshal(q.body, &in) != nil || in.SubnetID == "" && in.PortID == "" {
		return reply{}, badRequest("BadRequest", "Bad router request: Either subnet_id or port_id must be specified.")
	}
	if in.SubnetID != "" && in.PortID != "" {
		return reply{}, badRequest("BadRequest", "Bad router request: Cannot specify both subnet-id and port-id.")
	}
	connect := c.connectSubnet
	if in.PortID != "" {
		connect = c.connectPort
	}
	p, subnetID, err := connect(q, r, in)
	if err != nil {
		return reply{}, err
	}
	c.touch(r.standard())
	return interfaceReply(r, p, subnetID)
}

func interfaceReply(r *Router, p *Port, subnetID string) (reply, error) {
	return ok(map[string]any{
		"id": r.ID, "tenant_id": r.TenantID, "project_id": r.ProjectID, "port_id": p.ID, "network_id": p.NetworkID,
		"subnet_id": subnetID, "subnet_ids": []string{subnetID}, "tags": r.Tags,
	})
}

// connectSubnet gives the router a port with the subnet's gateway address. IPv6 subnets of one network share a port.
func (c *Cloud) connectSubnet(q *request, r *Router, in interfaceInput) (*Port, string, error) {
	s := c.neutron.subnets.get(in.SubnetID)
	if s == nil {
		return nil, "", subnetNotFound(in.SubnetID)
	}
	n, err := c.readableNetwork(q.identity, s.NetworkID)
	if err != nil {
		return nil, "", subnetNotFound(in.SubnetID)
	}
	if !q.owns(n.ProjectID) && !n.Shared {
		return nil, "", badRequest("BadRequest", "Bad router request: Subnet %s is not owned by the project.", s.ID)
	}
	if s.GatewayIP == "" {
		return nil, "", badRequest("BadRequest", "Bad router request: Subnet for router interface must have a gateway IP.")
	}
	if err := c.checkOverlap(r, s); err != nil {
		return nil, "", err
	}
	gateway := FixedIP{SubnetID: s.ID, IPAddress: string(s.GatewayIP)}
	if s.IPVersion == 6 {
		if p := c.ipv6Interface(r, n.ID); p != nil {
			if err := c.claim(s, addrOf(gateway.IPAddress), p.ID); err != nil {
				return nil, "", err
			}
			p.FixedIPs = with(p.FixedIPs, gateway)
			c.touch(p.standard())
			return p, s.ID, nil
		}
	}
	p := c.newPort(r.ProjectID, n, c.config.interfaceOwner, r.ID)
	if err := c.claim(s, addrOf(gateway.IPAddress), p.ID); err != nil {
		return nil, "", err
	}
	p.FixedIPs = []FixedIP{gateway}
	c.neutron.ports.add(p)
	c.activateInterface(p)
	return p, s.ID, nil
}

// ipv6Interface is the router's port on the network that carries IPv6 addresses, or nil.
func (c *Cloud) ipv6Interface(r *Router, networkID string) *Port {
	for _, p := range c.interfaces(r.ID) {
		if p.NetworkID == networkID && len(p.FixedIPs) > 0 && addrOf(p.FixedIPs[0].IPAddress).Is6() {
			return p
		}
	}
	return nil
}

func (c *Cloud) activateInterface(p *Port) {
	p.Status = "DOWN"
	c.begin(RouterInterface, p.ID, func(failed bool) {
		if !failed {
			p.Status = "ACTIVE"
		}
	})
}

// connectPort makes an existing port the router's.
func (c *Cloud) connectPort(q *request, r *Router, in interfaceInput) (*Port, string, error) {
	p := c.neutron.ports.get(in.PortID)
	if p == nil || !q.owns(p.ProjectID) {
		return nil, "", portNotFound(in.PortID)
	}
	if p.DeviceID != "" {
		return nil, "", conflict("PortInUse", "Unable to complete operation on port %s for network %s. Port already has an attached device %s.", p.ID, p.NetworkID, p.DeviceID)
	}
	if len(p.FixedIPs) == 0 {
		return nil, "", badRequest("BadRequest", "Bad router request: Router port must have at least one fixed IP.")
	}
	for _, ip := range p.FixedIPs {
		if err := c.checkOverlap(r, c.neutron.subnets.get(ip.SubnetID)); err != nil {
			return nil, "", err
		}
	}
	p.DeviceID, p.DeviceOwner = r.ID, c.config.interfaceOwner
	p.SecurityGroups = []string{}
	c.touch(p.standard())
	c.activateInterface(p)
	return p, p.FixedIPs[0].SubnetID, nil
}

// checkOverlap refuses a subnet that the router has already, or that overlaps one it has.
func (c *Cloud) checkOverlap(r *Router, s *Subnet) error {
	for _, p := range c.interfaces(r.ID) {
		for _, ip := range p.FixedIPs {
			if ip.SubnetID == s.ID {
				return badRequest("BadRequest", "Bad router request: Router already has a port on subnet %s.", s.ID)
			}
			if other := c.neutron.subnets.get(ip.SubnetID); prefixOf(other).Overlaps(prefixOf(s)) {
				return badRequest("BadRequest", "Bad router request: Cidr %s of subnet %s overlaps with cidr %s of subnet %s.", s.CIDR, s.ID, other.CIDR, other.ID)
			}
		}
	}
	return nil
}

func (c *Cloud) removeInterface(q *request, r *Router) (reply, error) {
	var in interfaceInput
	if json.Unmarshal(q.body, &in) != nil || in.SubnetID == "" && in.PortID == "" {
		return reply{}, badRequest("BadRequest", "Bad router request: Either subnet_id or port_id must be specified.")
	}
	p, subnetID, err := c.findInterface(r, in)
	if err != nil {
		return reply{}, err
	}
	if err := c.checkInterfaceUnused(r, p, subnetID); err != nil {
		return reply{}, err
	}
	if in.PortID == "" && len(p.FixedIPs) > 1 {
		gone := func(ip FixedIP) bool { return ip.SubnetID == subnetID }
		c.release(without(p.FixedIPs, func(ip FixedIP) bool { return !gone(ip) }))
		p.FixedIPs = without(p.FixedIPs, gone)
		c.touch(p.standard())
	} else {
		c.dropPort(p)
	}
	c.touch(r.standard())
	return interfaceReply(r, p, subnetID)
}

func (c *Cloud) findInterface(r *Router, in interfaceInput) (*Port, string, error) {
	if in.PortID != "" {
		for _, p := range c.interfaces(r.ID) {
			if p.ID == in.PortID {
				if in.SubnetID != "" && !portIn(p, in.SubnetID) {
					return nil, "", conflict("SubnetMismatchForPort", "Subnet on port %s does not match the requested subnet %s.", p.ID, in.SubnetID)
				}
				return p, p.FixedIPs[0].SubnetID, nil
			}
		}
		return nil, "", notFound("RouterInterfaceNotFound", "Router %s does not have an interface with id %s", r.ID, in.PortID)
	}
	if c.neutron.subnets.get(in.SubnetID) == nil {
		return nil, "", subnetNotFound(in.SubnetID)
	}
	for _, p := range c.interfaces(r.ID) {
		if portIn(p, in.SubnetID) {
			return p, in.SubnetID, nil
		}
	}
	return nil, "", notFound("RouterInterfaceNotFoundForSubnet", "Router %s has no interface on subnet %s", r.ID, in.SubnetID)
}

// checkInterfaceUnused refuses while floating IPs or extra routes go through the subnet.
func (c *Cloud) checkInterfaceUnused(r *Router, p *Port, subnetID string) error {
	s := c.neutron.subnets.get(subnetID)
	for _, f := range c.neutron.fips.rows {
		target := c.neutron.ports.get(string(f.PortID))
		if string(f.RouterID) == r.ID && target != nil && portIn(target, subnetID) {
			return conflict("RouterInterfaceInUseByFloatingIP", "Router interface for subnet %s on router %s cannot be deleted, as it is required by one or more floating IPs.", subnetID, r.ID)
		}
	}
	for _, route := range r.Routes {
		if hop, err := netip.ParseAddr(route.NextHop); err == nil && prefixOf(s).Contains(hop) && portIn(p, subnetID) {
			return conflict("RouterInterfaceInUseByRoute", "Router interface for subnet %s on router %s cannot be deleted, as it is required by one or more routes.", subnetID, r.ID)
		}
	}
	return nil
}
