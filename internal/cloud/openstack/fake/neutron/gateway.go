package neutron

import (
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

type gatewayInput struct {
	NetworkID        core.Opt[string]         `json:"network_id"`
	EnableSNAT       core.Opt[bool]           `json:"enable_snat"`
	ExternalFixedIPs core.Opt[[]FixedIPInput] `json:"external_fixed_ips"`
	QoSPolicyID      core.Opt[string]         `json:"qos_policy_id"`
}

// given are the attributes in the request.
func (in *gatewayInput) given() []string {
	var names []string
	for _, attribute := range []struct {
		name string
		set  bool
	}{
		{"network_id", in.NetworkID.Set},
		{"enable_snat", in.EnableSNAT.Set},
		{"external_fixed_ips", in.ExternalFixedIPs.Set},
		{"qos_policy_id", in.QoSPolicyID.Set},
	} {
		if attribute.set {
			names = append(names, attribute.name)
		}
	}
	return names
}

// check validates the input on its own.
func (in *gatewayInput) check() error {
	if !in.NetworkID.Set {
		return badValue("external_gateway_info", "Validation of dictionary's keys failed. Expected keys: {'network_id'} Provided keys: {'%s'}",
			strings.Join(in.given(), "', '"))
	}
	return checkID("external_gateway_info", in.NetworkID)
}

// setGateway connects a router to an external network, changes the connection, or (null or empty) removes it.
func (svc *Service) setGateway(q *core.Request, r *Router, in core.Opt[gatewayInput]) error {
	if in.Null || len(in.Value.given()) == 0 {
		if err := svc.checkGatewayUnused(r); err != nil {
			return err
		}
		svc.clearGateway(r)
		return nil
	}
	if err := in.Value.check(); err != nil {
		return err
	}
	if err := svc.gatewayPolicy(q, &in.Value); err != nil {
		return err
	}
	network, err := svc.externalNetwork(q, in.Value.NetworkID.Value)
	if err != nil {
		return err
	}
	// Without enable_snat in the request, also in an update, Neutron uses its default.
	snat := in.Value.EnableSNAT.Or(true)
	if r.Gateway != nil && r.Gateway.NetworkID == network.ID && len(in.Value.ExternalFixedIPs.Value) == 0 {
		changed := *r.Gateway
		changed.EnableSNAT = snat
		r.Gateway = &changed
		return nil
	}
	if r.Gateway == nil || r.Gateway.NetworkID != network.ID {
		if err := svc.checkGatewayUnused(r); err != nil {
			return err
		}
		for _, id := range network.Subnets {
			if err := svc.checkOverlap(r, svc.Subnets.Get(id)); err != nil {
				return err
			}
		}
	}
	return svc.connectGateway(r, network, in.Value.ExternalFixedIPs.Value, snat)
}

// externalNetwork is the network of the requested gateway.
func (svc *Service) externalNetwork(q *core.Request, id string) (*Network, error) {
	n, err := svc.ReadableNetwork(q.Identity, id)
	if err == nil && !n.External {
		return nil, badRouter("Network %s is not an external network", n.ID)
	}
	return n, err
}

// connectGateway creates the gateway port; its new addresses are allocated before the old ones are released.
func (svc *Service) connectGateway(r *Router, n *Network, wanted []FixedIPInput, snat bool) error {
	p := svc.NewPort("", n, ownerGateway, r.ID)
	ips, err := svc.reassignGateway(r, n, p.ID, p.MACAddress, wanted)
	if err != nil {
		return err
	}
	svc.clearGateway(r)
	p.FixedIPs, p.Status = ips, "ACTIVE"
	svc.Ports.Add(p)
	r.Gateway = &GatewayInfo{NetworkID: n.ID, EnableSNAT: snat, ExternalFixedIPs: slices.Clone(ips)}
	return nil
}

// reassignGateway assigns the addresses of a gateway. The router's present addresses may be requested again.
func (svc *Service) reassignGateway(r *Router, n *Network, portID, mac string, wanted []FixedIPInput) ([]FixedIP, error) {
	if len(wanted) == 0 {
		return svc.AllocateAny(n, portID, mac)
	}
	var kept []FixedIP
	old := svc.gatewayPort(r.ID)
	if r.Gateway != nil {
		for _, ip := range r.Gateway.ExternalFixedIPs {
			if slices.ContainsFunc(wanted, func(w FixedIPInput) bool { return w.IPAddress == ip.IPAddress }) {
				kept = append(kept, ip)
			}
		}
	}
	svc.release(kept)
	ips, err := svc.Assign(n, portID, mac, wanted)
	if err != nil {
		for _, ip := range kept {
			svc.Used[ip.SubnetID][AddrOf(ip.IPAddress)] = old.ID
		}
		return nil, err
	}
	if old != nil { // what was taken over must outlive the old port
		old.FixedIPs = core.Without(old.FixedIPs, func(ip FixedIP) bool { return slices.Contains(kept, ip) })
	}
	return ips, nil
}

func (svc *Service) clearGateway(r *Router) {
	if p := svc.gatewayPort(r.ID); p != nil {
		svc.DropPort(p)
	}
	r.Gateway = nil
}

// checkGatewayUnused refuses to remove a gateway that floating IPs need.
func (svc *Service) checkGatewayUnused(r *Router) error {
	if r.Gateway == nil || svc.Fips.First(func(f *FloatingIP) bool { return string(f.RouterID) == r.ID }) == nil {
		return nil
	}
	return core.Conflict("RouterExternalGatewayInUseByFloatingIp", "Gateway cannot be updated for router %s, since a gateway to external network %s is required by one or more floating IPs.", r.ID, r.Gateway.NetworkID)
}
