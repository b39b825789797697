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

func (c *Cloud) registerServers(e endpoint) {
	c.novaRoute(e, "GET /servers", func(q *request, micro int) (reply, error) { return c.listServers(q, micro, false) })
	c.novaRoute(e, "GET /servers/detail", func(q *request, micro int) (reply, error) { return c.listServers(q, micro, true) })
	c.novaRoute(e, "POST /servers", c.createServer)
	c.novaRoute(e, "GET /servers/{id}", func(q *request, micro int) (reply, error) {
		s, err := c.findServer(q)
		if err != nil {
			return reply{}, err
		}
		c.countPoll(s.ID)
		return ok(map[string]any{"server": c.serverView(q, s, micro)})
	})
	c.novaRoute(e, "PUT /servers/{id}", c.updateServer)
	c.novaRoute(e, "DELETE /servers/{id}", c.deleteServer)
}

func (c *Cloud) findServer(q *request) (*Server, error) {
	s := c.nova.servers.Get(q.path("id"))
	if s == nil || !q.owns(s.ProjectID) {
		return nil, core.NotFound("", "Instance %s could not be found.", q.path("id"))
	}
	return s, nil
}

func (c *Cloud) serverPorts(serverID string) []*Port {
	return c.neutron.ports.Where(func(p *Port) bool { return p.DeviceID == serverID })
}

func (c *Cloud) deleteServer(q *request, _ int) (reply, error) {
	s, err := c.findServer(q)
	if err != nil {
		return reply{}, err
	}
	c.destroyServer(s)
	return noContent()
}

func (c *Cloud) destroyServer(s *Server) {
	if s.TaskState == "deleting" {
		return
	}
	s.TaskState = "deleting"
	c.cancelTransition(s.ID)
	c.beginTransition(ServerDelete, s.ID, func(failed bool) {
		if failed {
			s.Status, s.TaskState, s.Fault = "ERROR", "", "The instance could not be destroyed."
			return
		}
		c.dropServer(s)
	})
}

// dropServer removes a server with the ports and the volumes that are to go with it; the others are free again.
func (c *Cloud) dropServer(s *Server) {
	c.detachAll(s)
	if g := c.nova.groups.Get(s.GroupID); g != nil {
		g.Members = core.Without(g.Members, func(id string) bool { return id == s.ID })
	}
	c.dropDisks(s)
	c.nova.servers.Remove(s.ID)
}

// touchServer notes a change.
func (c *Cloud) touchServer(s *Server) { s.UpdatedAt = timestamp(c.now()) }

func (c *Cloud) updateServer(q *request, micro int) (reply, error) {
	properties := []schema.Property{schema.Attribute("name", schema.Name)}
	if micro >= 219 {
		properties = append(properties, schema.Attribute("description", schema.AllOf(schema.HasType("string", "null"), schema.LengthBetween(0, 255))))
	}
	if err := schema.Validate(q.body, schema.Object([]string{"server"}, schema.Attribute("server", schema.Object(nil, properties...)))); err != nil {
		return reply{}, err
	}
	s, err := c.findServer(q)
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
	c.touchServer(s)
	if micro < 275 {
		view := c.serverCore(q, s, micro)
		return ok(map[string]any{"server": view})
	}
	return ok(map[string]any{"server": c.serverView(q, s, micro)})
}

// hostIn is the name of a hypervisor, and the zone that it is in.
func (c *Cloud) hostIn(i int) (host, zone string) {
	return fmt.Sprintf("compute-%d", i+1), c.config.zones[i%len(c.config.zones)]
}

// hostOf picks a host for a new server of a group in a zone, or none: hard affinities may leave no choice.
func (c *Cloud) hostOf(g *ServerGroup, wanted string) (host, zone string, found bool) {
	start := len(c.nova.servers.Rows)
	for i := range c.config.hosts {
		host, zone := c.hostIn((start + i) % c.config.hosts)
		if (wanted == "" || zone == wanted) && c.allowsHost(g, host) {
			return host, zone, true
		}
	}
	return "", wanted, false
}

// allowsHost reports whether one more server of a group may run on a host.
func (c *Cloud) allowsHost(g *ServerGroup, host string) bool {
	if g == nil {
		return true
	}
	here, placed := 0, 0
	for _, id := range g.Members {
		s := c.nova.servers.Get(id)
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
