package nova

import (
	"encoding/json"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
)

// registerInterfaces serves the ports of servers, which are attached and detached at once.
func (svc *Service) registerInterfaces(on serverPart) {
	const base = "/servers/{id}/os-interface"
	on("GET "+base, func(_ *core.Request, s *Server) (core.Reply, error) {
		out := []any{}
		for _, p := range svc.serverPorts(s.ID) {
			out = append(out, interfaceView(p))
		}
		return core.OK(map[string]any{"interfaceAttachments": out})
	})
	on("GET "+base+"/{port}", func(q *core.Request, s *Server) (core.Reply, error) {
		p := svc.neutron.Ports.Get(q.Path("port"))
		if p == nil || p.DeviceID != s.ID {
			return core.Reply{}, core.NotFound("", "Instance %s does not have a port with id %s", s.ID, q.Path("port"))
		}
		return core.OK(map[string]any{"interfaceAttachment": interfaceView(p)})
	})
	on("POST "+base, svc.attachInterface)
	on("DELETE "+base+"/{port}", func(q *core.Request, s *Server) (core.Reply, error) {
		// Nova looks the port up later, and reports nothing then.
		if p := svc.neutron.Ports.Get(q.Path("port")); p != nil && p.DeviceID == s.ID {
			svc.detachPort(s, p)
		}
		return core.Accepted(nil)
	})
}

func interfaceView(p *neutron.Port) map[string]any {
	addresses := []any{}
	for _, ip := range p.FixedIPs {
		addresses = append(addresses, map[string]any{"ip_address": ip.IPAddress, "subnet_id": ip.SubnetID})
	}
	return map[string]any{
		"port_id": p.ID, "net_id": p.NetworkID, "mac_addr": p.MACAddress, "port_state": p.Status, "fixed_ips": addresses,
	}
}

func (svc *Service) attachInterface(q *core.Request, s *Server) (core.Reply, error) {
	address := schema.Object([]string{"ip_address"}, schema.Attribute("ip_address", schema.HasType("string")))
	rule := schema.Object(nil, schema.Attribute("interfaceAttachment", schema.Object(nil, schema.Attribute("net_id", schema.UUID), schema.Attribute("port_id", schema.UUID), schema.Attribute("fixed_ips", schema.ArrayOf(address)))))
	if err := schema.Validate(q.Body, rule); err != nil {
		return core.Reply{}, err
	}
	var in struct {
		NetID    string            `json:"net_id"`
		PortID   string            `json:"port_id"`
		FixedIPs []neutron.FixedIP `json:"fixed_ips"`
	}
	if raw, found := core.Unwrap(q.Body, "interfaceAttachment"); found && json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	wanted := serverNetwork{UUID: in.NetID, Port: in.PortID}
	switch {
	case in.NetID != "" && in.PortID != "":
		return core.Reply{}, core.BadRequest("", "Must not input both network_id and port_id")
	case in.NetID == "" && in.PortID == "":
		return core.Reply{}, core.BadRequest("", "Failed to attach network adapter device to %s", s.ID)
	case in.PortID != "" && svc.neutron.Ports.Get(in.PortID) == nil:
		return core.Reply{}, core.NotFound("", "Port id %s could not be found.", in.PortID)
	}
	if len(in.FixedIPs) > 0 {
		wanted.FixedIP = in.FixedIPs[0].IPAddress
	}
	before := map[string]bool{}
	for _, p := range svc.serverPorts(s.ID) {
		before[p.ID] = true
	}
	if err := svc.attachNetwork(q, s, wanted); err != nil {
		return core.Reply{}, err
	}
	for _, p := range svc.serverPorts(s.ID) {
		if !before[p.ID] {
			p.Status = "ACTIVE"
			return core.OK(map[string]any{"interfaceAttachment": interfaceView(p)})
		}
	}
	return core.Reply{}, core.BadRequest("", "Failed to attach network adapter device to %s", s.ID)
}
