package fake

import (
	"encoding/json"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

type floatingIPInput struct {
	FloatingNetworkID opt[string] `json:"floating_network_id"`
	FloatingIPAddress opt[string] `json:"floating_ip_address"`
	SubnetID          opt[string] `json:"subnet_id"`
	floatingIPChange
}

type floatingIPChange struct {
	Description    opt[string] `json:"description"`
	PortID         opt[string] `json:"port_id"`
	FixedIPAddress opt[string] `json:"fixed_ip_address"`
}

func (c *Cloud) floatingIPCollection() *collection[FloatingIP] {
	return &collection[FloatingIP]{
		one: "floatingip", many: "floatingips", path: "floatingips", quota: "floatingip",
		rows: c.neutron.fips, std: func(f *FloatingIP) *Standard { return f.standard() },
		missing: func(id string) *wire.Error {
			return notFound("FloatingIPNotFound", "Floating IP %s could not be found", id)
		},
		create: c.createFloatingIP, update: c.updateFloatingIP,
		remove:  func(_ *request, f *FloatingIP) error { c.dropFloatingIP(f); return nil },
		discard: c.dropFloatingIP,
	}
}

func (c *Cloud) createFloatingIP(q *request, projectID string, raw json.RawMessage) (*FloatingIP, error) {
	var in floatingIPInput
	if err := decodeNeutron[FloatingIP](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if !in.FloatingNetworkID.given() {
		return nil, required("floating_network_id")
	}
	n, err := c.readableNetwork(q.identity, in.FloatingNetworkID.v)
	if err != nil {
		return nil, err
	}
	if !n.External {
		return nil, badRequest("BadRequest", "Bad floatingip request: Network %s is not a valid external network.", n.ID)
	}
	if in.FloatingIPAddress.given() && !q.admin() && !c.config.policy.SetFloatingAddress {
		return nil, denied("floatingip", "floating_ip_address")
	}
	f := &FloatingIP{Standard: c.newStandard(projectID, in.Description.v), Status: "DOWN", FloatingNetworkID: n.ID}
	if in.PortID.v != "" {
		if err := c.connect(q, f, &in.floatingIPChange); err != nil {
			return nil, err
		}
	}
	p := c.newPort("", n, ownerFloatingIP, f.ID)
	var ips []FixedIP
	if in.SubnetID.v != "" || in.FloatingIPAddress.v != "" {
		ips, err = c.assign(n, p.ID, p.MACAddress, []fixedIPInput{{SubnetID: in.SubnetID.v, IPAddress: in.FloatingIPAddress.v}})
	} else {
		ips, err = c.floatingAddress(n, p)
	}
	if err != nil {
		return nil, err
	}
	p.FixedIPs = ips
	c.neutron.ports.add(p)
	f.FloatingIPAddress = ips[0].IPAddress
	return c.neutron.fips.add(f), nil
}

// floatingAddress takes an IPv4 address of an external network.
func (c *Cloud) floatingAddress(n *Network, p *Port) ([]FixedIP, error) {
	for _, id := range n.Subnets {
		if s := c.neutron.subnets.get(id); s.IPVersion == 4 {
			if ip, err := c.allocate(s, p.ID, p.MACAddress); err == nil {
				return []FixedIP{ip}, nil
			}
		}
	}
	return nil, conflict("IpAddressGenerationFailure", "No more IP addresses available on network %s.", n.ID)
}

func (c *Cloud) updateFloatingIP(q *request, f *FloatingIP, raw json.RawMessage) error {
	var in floatingIPChange
	if err := decodeNeutron[FloatingIP](raw, &in, http.MethodPut); err != nil {
		return err
	}
	if in.PortID.set {
		changed := *f
		c.disconnect(&changed)
		if in.PortID.v != "" {
			if err := c.connect(q, &changed, &in); err != nil {
				return err
			}
		}
		*f = changed
	}
	in.Description.into(&f.Description)
	return nil
}

// connect leads a floating IP to an address of a port, through the router between them.
func (c *Cloud) connect(q *request, f *FloatingIP, in *floatingIPChange) error {
	p := c.neutron.ports.get(in.PortID.v)
	if p == nil || !q.owns(p.ProjectID) {
		return portNotFound(in.PortID.v)
	}
	var target *FixedIP
	for _, ip := range p.FixedIPs {
		if addrOf(ip.IPAddress).Is4() && (in.FixedIPAddress.v == "" || in.FixedIPAddress.v == ip.IPAddress) {
			target = &ip
			break
		}
	}
	if target == nil {
		return badRequest("BadRequest", "Bad floatingip request: Cannot add floating IP to port %s that has no fixed IPv4 addresses.", p.ID)
	}
	taken := c.neutron.fips.first(func(o *FloatingIP) bool {
		return o.ID != f.ID && string(o.PortID) == p.ID && string(o.FixedIPAddress) == target.IPAddress
	})
	if taken != nil {
		return conflict("FloatingIPPortAlreadyAssociated", "Cannot associate floating IP %s (%s) with port %s using fixed IP %s, as that fixed IP already has a floating IP on external network %s.", f.FloatingIPAddress, f.ID, p.ID, target.IPAddress, f.FloatingNetworkID)
	}
	r := c.routerBetween(target.SubnetID, f.FloatingNetworkID)
	if r == nil {
		return notFound("ExternalGatewayForFloatingIPNotFound", "External network %s is not reachable from subnet %s.  Therefore, cannot associate Port %s with a Floating IP.", f.FloatingNetworkID, target.SubnetID, p.ID)
	}
	f.PortID, f.FixedIPAddress, f.RouterID, f.Status = Null(p.ID), Null(target.IPAddress), Null(r.ID), "ACTIVE"
	return nil
}

// routerBetween is a router that joins a subnet with an external network, or nil.
func (c *Cloud) routerBetween(subnetID, networkID string) *Router {
	return c.neutron.routers.first(func(r *Router) bool {
		if r.Gateway == nil || r.Gateway.NetworkID != networkID {
			return false
		}
		for _, p := range c.interfaces(r.ID) {
			if portIn(p, subnetID) {
				return true
			}
		}
		return false
	})
}

func (c *Cloud) disconnect(f *FloatingIP) {
	f.PortID, f.FixedIPAddress, f.RouterID, f.Status = "", "", "", "DOWN"
}

func (c *Cloud) dropFloatingIP(f *FloatingIP) {
	c.neutron.fips.remove(f.ID)
	if p := c.neutron.ports.first(func(p *Port) bool { return p.DeviceOwner == ownerFloatingIP && p.DeviceID == f.ID }); p != nil {
		c.dropPort(p)
	}
}
