package nova

import (
	"encoding/json"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
)

// serverNetwork is a network connection of a new server: an existing port, or a network.
type serverNetwork struct {
	UUID    string `json:"uuid"`
	Port    string `json:"port"`
	FixedIP string `json:"fixed_ip"`
}

// attachNetworks connects a new server to existing ports, and to ports that Nova creates.
func (svc *Service) attachNetworks(q *core.Request, s *Server, raw json.RawMessage) error {
	wanted, err := svc.wantedNetworks(q, raw)
	if err != nil {
		return err
	}
	for _, w := range wanted {
		if err := svc.attachNetwork(q, s, w); err != nil {
			svc.detachAll(s)
			return err
		}
	}
	return nil
}

// wantedNetworks are the connections of a new server. Without a request it is connected to the project's only network.
func (svc *Service) wantedNetworks(q *core.Request, raw json.RawMessage) ([]serverNetwork, error) {
	var wanted []serverNetwork
	if string(raw) == `"none"` {
		return nil, nil
	}
	if len(raw) == 0 || string(raw) == `"auto"` {
		own := svc.neutron.Networks.Where(func(n *neutron.Network) bool { return n.ProjectID == q.ProjectID && !n.External })
		if len(own) > 1 {
			return nil, core.Conflict("", "Multiple possible networks found, use a Network ID to be more specific.")
		}
		for _, n := range own {
			wanted = append(wanted, serverNetwork{UUID: n.ID})
		}
		return wanted, nil
	}
	if json.Unmarshal(raw, &wanted) != nil {
		return nil, core.BadRequest("", "Malformed request body")
	}
	seen := map[string]bool{}
	for _, w := range wanted {
		if w.Port != "" && seen[w.Port] {
			return nil, core.BadRequest("", "Port ID '%s' was specified twice: you cannot attach a port multiple times.", w.Port)
		}
		seen[w.Port] = true
		if w.Port == "" && schema.UUID("", w.UUID) != "" {
			return nil, core.BadRequest("", "Bad networks format: network uuid is not in proper format (%s)", w.UUID)
		}
	}
	return wanted, nil
}

func (svc *Service) attachNetwork(q *core.Request, s *Server, w serverNetwork) error {
	owner := "compute:" + s.AvailabilityZone
	if w.Port != "" {
		p := svc.neutron.Ports.Get(w.Port)
		if p == nil || !q.Owns(p.ProjectID) {
			return core.BadRequest("", "Port id %s could not be found.", w.Port)
		}
		if p.DeviceID != "" {
			return core.Conflict("", "Port %s is still in use.", w.Port)
		}
		p.DeviceID, p.DeviceOwner = s.ID, owner
		svc.neutron.Touch(p.Base())
		return nil
	}
	n, err := svc.neutron.ReadableNetwork(q.Identity, w.UUID)
	if err != nil {
		return core.BadRequest("", "Network %s could not be found.", w.UUID)
	}
	if len(n.Subnets) == 0 {
		return core.BadRequest("", "Network %s requires a subnet in order to boot instances on.", n.ID)
	}
	if svc.Exceeds(q.ProjectID, "port", svc.neutron.OwnPorts(q.ProjectID), 1) {
		return core.Forbidden("", "Maximum number of ports exceeded")
	}
	p := svc.neutron.NewPort(q.ProjectID, n, owner, s.ID)
	for _, name := range s.SecurityGroups {
		g, err := svc.groupByNameOrID(q, name)
		if err != nil {
			return err
		}
		p.SecurityGroups = append(p.SecurityGroups, g.ID)
	}
	if len(p.SecurityGroups) == 0 {
		p.SecurityGroups = []string{svc.neutron.EnsureDefaultGroup(q.ProjectID).ID}
	}
	if w.FixedIP != "" {
		p.FixedIPs, err = svc.neutron.Assign(n, p.ID, p.MACAddress, []neutron.FixedIPInput{{IPAddress: w.FixedIP}})
	} else {
		p.FixedIPs, err = svc.neutron.AllocateAny(n, p.ID, p.MACAddress)
	}
	if err != nil {
		return core.BadRequest("", "No fixed IP addresses available for network: %s", n.ID)
	}
	s.CreatedPorts = append(s.CreatedPorts, svc.neutron.Ports.Add(p).ID)
	return nil
}

// detachAll deletes the ports that Nova created for a server, and detaches the others.
func (svc *Service) detachAll(s *Server) {
	for _, p := range svc.serverPorts(s.ID) {
		svc.detachPort(s, p)
	}
	s.CreatedPorts = []string{}
}

func (svc *Service) detachPort(s *Server, p *neutron.Port) {
	if slices.Contains(s.CreatedPorts, p.ID) {
		svc.neutron.DropPort(p)
		return
	}
	p.DeviceID, p.DeviceOwner, p.Status = "", "", "DOWN"
	svc.neutron.Touch(p.Base())
}
