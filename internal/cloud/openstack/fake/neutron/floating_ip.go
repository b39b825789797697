package neutron

import (
	"encoding/json"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

type floatingIPInput struct {
	FloatingNetworkID core.Opt[string] `json:"floating_network_id"`
	FloatingIPAddress core.Opt[string] `json:"floating_ip_address"`
	SubnetID          core.Opt[string] `json:"subnet_id"`
	floatingIPChange
}

type floatingIPChange struct {
	Description    core.Opt[string] `json:"description"`
	PortID         core.Opt[string] `json:"port_id"`
	FixedIPAddress core.Opt[string] `json:"fixed_ip_address"`
}

func (svc *Service) floatingIPCollection() *collection[FloatingIP] {
	return &collection[FloatingIP]{
		singular: "floatingip", plural: "floatingips", path: "floatingips", quota: "floatingip",
		rows: svc.Fips, std: func(f *FloatingIP) *Standard { return f.Base() },
		missing: func(id string) *wire.Error {
			return core.NotFound("FloatingIPNotFound", "Floating IP %s could not be found", id)
		},
		create: svc.createFloatingIP, update: svc.updateFloatingIP,
		remove:  func(_ *core.Request, f *FloatingIP) error { svc.dropFloatingIP(f); return nil },
		discard: svc.dropFloatingIP,
	}
}

func (svc *Service) createFloatingIP(q *core.Request, projectID string, raw json.RawMessage) (*FloatingIP, error) {
	var in floatingIPInput
	if err := decodeNeutron[FloatingIP](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if !in.FloatingNetworkID.Given() {
		return nil, required("floating_network_id")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.FloatingIPAddress.Given() && !q.Admin() && !svc.Config.Policy.SetFloatingAddress {
		return nil, denied("create", "floatingip", "floating_ip_address")
	}
	n, err := svc.ReadableNetwork(q.Identity, in.FloatingNetworkID.Value)
	if err != nil {
		return nil, err
	}
	if !n.External {
		return nil, badFloatingIP("Network %s is not a valid external network", n.ID)
	}
	f := &FloatingIP{Standard: svc.newStandard(projectID, in.Description.Value), Status: "DOWN", FloatingNetworkID: n.ID}
	p := svc.NewPort("", n, ownerFloatingIP, f.ID)
	p.Status = "N/A"
	if in.SubnetID.Value != "" || in.FloatingIPAddress.Value != "" {
		p.FixedIPs, err = svc.Assign(n, p.ID, p.MACAddress, []FixedIPInput{{SubnetID: in.SubnetID.Value, IPAddress: in.FloatingIPAddress.Value}})
	} else {
		p.FixedIPs, err = svc.floatingAddress(n, p)
	}
	if err != nil {
		return nil, err
	}
	f.FloatingIPAddress = p.FixedIPs[0].IPAddress
	if err := svc.associate(q, f, &in.floatingIPChange); err != nil {
		svc.release(p.FixedIPs)
		return nil, err
	}
	svc.Ports.Add(p)
	return svc.Fips.Add(f), nil
}

func badFloatingIP(format string, args ...any) error {
	return core.BadRequest("BadRequest", "Bad floatingip request: "+format+".", args...)
}

func (in *floatingIPInput) check() error {
	if err := checkID("floating_network_id", in.FloatingNetworkID); err != nil {
		return err
	}
	if in.SubnetID.Given() {
		if err := checkID("subnet_id", in.SubnetID); err != nil {
			return err
		}
	}
	return in.floatingIPChange.check()
}

func (in *floatingIPChange) check() error {
	if !in.PortID.Given() {
		return nil
	}
	return checkID("port_id", in.PortID)
}

// floatingAddress allocates an IPv4 address of an external network.
func (svc *Service) floatingAddress(n *Network, p *Port) ([]FixedIP, error) {
	for _, id := range n.Subnets {
		if s := svc.Subnets.Get(id); s.IPVersion == 4 {
			if ip, err := svc.allocate(s, p.ID, p.MACAddress); err == nil {
				return []FixedIP{ip}, nil
			}
		}
	}
	return nil, core.Conflict("IpAddressGenerationFailure", "No more IP addresses available on network %s.", n.ID)
}

// updateFloatingIP keeps the port if the change does not contain it; an empty change removes it.
func (svc *Service) updateFloatingIP(q *core.Request, f *FloatingIP, raw json.RawMessage) error {
	var in floatingIPChange
	if err := decodeNeutron[FloatingIP](raw, &in, http.MethodPut); err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	if in.PortID.Set || in.FixedIPAddress.Given() || !in.Description.Set {
		changed := *f
		svc.disconnect(&changed)
		if err := svc.associate(q, &changed, &in); err != nil {
			return err
		}
		*f = changed
	}
	in.Description.Into(&f.Description)
	return nil
}

// associate connects a floating IP with what a request names, if anything.
func (svc *Service) associate(q *core.Request, f *FloatingIP, in *floatingIPChange) error {
	if in.PortID.Value == "" {
		if in.FixedIPAddress.Value != "" {
			return badFloatingIP("fixed_ip_address cannot be specified without a port_id")
		}
		return nil
	}
	p := svc.Ports.Get(in.PortID.Value)
	if p == nil || !q.Owns(p.ProjectID) {
		return portNotFound(in.PortID.Value)
	}
	target, err := targetOf(p, in.FixedIPAddress.Value)
	if err != nil {
		return err
	}
	r := svc.routerBetween(target.SubnetID, f.FloatingNetworkID)
	if r == nil {
		return core.NotFound("ExternalGatewayForFloatingIPNotFound", "External network %s is not reachable from subnet %s.  Therefore, cannot associate Port %s with a Floating IP.", f.FloatingNetworkID, target.SubnetID, p.ID)
	}
	taken := svc.Fips.First(func(o *FloatingIP) bool {
		return o.ID != f.ID && string(o.PortID) == p.ID && string(o.FixedIPAddress) == target.IPAddress && o.FloatingNetworkID == f.FloatingNetworkID
	})
	if taken != nil {
		return core.Conflict("FloatingIPPortAlreadyAssociated", "Cannot associate floating IP %s (%s) with port %s using fixed IP %s, as that fixed IP already has a floating IP on external network %s.", f.FloatingIPAddress, f.ID, p.ID, target.IPAddress, f.FloatingNetworkID)
	}
	f.PortID, f.FixedIPAddress, f.RouterID, f.Status = core.Null(p.ID), core.Null(target.IPAddress), core.Null(r.ID), "ACTIVE"
	return nil
}

// targetOf is the IPv4 address of the port, which must be named if there are several.
func targetOf(p *Port, address string) (FixedIP, error) {
	var candidates []FixedIP
	for _, ip := range p.FixedIPs {
		if AddrOf(ip.IPAddress).Is4() && (address == "" || address == ip.IPAddress) {
			candidates = append(candidates, ip)
		}
	}
	switch {
	case len(candidates) == 1:
		return candidates[0], nil
	case len(candidates) > 1:
		return FixedIP{}, badFloatingIP("Port %s has multiple fixed IPv4 addresses.  Must provide a specific IPv4 address when assigning a floating IP", p.ID)
	case address != "":
		return FixedIP{}, badFloatingIP("Port %s does not have fixed ip %s", p.ID, address)
	default:
		return FixedIP{}, badFloatingIP("Cannot add floating IP to port %s that has no fixed IPv4 addresses", p.ID)
	}
}

// routerBetween is a router that connects a subnet with an external network, or nil.
func (svc *Service) routerBetween(subnetID, networkID string) *Router {
	return svc.Routers.First(func(r *Router) bool {
		if r.Gateway == nil || r.Gateway.NetworkID != networkID {
			return false
		}
		for _, p := range svc.interfaces(r.ID) {
			if portIn(p, subnetID) {
				return true
			}
		}
		return false
	})
}

func (svc *Service) disconnect(f *FloatingIP) {
	f.PortID, f.FixedIPAddress, f.RouterID, f.Status = "", "", "", "DOWN"
}

func (svc *Service) dropFloatingIP(f *FloatingIP) {
	svc.Fips.Remove(f.ID)
	if p := svc.Ports.First(func(p *Port) bool { return p.DeviceOwner == ownerFloatingIP && p.DeviceID == f.ID }); p != nil {
		svc.DropPort(p)
	}
}
