package fake

import (
	"encoding/json"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// registerInterfaces serves the ports of servers. They attach and detach at once.
func (svc *novaService) registerInterfaces(on serverPart) {
	const base = "/servers/{id}/os-interface"
	on("GET "+base, func(_ *request, s *Server) (reply, error) {
		out := []any{}
		for _, p := range svc.serverPorts(s.ID) {
			out = append(out, interfaceView(p))
		}
		return ok(map[string]any{"interfaceAttachments": out})
	})
	on("GET "+base+"/{port}", func(q *request, s *Server) (reply, error) {
		p := svc.neutron.ports.Get(q.path("port"))
		if p == nil || p.DeviceID != s.ID {
			return reply{}, core.NotFound("", "Instance %s does not have a port with id %s", s.ID, q.path("port"))
		}
		return ok(map[string]any{"interfaceAttachment": interfaceView(p)})
	})
	on("POST "+base, svc.attachInterface)
	on("DELETE "+base+"/{port}", func(q *request, s *Server) (reply, error) {
		// Nova looks later whether there is such a port, and says nothing then.
		if p := svc.neutron.ports.Get(q.path("port")); p != nil && p.DeviceID == s.ID {
			svc.detachPort(s, p)
		}
		return accepted(nil)
	})
}

func interfaceView(p *Port) map[string]any {
	addresses := []any{}
	for _, ip := range p.FixedIPs {
		addresses = append(addresses, map[string]any{"ip_address": ip.IPAddress, "subnet_id": ip.SubnetID})
	}
	return map[string]any{
		"port_id": p.ID, "net_id": p.NetworkID, "mac_addr": p.MACAddress, "port_state": p.Status, "fixed_ips": addresses,
	}
}

func (svc *novaService) attachInterface(q *request, s *Server) (reply, error) {
	address := schema.Object([]string{"ip_address"}, schema.Attribute("ip_address", schema.HasType("string")))
	rule := schema.Object(nil, schema.Attribute("interfaceAttachment", schema.Object(nil, schema.Attribute("net_id", schema.UUID), schema.Attribute("port_id", schema.UUID), schema.Attribute("fixed_ips", schema.ArrayOf(address)))))
	if err := schema.Validate(q.body, rule); err != nil {
		return reply{}, err
	}
	var in struct {
		NetID    string    `json:"net_id"`
		PortID   string    `json:"port_id"`
		FixedIPs []FixedIP `json:"fixed_ips"`
	}
	if raw, found := core.Unwrap(q.body, "interfaceAttachment"); found && json.Unmarshal(raw, &in) != nil {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	wanted := serverNetwork{UUID: in.NetID, Port: in.PortID}
	switch {
	case in.NetID != "" && in.PortID != "":
		return reply{}, core.BadRequest("", "Must not input both network_id and port_id")
	case in.NetID == "" && in.PortID == "":
		return reply{}, core.BadRequest("", "Failed to attach network adapter device to %s", s.ID)
	case in.PortID != "" && svc.neutron.ports.Get(in.PortID) == nil:
		return reply{}, core.NotFound("", "Port id %s could not be found.", in.PortID)
	}
	if len(in.FixedIPs) > 0 {
		wanted.FixedIP = in.FixedIPs[0].IPAddress
	}
	before := map[string]bool{}
	for _, p := range svc.serverPorts(s.ID) {
		before[p.ID] = true
	}
	if err := svc.attachNetwork(q, s, wanted); err != nil {
		return reply{}, err
	}
	for _, p := range svc.serverPorts(s.ID) {
		if !before[p.ID] {
			p.Status = "ACTIVE"
			return ok(map[string]any{"interfaceAttachment": interfaceView(p)})
		}
	}
	return reply{}, core.BadRequest("", "Failed to attach network adapter device to %s", s.ID)
}
