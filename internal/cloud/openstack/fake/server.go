package fake

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
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
	SecurityGroups   []string          `json:"security_groups"` // names
	CreatedPorts     []string          `json:"created_ports"`   // by Nova, which deletes them with the server
	Volumes          []string          `json:"volumes"`
	CreatedAt        string            `json:"created"`
	UpdatedAt        string            `json:"updated"`
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
		c.observe(s.ID)
		return ok(map[string]any{"server": c.serverView(s, micro)})
	})
	c.novaRoute(e, "PUT /servers/{id}", func(q *request, micro int) (reply, error) {
		s, err := c.findServer(q)
		if err != nil {
			return reply{}, err
		}
		var in struct {
			Name string `json:"name"`
		}
		raw, found := unwrap(q.body, "server")
		if !found || json.Unmarshal(raw, &in) != nil || in.Name == "" {
			return reply{}, badRequest("", "Invalid input for field/attribute server.")
		}
		s.Name = in.Name
		return ok(map[string]any{"server": c.serverView(s, micro)})
	})
	c.novaRoute(e, "DELETE /servers/{id}", c.deleteServer)
}

func (c *Cloud) findServer(q *request) (*Server, error) {
	s := c.nova.servers.get(q.path("id"))
	if s == nil || !q.owns(s.ProjectID) {
		return nil, notFound("", "Instance %s could not be found.", q.path("id"))
	}
	return s, nil
}

// listServers filters by what Nova filters by; the name is a regular expression.
func (c *Cloud) listServers(q *request, micro int, detail bool) (reply, error) {
	name, err := regexp.Compile(q.values.Get("name"))
	if err != nil {
		return reply{}, badRequest("", "Invalid input for query parameters name. Value: %s.", q.values.Get("name"))
	}
	everybody := q.admin() && q.values.Has("all_tenants")
	rows := c.nova.servers.where(func(s *Server) bool {
		return (everybody || s.ProjectID == q.projectID) && name.MatchString(s.Name) && s.satisfies(q.values)
	})
	part, failure := paginate(rows, c.nova.servers.id, q, 1000) // osapi_max_limit
	if failure != nil {
		return reply{}, badRequest("", "marker [%s] not found", q.values.Get("marker"))
	}
	out := []any{}
	for _, s := range part.rows {
		if !detail {
			out = append(out, map[string]any{"id": s.ID, "name": s.Name, "links": []any{}})
			continue
		}
		c.observe(s.ID)
		out = append(out, c.serverView(s, micro))
	}
	body := map[string]any{"servers": out}
	if part.links != nil {
		body["servers_links"] = part.links
	}
	return ok(body)
}

func (s *Server) satisfies(query url.Values) bool {
	for key, value := range map[string]string{
		"status": s.Status, "flavor": s.FlavorID, "image": s.ImageID, "uuid": s.ID,
		"availability_zone": s.AvailabilityZone, "key_name": s.KeyName,
	} {
		if query.Has(key) && query.Get(key) != value {
			return false
		}
	}
	return true
}

// serverView is a server on the wire.
func (c *Cloud) serverView(s *Server, micro int) map[string]any {
	groups := []any{}
	for _, name := range s.SecurityGroups {
		groups = append(groups, map[string]any{"name": name})
	}
	volumes := []any{}
	for _, id := range s.Volumes {
		volumes = append(volumes, map[string]any{"id": id})
	}
	view := map[string]any{
		"id": s.ID, "name": s.Name, "tenant_id": s.ProjectID, "user_id": s.UserID, "status": s.Status,
		"created": s.CreatedAt, "updated": s.UpdatedAt, "progress": 0, "accessIPv4": "", "accessIPv6": "",
		"image": map[string]any{"id": s.ImageID}, "flavor": c.serverFlavor(s, micro), "metadata": s.Metadata,
		"key_name": nil, "config_drive": "", "hostId": "", "addresses": c.serverAddresses(s), "links": []any{},
		"security_groups": groups, "os-extended-volumes:volumes_attached": volumes, "OS-DCF:diskConfig": "MANUAL",
		"OS-EXT-AZ:availability_zone": s.AvailabilityZone, "OS-EXT-STS:task_state": nil,
		"OS-EXT-STS:vm_state": vmState(s.Status), "OS-EXT-STS:power_state": 0,
		"OS-SRV-USG:launched_at": nil, "OS-SRV-USG:terminated_at": nil,
	}
	if s.ImageID == "" {
		view["image"] = ""
	}
	if s.KeyName != "" {
		view["key_name"] = s.KeyName
	}
	if s.ConfigDrive {
		view["config_drive"] = "True"
	}
	if s.TaskState != "" {
		view["OS-EXT-STS:task_state"] = s.TaskState
	}
	switch s.Status {
	case "ACTIVE":
		view["OS-EXT-STS:power_state"] = 1
		view["OS-SRV-USG:launched_at"] = strings.TrimSuffix(s.UpdatedAt, "Z") + ".000000"
	case "ERROR":
		view["fault"] = map[string]any{"code": 500, "created": s.UpdatedAt, "message": s.Fault}
	}
	if micro >= 271 {
		view["server_groups"] = without([]string{s.GroupID}, func(id string) bool { return id == "" })
	}
	return view
}

