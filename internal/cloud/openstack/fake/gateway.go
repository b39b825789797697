package fake

import "slices"

type gatewayInput struct {
	NetworkID        string              `json:"network_id"`
	EnableSNAT       opt[bool]           `json:"enable_snat"`
	ExternalFixedIPs opt[[]fixedIPInput] `json:"external_fixed_ips"`
	QoSPolicyID      opt[string]         `json:"qos_policy_id"`
}

// setGateway connects a router to an external network, changes the connection, or (null) cuts it.
func (c *Cloud) setGateway(q *request, r *Router, in opt[gatewayInput]) error {
	if in.null || in.v.NetworkID == "" {
		if err := c.checkGatewayUnused(r); err != nil {
			return err
		}
		c.clearGateway(r)
		return nil
	}
	if err := c.gatewayPolicy(q, &in.v); err != nil {
		return err
	}
	network, err := c.readableNetwork(q.identity, in.v.NetworkID)
	if err != nil {
		return err
	}
	if !network.External {
		return badRequest("BadRequest", "Bad router request: Network %s is not an external network.", network.ID)
	}
	// Neutron falls back to its own default when enable_snat is not sent, also in an update.
	snat := in.v.EnableSNAT.or(true)
	if r.Gateway != nil && r.Gateway.NetworkID == network.ID && !in.v.ExternalFixedIPs.given() {
		changed := *r.Gateway
		changed.EnableSNAT = snat
		r.Gateway = &changed
		return nil
	}
	if r.Gateway != nil && r.Gateway.NetworkID != network.ID {
		if err := c.checkGatewayUnused(r); err != nil {
			return err
		}
	}
	return c.connectGateway(r, network, in.v.ExternalFixedIPs.v, snat)
}

// gatewayPolicy refuses what only administrators may choose.
func (c *Cloud) gatewayPolicy(q *request, in *gatewayInput) error {
	if q.admin() {
		return nil
	}
	policy := c.config.policy
	if in.EnableSNAT.given() && !policy.SetSNAT {
		return denied("router:external_gateway_info", "enable_snat")
	}
	for _, ip := range in.ExternalFixedIPs.v {
		allowed := policy.SetGatewaySubnet
		if ip.IPAddress != "" {
			allowed = policy.SetGatewayAddress
		}
		if !allowed {
			return denied("router:external_gateway_info", "external_fixed_ips")
		}
	}
	return nil
}

// connectGateway makes the gateway port, with its new addresses before the old ones are given back.
func (c *Cloud) connectGateway(r *Router, n *Network, wanted []fixedIPInput, snat bool) error {
	p := c.newPort("", n, ownerGateway, r.ID)
	ips, err := c.regain(r, n, p.ID, p.MACAddress, wanted)
	if err != nil {
		return err
	}
	c.clearGateway(r)
	p.FixedIPs, p.Status = ips, "ACTIVE"
	c.neutron.ports.add(p)
	r.Gateway = &GatewayInfo{NetworkID: n.ID, EnableSNAT: snat, ExternalFixedIPs: slices.Clone(ips)}
	return nil
}

// regain assigns the addresses of a gateway. Those that the router has already may be asked for again.
func (c *Cloud) regain(r *Router, n *Network, portID, mac string, wanted []fixedIPInput) ([]FixedIP, error) {
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
