package fake

import (
	"slices"
	"strings"
)

type gatewayInput struct {
	NetworkID        opt[string]         `json:"network_id"`
	EnableSNAT       opt[bool]           `json:"enable_snat"`
	ExternalFixedIPs opt[[]fixedIPInput] `json:"external_fixed_ips"`
	QoSPolicyID      opt[string]         `json:"qos_policy_id"`
}

// given are the attributes that were sent.
func (in *gatewayInput) given() []string {
	var names []string
	for _, attribute := range []struct {
		name string
		set  bool
	}{
		{"network_id", in.NetworkID.set},
		{"enable_snat", in.EnableSNAT.set},
		{"external_fixed_ips", in.ExternalFixedIPs.set},
		{"qos_policy_id", in.QoSPolicyID.set},
	} {
		if attribute.set {
			names = append(names, attribute.name)
		}
	}
	return names
}

// check checks the input by itself.
func (in *gatewayInput) check() error {
	if !in.NetworkID.set {
		return badValue("external_gateway_info", "Validation of dictionary's keys failed. Expected keys: {'network_id'} Provided keys: {'%s'}",
			strings.Join(in.given(), "', '"))
	}
	return checkID("external_gateway_info", in.NetworkID)
}

// setGateway connects a router to an external network, changes the connection, or (null or empty) cuts it.
func (c *Cloud) setGateway(q *request, r *Router, in opt[gatewayInput]) error {
	if in.null || len(in.v.given()) == 0 {
		if err := c.checkGatewayUnused(r); err != nil {
			return err
		}
		c.clearGateway(r)
		return nil
	}
	if err := in.v.check(); err != nil {
		return err
	}
	if err := c.gatewayPolicy(q, &in.v); err != nil {
		return err
	}
	network, err := c.externalNetwork(q, in.v.NetworkID.v)
	if err != nil {
		return err
	}
	// Neutron falls back to its own default when enable_snat is not sent, also in an update.
	snat := in.v.EnableSNAT.or(true)
	if r.Gateway != nil && r.Gateway.NetworkID == network.ID && len(in.v.ExternalFixedIPs.v) == 0 {
		changed := *r.Gateway
		changed.EnableSNAT = snat
		r.Gateway = &changed
		return nil
	}
	if r.Gateway == nil || r.Gateway.NetworkID != network.ID {
		if err := c.checkGatewayUnused(r); err != nil {
			return err
		}
		for _, id := range network.Subnets {
			if err := c.checkOverlap(r, c.neutron.subnets.get(id)); err != nil {
				return err
			}
		}
	}
	return c.connectGateway(r, network, in.v.ExternalFixedIPs.v, snat)
}

// externalNetwork is the network to which a gateway shall lead.
func (c *Cloud) externalNetwork(q *request, id string) (*Network, error) {
	n, err := c.readableNetwork(q.identity, id)
	if err == nil && !n.External {
		return nil, badRouter("Network %s is not an external network", n.ID)
	}
	return n, err
}

// connectGateway makes the gateway port, with its new addresses before the old ones are given back.
func (c *Cloud) connectGateway(r *Router, n *Network, wanted []fixedIPInput, snat bool) error {
	p := c.newPort("", n, ownerGateway, r.ID)
	ips, err := c.reassignGateway(r, n, p.ID, p.MACAddress, wanted)
	if err != nil {
		return err
	}
	c.clearGateway(r)
	p.FixedIPs, p.Status = ips, "ACTIVE"
	c.neutron.ports.add(p)
	r.Gateway = &GatewayInfo{NetworkID: n.ID, EnableSNAT: snat, ExternalFixedIPs: slices.Clone(ips)}
	return nil
}

// reassignGateway assigns the addresses of a gateway. Those that the router has already may be asked for again.
func (c *Cloud) reassignGateway(r *Router, n *Network, portID, mac string, wanted []fixedIPInput) ([]FixedIP, error) {
	if len(wanted) == 0 {
		return c.allocateAny(n, portID, mac)
	}
	var kept []FixedIP
	old := c.gatewayPort(r.ID)
	if r.Gateway != nil {
		for _, ip := range r.Gateway.ExternalFixedIPs {
			if slices.ContainsFunc(wanted, func(w fixedIPInput) bool { return w.IPAddress == ip.IPAddress }) {
				kept = append(kept, ip)
			}
		}
	}
	c.release(kept)
	ips, err := c.assign(n, portID, mac, wanted)
	if err != nil {
		for _, ip := range kept {
			c.neutron.used[ip.SubnetID][addrOf(ip.IPAddress)] = old.ID
		}
		return nil, err
	}
	if old != nil { // what was taken over must outlive the old port
		old.FixedIPs = without(old.FixedIPs, func(ip FixedIP) bool { return slices.Contains(kept, ip) })
	}
	return ips, nil
}

func (c *Cloud) clearGateway(r *Router) {
	if p := c.gatewayPort(r.ID); p != nil {
		c.dropPort(p)
	}
	r.Gateway = nil
}

// checkGatewayUnused refuses to cut a gateway that floating IPs need.
func (c *Cloud) checkGatewayUnused(r *Router) error {
	if r.Gateway == nil || c.neutron.fips.first(func(f *FloatingIP) bool { return string(f.RouterID) == r.ID }) == nil {
		return nil
	}
	return conflict("RouterExternalGatewayInUseByFloatingIp", "Gateway cannot be updated for router %s, since a gateway to external network %s is required by one or more floating IPs.", r.ID, r.Gateway.NetworkID)
}