// vmState is Nova's inner name for a status.
func vmState(status string) string {
	switch status {
	case "BUILD":
		return "building"
	case "SHUTOFF":
		return "stopped"
	default:
		return strings.ToLower(status)
	}
}

func (c *Cloud) serverFlavor(s *Server, micro int) map[string]any {
	f := c.nova.flavors.get(s.FlavorID)
	if micro < 247 || f == nil {
		return map[string]any{"id": s.FlavorID, "links": []any{}}
	}
	return map[string]any{
		"original_name": f.Name, "vcpus": f.VCPUs, "ram": f.RAM, "disk": f.Disk, "ephemeral": 0, "swap": 0, "extra_specs": f.ExtraSpecs,
	}
}

// serverAddresses are grouped by the name of the network; floating IPs stand beside the fixed ones.
func (c *Cloud) serverAddresses(s *Server) map[string]any {
	out := map[string]any{}
	for _, p := range c.serverPorts(s.ID) {
		network := c.neutron.networks.get(p.NetworkID).Name
		list, _ := out[network].([]any)
		add := func(addr, kind string) {
			version := 6
			if addrOf(addr).Is4() {
				version = 4
			}
			list = append(list, map[string]any{
				"addr": addr, "version": version, "OS-EXT-IPS:type": kind, "OS-EXT-IPS-MAC:mac_addr": p.MACAddress,
			})
		}
		for _, ip := range p.FixedIPs {
			add(ip.IPAddress, "fixed")
		}
		for _, f := range c.neutron.fips.rows {
			if string(f.PortID) == p.ID {
				add(f.FloatingIPAddress, "floating")
			}
		}
		out[network] = list
	}
	return out
}

func (c *Cloud) serverPorts(serverID string) []*Port {
	return c.neutron.ports.where(func(p *Port) bool { return p.DeviceID == serverID })
}

func (c *Cloud) deleteServer(q *request, _ int) (reply, error) {
	s, err := c.findServer(q)
	if err != nil {
		return reply{}, err
	}
	if s.TaskState == "deleting" {
		return noContent()
	}
	s.TaskState = "deleting"
	delete(c.pending, s.ID)
	c.begin(ServerDelete, s.ID, func(failed bool) {
		if failed {
			s.Status, s.TaskState, s.Fault = "ERROR", "", "The instance could not be destroyed."
			return
		}
		c.dropServer(s)
	})
	return noContent()
}

// dropServer removes a server with the ports that Nova made for it; the others are free again.
func (c *Cloud) dropServer(s *Server) {
	for _, p := range c.serverPorts(s.ID) {
		if slices.Contains(s.CreatedPorts, p.ID) {
			c.dropPort(p)
			continue
		}
		p.DeviceID, p.DeviceOwner, p.Status = "", "", "DOWN"
		c.touch(p.standard())
	}
	if g := c.nova.groups.get(s.GroupID); g != nil {
		g.Members = without(g.Members, func(id string) bool { return id == s.ID })
	}
	for _, id := range s.Volumes {
		c.freeVolume(id)
	}
	c.nova.servers.remove(s.ID)
}

// hostOf picks a host for a new server of a group, or none: hard affinities may leave no choice.
func (c *Cloud) hostOf(g *ServerGroup) (string, bool) {
	load := map[string]int{}
	for _, s := range c.nova.servers.rows {
		if g != nil && s.GroupID == g.ID && s.Host != "" {
			load[s.Host]++
		}
	}
	if g != nil && g.Policy == "affinity" && len(load) > 0 {
		for host := range load {
			return host, true
		}
	}
	perHost := 1
	if g != nil && g.MaxServerPerHost > 0 {
		perHost = g.MaxServerPerHost
	}
	start := len(c.nova.servers.rows)
	for i := range c.config.hosts {
		host := fmt.Sprintf("compute-%d", (start+i)%c.config.hosts+1)
		if g == nil || g.Policy != "anti-affinity" || load[host] < perHost {
			return host, true
		}
	}
	return "", false
}
