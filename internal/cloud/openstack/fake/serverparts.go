package fake

import (
	"encoding/json"
	"maps"
)

// registerServerParts serves what hangs on a server, and the few facts of Nova that clients look up.
func (c *Cloud) registerServerParts(e endpoint) {
	on := func(pattern string, do func(q *request, s *Server) (reply, error)) {
		c.novaRoute(e, pattern, func(q *request, _ int) (reply, error) {
			s, err := c.findServer(q)
			if err != nil {
				return reply{}, err
			}
			return do(q, s)
		})
	}
	on("GET /servers/{id}/metadata", func(_ *request, s *Server) (reply, error) {
		return ok(map[string]any{"metadata": s.Metadata})
	})
	on("POST /servers/{id}/metadata", func(q *request, s *Server) (reply, error) {
		return c.setMetadata(q, s, maps.Clone(s.Metadata))
	})
	on("PUT /servers/{id}/metadata", func(q *request, s *Server) (reply, error) {
		return c.setMetadata(q, s, map[string]string{})
	})
	on("GET /servers/{id}/os-interface", func(_ *request, s *Server) (reply, error) {
		out := []any{}
		for _, p := range c.serverPorts(s.ID) {
			out = append(out, map[string]any{
				"port_id": p.ID, "net_id": p.NetworkID, "mac_addr": p.MACAddress, "port_state": p.Status, "fixed_ips": p.FixedIPs,
			})
		}
		return ok(map[string]any{"interfaceAttachments": out})
	})
	on("POST /servers/{id}/action", c.serverAction)
	c.novaRoute(e, "GET /os-availability-zone", func(*request, int) (reply, error) {
		out := []any{}
		for _, zone := range c.config.zones {
			out = append(out, map[string]any{"zoneName": zone, "zoneState": map[string]any{"available": true}, "hosts": nil})
		}
		return ok(map[string]any{"availabilityZoneInfo": out})
	})
}

func (c *Cloud) setMetadata(q *request, s *Server, onto map[string]string) (reply, error) {
	raw, found := unwrap(q.body, "metadata")
	var sent map[string]string
	if !found || json.Unmarshal(raw, &sent) != nil {
		return reply{}, badRequest("", "Invalid input for field/attribute metadata.")
	}
	maps.Copy(onto, sent)
	s.Metadata = onto
	return ok(map[string]any{"metadata": onto})
}

// serverAction starts, stops and reboots.
func (c *Cloud) serverAction(q *request, s *Server) (reply, error) {
	var in map[string]json.RawMessage
	if json.Unmarshal(q.body, &in) != nil || len(in) != 1 {
		return reply{}, badRequest("", "There is no such action: None")
	}
	for action := range in {
		switch {
		case action == "os-start" && s.Status == "SHUTOFF":
			s.Status = "ACTIVE"
		case action == "os-stop" && s.Status == "ACTIVE":
			s.Status = "SHUTOFF"
		case action == "reboot" && s.Status == "ACTIVE":
		case action == "os-start", action == "os-stop", action == "reboot":
			return reply{}, conflict("", "Cannot '%s' instance %s while it is in vm_state %s", action, s.ID, vmState(s.Status))
		default:
			return reply{}, badRequest("", "There is no such action: %s", action)
		}
	}
	return accepted(nil)
}
