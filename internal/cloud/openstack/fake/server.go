package fake

import (
	"encoding/json"
	"fmt"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
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

func (svc *novaService) registerServers(e endpoint) {
	svc.novaRoute(e, "GET /servers", func(q *request, micro int) (reply, error) { return svc.listServers(q, micro, false) })
	svc.novaRoute(e, "GET /servers/detail", func(q *request, micro int) (reply, error) { return svc.listServers(q, micro, true) })
	svc.novaRoute(e, "POST /servers", svc.createServer)
	svc.novaRoute(e, "GET /servers/{id}", func(q *request, micro int) (reply, error) {
		s, err := svc.findServer(q)
		if err != nil {
			return reply{}, err
		}
		svc.countPoll(s.ID)
		return ok(map[string]any{"server": svc.serverView(q, s, micro)})
	})
	svc.novaRoute(e, "PUT /servers/{id}", svc.updateServer)
	svc.novaRoute(e, "DELETE /servers/{id}", svc.deleteServer)
}

func (svc *novaService) findServer(q *request) (*Server, error) {
	s := svc.servers.Get(q.path("id"))
	if s == nil || !q.owns(s.ProjectID) {
		return nil, core.NotFound("", "Instance %s could not be found.", q.path("id"))
	}
	return s, nil
}

func (svc *novaService) serverPorts(serverID string) []*Port {
	return svc.neutron.ports.Where(func(p *Port) bool { return p.DeviceID == serverID })
}

func (svc *novaService) deleteServer(q *request, _ int) (reply, error) {
	s, err := svc.findServer(q)
	if err != nil {
		return reply{}, err
	}
	svc.destroyServer(s)
	return noContent()
}

func (svc *novaService) destroyServer(s *Server) {
	if s.TaskState == "deleting" {
		return
	}
	s.TaskState = "deleting"
	svc.cancelTransition(s.ID)
	svc.beginTransition(ServerDelete, s.ID, func(failed bool) {
		if failed {
			s.Status, s.TaskState, s.Fault = "ERROR", "", "The instance could not be destroyed."
			return
		}
		svc.dropServer(s)
	})
}

// dropServer removes a server with the ports and the volumes that are to go with it; the others are free again.
func (svc *novaService) dropServer(s *Server) {
	svc.detachAll(s)
	if g := svc.groups.Get(s.GroupID); g != nil {
		g.Members = core.Without(g.Members, func(id string) bool { return id == s.ID })
	}
	svc.dropDisks(s)
	svc.servers.Remove(s.ID)
}

// touchServer notes a change.
func (svc *novaService) touchServer(s *Server) { s.UpdatedAt = timestamp(svc.now()) }

func (svc *novaService) updateServer(q *request, micro int) (reply, error) {
	properties := []schema.Property{schema.Attribute("name", schema.Name)}
	if micro >= 219 {
		properties = append(properties, schema.Attribute("description", schema.AllOf(schema.HasType("string", "null"), schema.LengthBetween(0, 255))))
	}
	if err := schema.Validate(q.body, schema.Object([]string{"server"}, schema.Attribute("server", schema.Object(nil, properties...)))); err != nil {
		return reply{}, err
	}
	s, err := svc.findServer(q)
	if err != nil {
		return reply{}, err
	}
	in := struct {
		Name        *string          `json:"name"`
		Description core.Opt[string] `json:"description"`
	}{}
	if raw, _ := core.Unwrap(q.body, "server"); json.Unmarshal(raw, &in) != nil {
		return reply{}, core.BadRequest("", "Malformed request body")
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
		return ok(map[string]any{"server": view})
	}
	return ok(map[string]any{"server": svc.serverView(q, s, micro)})
}

// hostIn is the name of a hypervisor, and the zone that it is in.
func (svc *novaService) hostIn(i int) (host, zone string) {
	return fmt.Sprintf("compute-%d", i+1), svc.config.zones[i%len(svc.config.zones)]
}

// hostOf picks a host for a new server of a group in a zone, or none: hard affinities may leave no choice.
func (svc *novaService) hostOf(g *ServerGroup, wanted string) (host, zone string, found bool) {
	start := len(svc.servers.Rows)
	for i := range svc.config.hosts {
		host, zone := svc.hostIn((start + i) % svc.config.hosts)
		if (wanted == "" || zone == wanted) && svc.allowsHost(g, host) {
			return host, zone, true
		}
	}
	return "", wanted, false
}

// allowsHost reports whether one more server of a group may run on a host.
func (svc *novaService) allowsHost(g *ServerGroup, host string) bool {
	if g == nil {
		return true
	}
	here, placed := 0, 0
	for _, id := range g.Members {
		s := svc.servers.Get(id)
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
