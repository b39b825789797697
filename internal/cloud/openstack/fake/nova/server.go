package nova

import (
	"encoding/json"
	"fmt"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
)

// Server is a Nova server.
type Server struct {
	ID               string            `json:"id"`
	Name             string            `json:"name"`
	ProjectID        string            `json:"tenant_id"`
	UserID           string            `json:"user_id"`
	Status           string            `json:"status"` // BUILD, ACTIVE, SHUTOFF, ERROR
	TaskState        string            `json:"task_state,omitempty"`
	Fault            string            `json:"fault,omitempty"` // message of the fault of a server in ERROR
	FlavorID         string            `json:"flavor_id"`
	ImageID          string            `json:"image_id"`
	KeyName          string            `json:"key_name"`
	AvailabilityZone string            `json:"availability_zone"`
	Host             string            `json:"host"`
	Metadata         map[string]string `json:"metadata"`
	UserData         string            `json:"user_data,omitempty"` // base64, as sent
	ConfigDrive      bool              `json:"config_drive"`
	GroupID          string            `json:"group_id,omitempty"`
	Description      *string           `json:"description"`
	Tags             []string          `json:"tags"`
	SecurityGroups   []string          `json:"security_groups"` // names
	CreatedPorts     []string          `json:"created_ports"`   // by Nova, which deletes them with the server
	Disks            []Disk            `json:"disks"`
	CreatedAt        string            `json:"created"`
	UpdatedAt        string            `json:"updated"`
	LaunchedAt       string            `json:"launched_at,omitempty"`

	buildFault string // why its build is going to fail; empty otherwise
}

func (svc *Service) registerServers(e core.Endpoint) {
	svc.novaRoute(e, "GET /servers", func(q *core.Request, micro int) (core.Reply, error) { return svc.listServers(q, micro, false) })
	svc.novaRoute(e, "GET /servers/detail", func(q *core.Request, micro int) (core.Reply, error) { return svc.listServers(q, micro, true) })
	svc.novaRoute(e, "POST /servers", svc.createServer)
	svc.novaRoute(e, "GET /servers/{id}", func(q *core.Request, micro int) (core.Reply, error) {
		s, err := svc.findServer(q)
		if err != nil {
			return core.Reply{}, err
		}
		svc.CountPoll(s.ID)
		return core.OK(map[string]any{"server": svc.serverView(q, s, micro)})
	})
	svc.novaRoute(e, "PUT /servers/{id}", svc.updateServer)
	svc.novaRoute(e, "DELETE /servers/{id}", svc.deleteServer)
}

func (svc *Service) findServer(q *core.Request) (*Server, error) {
	s := svc.Servers.Get(q.Path("id"))
	if s == nil || !q.Owns(s.ProjectID) {
		return nil, core.NotFound("", "Instance %s could not be found.", q.Path("id"))
	}
	return s, nil
}

func (svc *Service) serverPorts(serverID string) []*neutron.Port {
	return svc.neutron.Ports.Where(func(p *neutron.Port) bool { return p.DeviceID == serverID })
}

func (svc *Service) deleteServer(q *core.Request, _ int) (core.Reply, error) {
	s, err := svc.findServer(q)
	if err != nil {
		return core.Reply{}, err
	}
	svc.destroyServer(s)
	return core.NoContent()
}

func (svc *Service) destroyServer(s *Server) {
	if s.TaskState == "deleting" {
		return
	}
	s.TaskState = "deleting"
	svc.CancelTransition(s.ID)
	svc.BeginTransition(core.ServerDelete, s.ID, func(failed bool) {
		if failed {
			s.Status, s.TaskState, s.Fault = "ERROR", "", "The instance could not be destroyed."
			return
		}
		svc.dropServer(s)
	})
}

// dropServer deletes a server with its ports and volumes that are deleted with it; the others are detached.
func (svc *Service) dropServer(s *Server) {
	svc.detachAll(s)
	if g := svc.Groups.Get(s.GroupID); g != nil {
		g.Members = core.Without(g.Members, func(id string) bool { return id == s.ID })
	}
	svc.dropDisks(s)
	svc.Servers.Remove(s.ID)
}

// touchServer records a change.
func (svc *Service) touchServer(s *Server) { s.UpdatedAt = core.Timestamp(svc.Now()) }

func (svc *Service) updateServer(q *core.Request, micro int) (core.Reply, error) {
	properties := []schema.Property{schema.Attribute("name", schema.Name)}
	if micro >= 219 {
		properties = append(properties, schema.Attribute("description", schema.AllOf(schema.HasType("string", "null"), schema.LengthBetween(0, 255))))
	}
	if err := schema.Validate(q.Body, schema.Object([]string{"server"}, schema.Attribute("server", schema.Object(nil, properties...)))); err != nil {
		return core.Reply{}, err
	}
	s, err := svc.findServer(q)
	if err != nil {
		return core.Reply{}, err
	}
	in := struct {
		Name        *string          `json:"name"`
		Description core.Opt[string] `json:"description"`
	}{}
	if raw, _ := core.Unwrap(q.Body, "server"); json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	if in.Name != nil {
		s.Name = *in.Name
	}
	if in.Description.Set {
		s.Description = nil
		if !in.Description.Null {
			s.Description = &in.Description.Value
		}
	}
	svc.touchServer(s)
	if micro < 275 {
		view := svc.serverCore(q, s, micro)
		return core.OK(map[string]any{"server": view})
	}
	return core.OK(map[string]any{"server": svc.serverView(q, s, micro)})
}

// hostIn is the name of a hypervisor, and its zone.
func (svc *Service) hostIn(i int) (host, zone string) {
	return fmt.Sprintf("compute-%d", i+1), svc.Config.Zones[i%len(svc.Config.Zones)]
}

// hostOf selects a host for a new server of a group in a zone, or none if affinities permit none.
func (svc *Service) hostOf(g *ServerGroup, wanted string) (host, zone string, found bool) {
	start := len(svc.Servers.Rows)
	for i := range svc.Config.Hosts {
		host, zone := svc.hostIn((start + i) % svc.Config.Hosts)
		if (wanted == "" || zone == wanted) && svc.allowsHost(g, host) {
			return host, zone, true
		}
	}
	return "", wanted, false
}

// allowsHost reports whether another server of a group may run on a host.
func (svc *Service) allowsHost(g *ServerGroup, host string) bool {
	if g == nil {
		return true
	}
	here, placed := 0, 0
	for _, id := range g.Members {
		s := svc.Servers.Get(id)
		if s == nil || s.Host == "" {
			continue
		}
		placed++
		if s.Host == host {
			here++
		}
	}
	switch g.Policy {
	case "anti-affinity":
		return here < max(g.MaxServerPerHost, 1)
	case "affinity":
		return placed == 0 || here > 0
	default:
		return true
	}
}
